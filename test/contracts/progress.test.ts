import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { basisAfter, paceOf, type ProgressBasis } from "../../machines/contracts/pace.ts";
import type { Progress } from "../../machines/contracts/progress.ts";
import { checkedUpdate } from "../../machines/contracts/update.ts";

interface Observed {
  readonly at: number;
  readonly progress: Progress;
}

/** The pace after these observations, each with the basis of those before: as the rows keep it. */
function paceAfter(observations: readonly Observed[]) {
  let basis: ProgressBasis | null = null;
  let latest: number | null = null;
  let pace: ReturnType<typeof paceOf> = { perSecond: null, remainingMs: null };
  for (const { at, progress } of observations) {
    // Over a restart it is JSON.
    basis = JSON.parse(JSON.stringify(basisAfter(basis, progress, latest, at))) as ProgressBasis | null; // what basisAfter gave
    latest = progress.completed ?? null;
    pace = paceOf(basis, progress, at);
  }
  return pace;
}

const t0 = Date.UTC(2030, 0, 1);
const seen = (seconds: number, completed: number | undefined, more: Progress = { total: 100 }): Observed => ({
  at: t0 + seconds * 1_000,
  progress: { ...more, ...(completed === undefined ? {} : { completed }) },
});

describe("rate and remaining time", () => {
  test.each([
    ["one observation", [seen(0, 10)]],
    ["no growth", [seen(0, 10), seen(5, 10)]],
    ["no time between", [seen(0, 10), seen(0, 20)]],
    ["a fall", [seen(0, 50), seen(10, 20)]],
    ["another phase", [seen(0, 0, { phase: "a" }), seen(10, 20, { phase: "b" })]],
    ["another unit", [seen(0, 0, { unit: "files" }), seen(10, 20, { unit: "bytes" })]],
    ["no count", [seen(0, undefined), seen(10, undefined)]],
    ["an end", [seen(0, 0), seen(10, 100, { total: 100, status: "completed" })]],
  ])("UPD-8 %s allows neither", (_, observations) => {
    expect(paceAfter(observations)).toEqual({ perSecond: null, remainingMs: null });
  });

  test("UPD-8 without a total there is a rate and no end, and none beyond the total", () => {
    expect(paceAfter([seen(0, 0, {}), seen(10, 20, {})])).toEqual({ perSecond: 2, remainingMs: null });
    expect(paceAfter([seen(0, 0), seen(10, 120)])).toEqual({ perSecond: 12, remainingMs: null });
  });

  test("UPD-8 a series begins anew where the count falls, and counts from there", () => {
    expect(paceAfter([seen(0, 0), seen(10, 90), seen(20, 10), seen(30, 20)])).toEqual({ perSecond: 1, remainingMs: 80_000 });
  });

  test("UPD-8 for work of one speed the rate is that speed, however it is observed, and the remaining time ends at the total", () => {
    const steps = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 10_000 }), steps, (perSecond, beyond, gaps) => {
        let seconds = 0;
        const times = gaps.map((gap) => (seconds += gap));
        const last = times.at(-1) ?? 0;
        const total = last * perSecond + beyond;
        const pace = paceAfter(times.map((time) => seen(time, time * perSecond, { total })));
        expect(pace.perSecond).toBeCloseTo(perSecond, 6);
        expect(pace.remainingMs).toBe(Math.round((beyond / perSecond) * 1_000));
      }),
    );
  });

  test("UPD-8 whatever is told, there is never a rate that is not above nothing, nor a remaining time that is not finite", () => {
    const count = fc.option(fc.double({ min: 0, max: 1e12, noNaN: true }), { nil: undefined });
    const one = fc.record({
      gap: fc.integer({ min: -1_000, max: 1e9 }),
      completed: count,
      total: fc.option(fc.double({ min: 1e-9, max: 1e12, noNaN: true }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 20 }), (told) => {
        let at = t0;
        const pace = paceAfter(
          told.map(({ gap, completed, total }) => ({
            at: (at += gap),
            progress: { ...(completed === undefined ? {} : { completed }), ...(total === undefined ? {} : { total }) },
          })),
        );
        if (pace.perSecond !== null) expect(Number.isFinite(pace.perSecond) && pace.perSecond > 0).toBe(true);
        if (pace.remainingMs !== null) expect(Number.isSafeInteger(pace.remainingMs) && pace.remainingMs >= 0).toBe(true);
        expect(pace.perSecond === null && pace.remainingMs !== null).toBe(false);
      }),
    );
  });
});

describe("an update", () => {
  test("UPD-5 a key that is left out is main, and data are kept as they are", () => {
    expect(checkedUpdate({ type: "a", data: { b: [1, null] } })).toEqual({ type: "a", key: "main", json: '{"b":[1,null]}' });
    expect(checkedUpdate({ type: "a.b-c.9", key: "A/b:c._-9", data: "" })).toMatchObject({ key: "A/b:c._-9" });
  });

  test("UPD-5 the limits are those of bytes and characters, to one", () => {
    expect(checkedUpdate({ type: "a".repeat(64), key: "k".repeat(128), data: "x".repeat(65_534) }).json).toHaveLength(65_536);
    expect(() => checkedUpdate({ type: "a", data: "x".repeat(65_535) })).toThrow(/^update\.data has 65,537 bytes of JSON, the limit is 65,536\./);
    expect(() => checkedUpdate({ type: "a", data: "é".repeat(32_768) })).toThrow(/65,538 bytes/);
    expect(() => checkedUpdate({ type: "a".repeat(65), data: 1 })).toThrow(/^update\.type /);
    expect(() => checkedUpdate({ type: "a", key: "k".repeat(129), data: 1 })).toThrow(/^update\.key /);
  });

  test.each([
    [null, "update"],
    [{ type: "a", data: 1, more: 2 }, "update"],
    [{ type: "1a", data: 1 }, "update.type"],
    [{ type: "a", key: "-a", data: 1 }, "update.key"],
    [{ type: "a", data: undefined }, "update.data"],
    [{ type: "a", data: { when: new Date(0) } }, "update.data.when"],
    [{ type: "a", data: [1, Number.NaN] }, "update.data[1]"],
    [{ type: "pawl.progress.v1", data: { total: 0 } }, "update.data.total"],
    [{ type: "pawl.progress.v1", data: { label: "a\u0000b" } }, "update.data.label"],
    [{ type: "pawl.progress.v1", data: { unit: "x".repeat(33) } }, "update.data.unit"],
  ])("UPD-5 %j is refused with the path %s", (given, path) => {
    expect(() => checkedUpdate(given)).toThrow(expect.objectContaining({ code: "invalidInput", path }));
  });
});

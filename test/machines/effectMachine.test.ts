import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getNextSnapshot } from "xstate";
import { effectMachine, EffectEvent } from "../../machines/effectMachine.ts";
import type { EffectRecord, EffectState } from "../../persistence/store.ts";
import { effectStep } from "../../src/runtime/effectRow.ts";

const states: readonly EffectState[] = ["planned", "attempting", "ambiguous", "confirmed", "failed", "dropped"];

const events: readonly EffectEvent[] = [
  { type: "effect.begun", attempt: 2 },
  { type: "effect.succeeded", attempt: 2 },
  { type: "effect.succeeded", attempt: 1 },
  { type: "effect.failed", attempt: 2, mayRetry: true },
  { type: "effect.failed", attempt: 2, mayRetry: false },
  { type: "effect.failed", attempt: 1, mayRetry: true },
  { type: "effect.unproven", attempt: 2, mayRetry: true },
  { type: "effect.unproven", attempt: 1, mayRetry: true },
  { type: "effect.interrupted", attempt: 2 },
  { type: "effect.interrupted", attempt: 1 },
  { type: "effect.released", attempt: 2 },
  { type: "effect.released", attempt: 1 },
  { type: "effect.observed", attempt: 2, happened: true, isWanted: true },
  { type: "effect.observed", attempt: 2, happened: false, isWanted: true },
  { type: "effect.observed", attempt: 2, happened: false, isWanted: false },
  { type: "effect.observed", attempt: 1, happened: true, isWanted: true },
  { type: "effect.dropped" },
  { type: "effect.confirm" },
  { type: "effect.retry" },
];

interface Variant {
  readonly once: boolean;
  readonly maxAttempts: number;
  readonly interruptions: number;
}

/** A row in its second attempt, with a bound of three interruptions. */
const row = (state: EffectState, { once, maxAttempts, interruptions }: Variant): EffectRecord => ({
  key: "a@1:0",
  actor: "a",
  root: "a",
  invokeId: "work",
  type: "test.work",
  visit: null,
  idempotencyKey: "a@1:0",
  state,
  attempt: 2,
  interruptions,
  once,
  policy: JSON.stringify({ retry: { maxAttempts, initialMs: 1 }, timeoutMs: null, maxInterrupted: 3 }),
  input: { json: "null" },
  fingerprint: "0".repeat(64),
  output: null,
  error: null,
  process: null,
  notBefore: null,
  createdAt: 1,
  updatedAt: 1,
  ambiguousSince: null,
});

/** What tells one variant of an event from the next. */
function nameOf(event: EffectEvent): string {
  const type = event.type.replace("effect.", "");
  const old = "attempt" in event && event.attempt === 1 ? " old" : "";
  if (event.type === "effect.observed") return event.happened ? `seen${old}` : `not there${event.isWanted ? "" : ", not wanted"}`;
  return event.type === "effect.failed" && event.mayRetry && old === "" ? `${type}, may retry` : `${type}${old}`;
}

/** `state:attempt` after each event; a dash: no transition. */
const table = (state: EffectState, variant: Variant): Readonly<Record<string, string>> =>
  Object.fromEntries(
    events.map((event) => {
      const next = effectStep(row(state, variant), event);
      return [nameOf(event), next ? `${next.state}:${next.attempt}` : "-"];
    }),
  );

const plain: Variant = { once: false, maxAttempts: 3, interruptions: 0 };
const once: Variant = { once: true, maxAttempts: 3, interruptions: 0 };

describe("the effect row and its chart", () => {
  test("EFFECT-2, EFFECT-30 every state and event has its answer, for an effect that may run again", () => {
    expect(Object.keys(effectMachine.states).sort()).toEqual([...states].sort());
    expect(table("planned", plain)).toEqual({
      begun: "-",
      succeeded: "confirmed:2",
      "succeeded old": "-",
      "failed, may retry": "planned:3",
      failed: "failed:2",
      "failed old": "-",
      unproven: "planned:3",
      "unproven old": "-",
      interrupted: "planned:3",
      "interrupted old": "-",
      released: "planned:3",
      "released old": "-",
      seen: "confirmed:2",
      "not there": "-",
      "not there, not wanted": "-",
      "seen old": "-",
      dropped: "dropped:2",
      confirm: "-",
      retry: "-",
    });
    for (const state of ["confirmed", "failed", "dropped"] as const) expect(Object.values(table(state, plain))).toEqual(events.map(() => "-"));
  });

  test("EFFECT-3, EFFECT-30 every state and event has its answer, for an effect that must not run twice", () => {
    expect(table("planned", once)).toEqual({ ...table("planned", plain), begun: "attempting:2" });
    expect(table("attempting", once)).toEqual({
      begun: "-",
      succeeded: "confirmed:2",
      "succeeded old": "-",
      "failed, may retry": "planned:3",
      failed: "failed:2",
      "failed old": "-",
      unproven: "ambiguous:2",
      "unproven old": "-",
      interrupted: "ambiguous:2",
      "interrupted old": "-",
      released: "ambiguous:2",
      "released old": "-",
      seen: "confirmed:2",
      "not there": "planned:3",
      "not there, not wanted": "planned:3",
      "seen old": "-",
      dropped: "ambiguous:2",
      confirm: "-",
      retry: "-",
    });
    expect(table("ambiguous", once)).toEqual({
      begun: "-",
      succeeded: "confirmed:2",
      "succeeded old": "-",
      "failed, may retry": "failed:2",
      failed: "failed:2",
      "failed old": "-",
      unproven: "-",
      "unproven old": "-",
      interrupted: "-",
      "interrupted old": "-",
      released: "-",
      "released old": "-",
      seen: "confirmed:2",
      "not there": "planned:3",
      "not there, not wanted": "dropped:2",
      "seen old": "-",
      dropped: "-",
      confirm: "confirmed:2",
      retry: "planned:3",
    });
  });

  test("EFFECT-4 the last attempt that the policy allows fails", () => {
    expect(effectStep(row("planned", { ...plain, maxAttempts: 2 }), { type: "effect.failed", attempt: 2, mayRetry: true })).toMatchObject({
      state: "failed",
      attempt: 2,
    });
  });

  test("EFFECT-2 the third interruption fails an effect that is bounded to three", () => {
    expect(effectStep(row("planned", { ...plain, interruptions: 1 }), { type: "effect.interrupted", attempt: 2 })).toEqual({
      state: "planned",
      attempt: 3,
      interruptions: 2,
    });
    expect(effectStep(row("planned", { ...plain, interruptions: 2 }), { type: "effect.interrupted", attempt: 2 })).toEqual({
      state: "failed",
      attempt: 2,
      interruptions: 3,
    });
  });

  test("EFFECT-30 what was surely not made counts as an interruption, within the same bound", () => {
    const notThere: EffectEvent = { type: "effect.observed", attempt: 2, happened: false, isWanted: true };
    expect(effectStep(row("attempting", { ...once, interruptions: 1 }), notThere)).toEqual({ state: "planned", attempt: 3, interruptions: 2 });
    expect(effectStep(row("attempting", { ...once, interruptions: 2 }), notThere)).toEqual({ state: "failed", attempt: 2, interruptions: 3 });
  });

  test("EFFECT-1 a row moves as the chart does, whatever its numbers", () => {
    const numbers = fc.integer({ min: 1, max: 9 });
    fc.assert(
      fc.property(
        fc.constantFrom(...states),
        fc.constantFrom(...events),
        numbers,
        numbers,
        numbers,
        fc.nat(8),
        fc.option(numbers),
        fc.boolean(),
        (state, event, of, attempt, maxAttempts, interruptions, maxInterrupted, isOnce) => {
          const given: EffectEvent = "attempt" in event ? { ...event, attempt: of } : event;
          const context = { once: isOnce, attempt, interruptions, maxAttempts, maxInterrupted };
          const before = effectMachine.resolveState({ value: state, context });
          // The runtime takes finished rows no further; XState itself would ask the chart.
          const after = before.status === "active" ? getNextSnapshot(effectMachine, before, given) : before;
          const expected = after === before ? null : { state: after.value, attempt: after.context.attempt, interruptions: after.context.interruptions };
          const policy = JSON.stringify({ retry: { maxAttempts, initialMs: 1 }, timeoutMs: null, maxInterrupted });
          expect(effectStep({ ...row(state, { once: isOnce, maxAttempts, interruptions }), attempt, policy }, given)).toEqual(expected);
        },
      ),
      { numRuns: 2000, seed: 7 },
    );
  });

  test("EFFECT-1 every event of the chart is tried above", () => {
    expect([...new Set(events.map((event) => event.type))].sort()).toEqual([...effectMachine.events].sort());
    for (const event of events) expect(EffectEvent.parse(event)).toEqual(event);
  });
});

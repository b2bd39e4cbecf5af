import { expect, test, vi } from "vitest";
import { fakeClock, type FakeClock } from "../../src/runtime/clock.ts";
import type { EmbeddedHost, RunView } from "../../src/host/api.ts";
import { runPage } from "../../src/cli/render/runPage.ts";
import { situation } from "../../src/cli/render/lists.ts";
import { openEmbedded } from "../../src/host/embedded.ts";
import { Project } from "./kit.ts";

const start = Date.UTC(2030, 0, 1);
const day = 24 * 60 * 60_000;
const head = 'import { wait } from "pawl";';

const waitNode = (options: string, more = ""): string =>
  `.node("rest", wait({ ${options} }), "after")${more}
   .node("after", compute(({ outputs }) => { mark("after"); return outputs.rest.dueAt; }))`;

async function parked(options: string, input: unknown = {}, clock: FakeClock = fakeClock(start), schema?: string) {
  const project = new Project();
  const host = await project.open({ clock });
  const file = project.workflow(waitNode(options), { head, ...(schema === undefined ? {} : { input: schema }) });
  return { project, host, clock, view: await project.run(host, file, input) };
}

const until = (host: EmbeddedHost, id: string, state: RunView["state"]): Promise<RunView> =>
  vi.waitFor(
    async () => {
      const view = await host.run(id);
      expect(view.state).toBe(state);
      return view;
    },
    { timeout: 10_000, interval: 5 },
  );

test("WAIT-1 case 98 a wait of 24.8 days and a bit, of 30 days and of a year ends at its time and not before", { timeout: 60_000 }, async () => {
  for (const ms of [2 ** 31 - 1000, 2 ** 31 + 1000, 30 * day, 365 * day]) {
    const { host, clock, view } = await parked(`forMs: ${ms}`);
    expect(view).toMatchObject({ state: "waiting", current: "rest", awaits: { kind: "time", node: "rest", dueAt: start + ms } });
    clock.advance(ms - 1);
    expect(await host.drive(view.id)).toMatchObject({ state: "waiting" });
    clock.advance(1);
    await until(host, view.id, "running");
    expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: start + ms });
  }
});

test("WAIT-1 case 88 the due time stays over a restart, and a cancelled wait never goes on", async () => {
  const { project, host, view } = await parked("forMs: 60_000");
  await host.close();
  const later = fakeClock(start + 59_999);
  const next = await project.open({ clock: later });
  expect(await next.drive(view.id)).toMatchObject({ state: "waiting", awaits: { dueAt: start + 60_000 } });
  const other = (await project.start(next, project.file("job.workflow.ts"))).id;
  expect(await next.drive(other)).toMatchObject({ state: "waiting", awaits: { dueAt: start + 119_999 } });
  expect(await next.cancel(other, "user")).toMatchObject({ state: "cancelled", visits: [{ node: "rest", status: "cancelled" }] });
  later.advance(day);
  await until(next, view.id, "running");
  expect(await next.drive(view.id)).toMatchObject({ state: "completed", result: start + 60_000 });
  expect(await next.drive(other)).toMatchObject({ state: "cancelled" });
  expect(project.side).toEqual(["after"]);
});

test("WAIT-1 case 106 a due time that passed while nothing ran takes effect when Pawl next runs", async () => {
  const { project, host, view } = await parked("forMs: 60_000");
  await host.close();
  const next = await project.open({ clock: fakeClock(start + 3 * 60 * 60_000) });
  await until(next, view.id, "running");
  expect(await next.drive(view.id)).toMatchObject({ state: "completed", result: start + 60_000 });
});

test("WAIT-2 case 105 a moment that has passed ends the wait at once: the run never waits", async () => {
  for (const moment of ["0", "-1", `new Date(${start - 1})`, String(start), `() => ${start - day}`, `() => new Date(${start})`])
    expect((await parked(`until: ${moment}`)).view).toMatchObject({
      state: "completed",
      result: expect.any(Number),
      visits: [{ node: "rest", status: "accepted" }, {}],
    });
});

test("WAIT-3 callbacks give the time, from the context; a fixed time costs no effect", async () => {
  const input = "z.object({ ms: z.number(), at: z.number() })";
  const asked = await parked("forMs: ({ input }) => input.ms", { ms: 1.5, at: 0 }, fakeClock(start), input);
  expect(asked.view).toMatchObject({ state: "waiting", awaits: { dueAt: start + 2 } });
  expect(await asked.host.effects({ run: asked.view.id, state: ["confirmed"] })).toMatchObject({
    items: expect.arrayContaining([expect.objectContaining({ type: "pawl.wait.prepare" })]),
  });
  const dated = await parked("until: ({ input }) => new Date(input.at)", { ms: 0, at: start + 5 }, fakeClock(start), input);
  expect(dated.view).toMatchObject({ state: "waiting", awaits: { dueAt: start + 5 } });
  const fixed = await parked("forMs: 5");
  expect((await fixed.host.effects({ run: fixed.view.id, state: ["confirmed"] })).items.map(({ type }) => type)).toEqual(["pawl.run.prepare"]);
});

test("WAIT-4 case 105 what a callback may not give fails the visit with the setting's name", async () => {
  for (const [options, message] of [
    ["forMs: () => NaN", "forMs that is NaN"],
    ["forMs: () => 0", "forMs that is 0"],
    ["forMs: () => -5", "forMs that is -5"],
    ["forMs: () => Infinity", "forMs that is Infinity"],
    ["forMs: () => { throw new Error('no time') }", "has a forMs callback that threw: no time"],
    ["until: () => new Date(NaN)", "until that is no moment"],
    ["until: () => Infinity", "until that is no moment"],
  ] as const)
    expect((await parked(options)).view).toMatchObject({ state: "failed", reason: { code: "nodeFailed", message: expect.stringContaining(message) } });
});

test("WAIT-5 the author's time passes while the run is paused, and the graph moves at the resume", async () => {
  const { project, host, clock, view } = await parked("forMs: 60_000");
  await host.pause(view.id);
  clock.advance(60_000);
  expect(await until(host, view.id, "paused")).toMatchObject({ current: "after", visits: [{ node: "rest", status: "accepted" }] });
  expect(project.side).toEqual([]);
  await host.resume(view.id);
  expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: start + 60_000 });
});

test("WAIT-6 a deadline shorter than the wait takes the timedOut route, and stands still while the run is paused", async () => {
  const project = new Project();
  const clock = fakeClock(start);
  const host = await project.open({ clock });
  const timed = (limit: string): string =>
    `.node("rest", wait({ forMs: 60_000, timeoutMs: ${limit} }), { done: "after", timedOut: "late" }).node("after", compute(() => "after")).node("late", compute(() => "late"))`;
  for (const limit of ["1000", "() => 1000"]) {
    const { id } = await host.drive((await project.start(host, project.workflow(timed(limit), { head }))).id);
    await host.pause(id);
    clock.advance(2000);
    await host.resume(id);
    expect(await host.drive(id)).toMatchObject({ state: "waiting" });
    clock.advance(999);
    expect(await host.drive(id)).toMatchObject({ state: "waiting" });
    clock.advance(1);
    await until(host, id, "running");
    expect(await host.drive(id)).toMatchObject({ state: "completed", result: "late", visits: [{ node: "rest", status: "timedOut" }, {}] });
  }
});

test("WAIT-7 show and runs say until when", async () => {
  const { view } = await parked("forMs: 90 * 60_000");
  const page = runPage(view, { now: start, width: 100, paint: (_, text) => text, command: (...words) => words.join(" ") });
  expect(page.join("\n")).toMatch(/waiting at rest for \S+, until .* \(in 1h 30m\)/);
  expect(situation(view, start)).toMatch(/^rest, until .* \(in 1h 30m\)$/);
  expect(situation(view, start + day)).toContain("it goes on when Pawl next runs");
});

test("WAIT-1 case 101 case 102 a loop of half hours goes round once each half hour, whatever the local clocks do", async () => {
  for (const night of [Date.UTC(2026, 2, 29), Date.UTC(2026, 9, 25)]) {
    const project = new Project();
    const clock = fakeClock(night);
    const host = await openEmbedded({ home: project.home, clock, adopt: "all" });
    const file = project.workflow(
      `.later("count", z.object({ rounds: z.number() }))
       .node("rest", wait({ forMs: 30 * 60_000 }), "count")
       .node("count", compute(({ results }) => ({ rounds: (results.count?.status === "accepted" ? results.count.output.rounds : 0) + 1 }), { output: z.object({ rounds: z.number() }), route: ({ rounds }) => (rounds < 6 ? "again" : "enough") }), { again: "rest", enough: "end" })
       .node("end", compute(({ outputs, now }) => [outputs.count.rounds, now]))`,
      { head },
    );
    const { id } = await project.start(host, file);
    for (let round = 1; round <= 6; round += 1) {
      await vi.waitFor(async () => expect(await host.run(id)).toMatchObject({ awaits: { dueAt: night + round * 30 * 60_000 } }), {
        timeout: 10_000,
        interval: 5,
      });
      clock.advance(30 * 60_000);
    }
    expect(await until(host, id, "completed")).toMatchObject({ result: [6, night + 3 * 60 * 60_000] });
    await host.close();
  }
});

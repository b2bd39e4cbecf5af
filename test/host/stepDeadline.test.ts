import { expect, test, vi } from "vitest";
import type { EmbeddedHost, RunView } from "../../src/host/api.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { askNode, Project, watch } from "./kit.ts";

const ends = `.node("after", compute(() => "after")).node("late", compute(() => "late")).node("end", compute(() => "end"))`;
const targets = `{ go: "after", stop: "end", replan: "ask", timedOut: "late" }`;

async function asking(timeoutMs: string): Promise<{
  readonly clock: ReturnType<typeof fakeClock>;
  readonly id: string;
  host: EmbeddedHost;
  readonly again: () => Promise<EmbeddedHost>;
}> {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ clock });
  const { id } = await project.start(host, project.workflow(`${askNode(targets, `, timeoutMs: ${timeoutMs}`)}${ends}`));
  expect(await host.drive(id)).toMatchObject({ state: "waiting" });
  return { clock, id, host, again: () => project.open({ clock }) };
}

const end = (view: RunView): unknown => [view.state, view.result];

/** Driving ends where the run waits, and the timer may be heard a moment later. */
const ended = (host: EmbeddedHost, id: string): Promise<RunView> =>
  vi.waitFor(async () => {
    const view = await host.drive(id);
    expect(view.endedAt).not.toBeNull();
    return view;
  });

test("WF-33 a step that waits for a person has a deadline of its own, which takes the timedOut route and ends the question", async () => {
  const { clock, id, host } = await asking("60_000");
  const events = watch(host);
  clock.advance(59_999);
  expect(await host.run(id)).toMatchObject({ state: "waiting" });
  clock.advance(1);
  const view = await ended(host, id);
  expect(end(view)).toEqual(["completed", "late"]);
  expect(view.decisions).toMatchObject([{ state: "cancelled" }]);
  expect(view.visits[0]).toMatchObject({ node: "ask", status: "timedOut", error: { reason: "nodeTimedOut" } });
  expect(events.flatMap((event) => (event.kind === "visit" && event.node === "ask" ? [event.status] : []))).toEqual(["timedOut"]);
});

test("WF-33 a step that is stopped by a cancel is told as cancelled", async () => {
  const { id, host } = await asking("60_000");
  const events = watch(host);
  await host.cancel(id, "user");
  expect(events.flatMap((event) => (event.kind === "visit" ? [event.status] : event.kind === "run" ? [event.state] : []))).toEqual(["cancelled", "cancelled"]);
});

test("WF-33 a callback names the deadline when the step begins; null is none", async () => {
  const timed = await asking("({ input }) => Promise.resolve(input.task.length * 1_000)");
  timed.clock.advance(1_000);
  expect(end(await ended(timed.host, timed.id))).toEqual(["completed", "late"]);
  const untimed = await asking("() => null");
  untimed.clock.advance(100 * 24 * 3_600_000);
  expect(await untimed.host.drive(untimed.id)).toMatchObject({ state: "waiting" });
});

test("WF-33 the deadline of a step stands still while its run is paused, over restarts too", async () => {
  const { clock, id, host, again } = await asking("60_000");
  clock.advance(20_000);
  await host.pause(id);
  clock.advance(3_600_000);
  await host.close();
  const second = await again();
  clock.advance(3_600_000);
  expect(await second.run(id)).toMatchObject({ state: "waiting", pausedAt: expect.any(Number) });
  await second.resume(id);
  clock.advance(39_999);
  expect(await second.run(id)).toMatchObject({ state: "waiting" });
  clock.advance(1);
  expect(end(await ended(second, id))).toEqual(["completed", "late"]);
});

test("WF-33 a deadline that is told after the step has ended changes nothing", async () => {
  const { clock, id, host } = await asking("60_000");
  const [open] = (await host.run(id)).decisions;
  await host.answer({ decision: open?.id ?? "", choice: "go", source: { kind: "human", channel: "terminal", actor: "tester" } });
  expect(end(await host.drive(id))).toEqual(["completed", "after"]);
  clock.advance(120_000);
  expect(end(await host.run(id))).toEqual(["completed", "after"]);
});

test("WF-33 the deadline of a run's very first step, which no event stamps, keeps what is left of it too", async () => {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ clock });
  const file = project.workflow(
    `.node("rest", wait({ forMs: 3_600_000, timeoutMs: 60_000 }), { done: "after", timedOut: "late" }).node("after", compute(() => "after")).node("late", compute(() => "late"))`,
    { head: 'import { wait } from "pawl";' },
  );
  const { id } = await project.run(host, file);
  clock.advance(20_000);
  await host.pause(id);
  clock.advance(100_000);
  await host.resume(id);
  clock.advance(39_999);
  expect(await host.drive(id)).toMatchObject({ state: "waiting" });
  clock.advance(1);
  expect(end(await ended(host, id))).toEqual(["completed", "late"]);
});

/** The moment for which an answer counts. */
import { expect, test, vi } from "vitest";
import { fakeClock } from "../../src/runtime/clock.ts";
import { askNode, openCode, person, Project } from "./kit.ts";

const withDeadline = `${askNode(undefined, `, onTimeout: { afterMs: 60_000, response: { choice: "stop" } }`)}.node("after", compute(() => "after")).node("end", compute(() => "ended"))`;

async function asked() {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ clock });
  const parked = await project.run(host, project.workflow(withDeadline));
  return { project, clock, host, parked, deadlineAt: parked.decisions[0]?.deadlineAt ?? 0 };
}

test("RACE-3 an answer counts from when the host has read it, and the deadline that passes while its decision is looked up does not beat it", async () => {
  const { clock, host, parked, deadlineAt } = await asked();
  clock.set(deadlineAt);
  // Before the timer that is due now is dispatched, and with the clock past the deadline before the decision is found.
  const answering = host.answer({ decision: openCode(parked), choice: "go", source: person });
  clock.advance(5);
  expect(await answering).toMatchObject({ status: "accepted", decision: { state: "accepted", settledAt: deadlineAt } });
  expect(await host.drive(parked.id)).toMatchObject({ state: "completed", result: "after" });
});

test("RACE-3 an answer that the host has read after the deadline loses, though no default is committed yet", async () => {
  const { clock, host, parked, deadlineAt } = await asked();
  clock.set(deadlineAt + 1);
  expect(await host.answer({ decision: openCode(parked), choice: "go", source: person })).toMatchObject({ status: "refused", code: "defaulted" });
});

test("RACE-3 the default is not committed within the millisecond of the deadline, in which answers still come in time", async () => {
  const { project, clock, host, parked, deadlineAt } = await asked();
  clock.set(deadlineAt);
  // Whatever is due by now has been done when another run has come to its end.
  expect(await project.run(host, project.workflow(`.node("only", compute(() => 1))`, { name: "other" }))).toMatchObject({ state: "completed" });
  expect(await host.answer({ decision: openCode(parked), choice: "go", source: person })).toMatchObject({
    status: "accepted",
    decision: { settledAt: deadlineAt },
  });
});

test("RACE-3 the default is committed a millisecond after the deadline", async () => {
  const { clock, host, parked } = await asked();
  clock.advance(60_001);
  await vi.waitFor(async () => expect(await host.run(parked.id)).toMatchObject({ decisions: [{ state: "defaulted" }] }));
});

import { expect, test } from "vitest";
import { agentLimits } from "../../machines/contracts/agent.ts";
import { backoffMs } from "../../machines/nodes/agentTurns.ts";
import { Visit } from "./agentKit.ts";

async function delivered(timeoutMs: number | null = null): Promise<Visit> {
  const one = new Visit(timeoutMs);
  await one.begin();
  await one.send({ type: "agent.sent", delivery: 1 });
  expect(await one.turn()).toBe("delivering");
  return one;
}

const submit = (callId: string, output: unknown) => ({ type: "agent.submit", callId, output });
const ended = (outcome: string, delivery = 1, more = {}) => ({ type: "agent.turnEnded", delivery, outcome, ...more });

test("AGENT-7 the step's time stands still until its message arrived, and while nobody carries messages", async () => {
  const one = new Visit(60_000);
  await one.begin();
  expect((await one.graph()).told).toEqual(["node.clockStopped", "node.deadline", "node.clockStopped"]);
  await one.send({ type: "agent.sent", delivery: 1 });
  await one.send({ type: "agent.disconnected" });
  await one.send({ type: "agent.connected" });
  expect((await one.graph()).told.slice(3)).toEqual(["node.clockStarted", "node.clockStopped", "node.clockStarted"]);
});

test("AGENT-5 a call that is repeated gets its first answer and is looked at once, over restarts too", async () => {
  const one = await delivered();
  await one.send(submit("a", "no"), "submit:a");
  expect((await one.context()).answers).toEqual([{ callId: "a", status: "refused", text: "a number is wanted" }]);
  expect((await one.send(submit("a", "no"), "submit:a")).status).toBe("duplicate");
  expect(await one.send(submit("a", 4))).toMatchObject({ status: "applied", reply: { status: "refused", text: "a number is wanted" } });
  expect((await one.context()).checks).toBe(1);
  await one.send(submit("b", 4));
  expect(await one.graph()).toMatchObject({ value: "ended", output: { case: "done", kept: "check.2" } });
});

test("AGENT-5 one output is looked at at a time; another one is told so", async () => {
  const one = await delivered();
  await one.send(submit("a", "slow"));
  expect(await one.send(submit("b", 4))).toMatchObject({ status: "applied", reply: { status: "busy" } });
  expect(await one.context()).toMatchObject({ checking: "a", checks: 1, answers: [] });
});

test("AGENT-3 a person who is writing is let finish: the reminder comes when the conversation has rested for a minute", async () => {
  const one = await delivered();
  await one.send(ended("completed", 1, { chatting: true }));
  expect(await one.turn()).toBe("resting");
  await one.pass(agentLimits.idleMs - 1);
  await one.send({ type: "agent.chatting" });
  await one.pass(agentLimits.idleMs - 1);
  expect(await one.turn()).toBe("resting");
  await one.pass(1);
  expect(await one.context()).toMatchObject({ delivery: 2, reason: "reminder", reminders: 1 });
});

test("AGENT-3 the end of an earlier turn does not end a later one", async () => {
  const one = await delivered();
  await one.send(ended("completed"));
  expect(await one.context()).toMatchObject({ delivery: 2, reminders: 1 });
  await one.send(ended("completed"));
  expect(await one.context()).toMatchObject({ delivery: 2, reminders: 1 });
});

test("AGENT-3 a turn that ends while its output is looked at waits for the verdict: accepted it needs no reminder", async () => {
  const one = await delivered();
  await one.send(submit("a", "slow"));
  await one.send(ended("completed"));
  expect(await one.turn()).toBe("settling");
  expect(await one.context()).toMatchObject({ delivery: 1, reminders: 0 });
});

test("AGENT-15 a turn that a person stopped is put aside: no reminder, its time stands still, and it goes on as resume when it is taken up", async () => {
  const one = await delivered();
  await one.send(ended("aborted"));
  expect(await one.turn()).toBe("aside");
  expect((await one.graph()).told.slice(-2)).toEqual(["node.clockStopped", "node.waiting"]);
  await one.pass(24 * 3_600_000);
  expect(await one.context()).toMatchObject({ delivery: 1, reminders: 0 });
  await one.send({ type: "agent.takeUp" });
  expect(await one.context()).toMatchObject({ delivery: 2, reason: "resume", reminders: 0, aside: false });
  expect((await one.graph()).told.slice(-2)).toEqual(["node.clockStarted", "node.active"]);
});

test("AGENT-15 an output is taken while the step is put aside, and ends it", async () => {
  const one = await delivered();
  await one.send(ended("aborted"));
  await one.send(submit("a", 4));
  expect(await one.graph()).toMatchObject({ value: "ended", output: { case: "done" } });
});

test("AGENT-4 the wait after a provider's error is doubled each time, bounded, and the provider's own wait counts before it", () => {
  const wait = (errors: number, retryAfterMs?: number): number =>
    backoffMs({ errors, turn: { outcome: "error", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } });
  expect([1, 2, 3, 6, 7, 8, 1_000].map((errors) => wait(errors))).toEqual([5_000, 10_000, 20_000, 160_000, 300_000, 300_000, 300_000]);
  expect([wait(1, 0), wait(5, 1_200.5), wait(1, 1e12)]).toEqual([0, 1_201, 3_600_000]);
});

test("AGENT-4 the wait after an error is durable, and an error is no reminder", async () => {
  const one = await delivered();
  await one.send(ended("error", 1, { message: "overloaded" }));
  expect(await one.turn()).toBe("backingOff");
  await one.pass(agentLimits.firstBackoffMs - 1);
  expect(await one.turn()).toBe("backingOff");
  await one.pass(1);
  expect(await one.context()).toMatchObject({ delivery: 2, reason: "resume", reminders: 0, errors: 1 });
});

test("AGENT-16 what is said to a step is checked: a wrong event is refused with the path of its field and changes nothing", async () => {
  const one = await delivered();
  const wrong = (event: { readonly type: string; readonly [field: string]: unknown }): Promise<unknown> => one.send(event);
  await expect(wrong({ type: "agent.sent", delivery: 0 })).rejects.toMatchObject({ code: "invalidInput", path: "event.delivery" });
  await expect(wrong({ type: "agent.submit", callId: "", output: 1 })).rejects.toMatchObject({ code: "invalidInput", path: "event.callId" });
  await expect(wrong({ type: "agent.turnEnded", delivery: 1, outcome: "fine" })).rejects.toMatchObject({ code: "invalidInput", path: "event.outcome" });
  await expect(wrong({ type: "node.held", held: true })).rejects.toMatchObject({ code: "invalidInput" });
  expect(await one.turn()).toBe("delivering");
});

test("AGENT-13 a step that is over tells a late submit so, and a call that it knows its answer", async () => {
  const one = await delivered();
  await one.send(submit("a", "no"));
  await one.send(submit("b", 4));
  expect(await one.send(submit("c", 5))).toMatchObject({ status: "refused", code: "over", reply: { status: "over" } });
  expect(await one.send(submit("b", 4))).toMatchObject({ status: "refused", code: "accepted", reply: { status: "accepted" } });
  expect(await one.send(submit("a", "no"))).toMatchObject({ status: "refused", code: "refused", reply: { status: "refused" } });
  expect(await one.send({ type: "agent.sent", delivery: 1 })).toMatchObject({ status: "refused", code: "over" });
});

test("AGENT-3 AGENT-11 a reminder that was held back is counted once, when it is delivered", async () => {
  const one = await delivered();
  await one.send(ended("completed", 1, { chatting: true }));
  await one.hold(true);
  await one.pass(agentLimits.idleMs);
  expect(await one.turn()).toBe("aside");
  expect(await one.context()).toMatchObject({ delivery: 1, reminders: 1 });
  await one.hold(false);
  expect(await one.context()).toMatchObject({ delivery: 2, reminders: 1, reason: "reminder" });
});

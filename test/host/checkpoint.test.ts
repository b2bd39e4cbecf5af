import { expect, test, vi } from "vitest";
import { fakeClock } from "../../src/runtime/clock.ts";
import { Project, watch } from "./kit.ts";

const source = { kind: "program", channel: "test", actor: "script" } as const;
const head = 'import { checkpoint, include } from "pawl";';
const node = `.node("review", checkpoint({ title: "Look at it", prompt: ({ input }) => "Is " + input.task + " right?\\nSay so.", output: z.object({ ok: z.boolean(), notes: z.array(z.string()).default([]) }) }), "after")
  .node("after", compute(({ outputs }) => { mark("after"); return outputs.review; }))`;

async function parked(nodes = node, input: unknown = {}) {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ clock });
  const view = await project.run(host, project.workflow(nodes, { head }), input);
  return { project, clock, host, view, answer: (output: unknown, more = {}) => host.answerCheckpoint({ run: view.id, output, source, ...more }) };
}

test("CHK-1 a checkpoint parks its run and says what it asks for, and an answer is its output, as the schema makes it", async () => {
  const { host, view, answer, project } = await parked();
  expect(view).toMatchObject({
    state: "waiting",
    current: "review",
    awaits: { kind: "checkpoint", node: "review", visit: `${view.id}/graph/review.1`, title: "Look at it", prompt: "Is t right?\nSay so." },
    visits: [{ node: "review", kind: "checkpoint", status: "waiting" }],
  });
  expect(await answer({ ok: true })).toMatchObject({ status: "accepted", visit: `${view.id}/graph/review.1` });
  expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: { ok: true, notes: [] }, awaits: null });
  expect(project.side).toEqual(["after"]);
});

test("CHK-2 an answer that does not fit is refused with the path and changes nothing: the run stays parked", async () => {
  const { host, view, answer } = await parked();
  const events = watch(host);
  for (const [output, path] of [
    [{ ok: "yes" }, "ok"],
    [{ ok: true, notes: [1] }, "notes.0"],
    [null, ""],
  ] as const)
    await expect(answer(output)).rejects.toMatchObject({ code: "invalidInput", path, message: expect.stringContaining('Checkpoint "review"') });
  await expect(answer({ ok: true, notes: ["x".repeat(1024 * 1024)] })).rejects.toMatchObject({
    code: "invalidInput",
    message: expect.stringContaining("1048576"),
  });
  expect(events).toEqual([]);
  expect(await host.run(view.id)).toMatchObject({ state: "waiting", awaits: { kind: "checkpoint" } });
  expect(await answer({ ok: false })).toMatchObject({ status: "accepted" });
});

test("CHK-3 case 24 it is answered once: the same answer under the same key gets the saved one, another is told that it was answered", async () => {
  const { host, view, answer } = await parked();
  expect(await answer({ ok: true }, { idempotencyKey: "k1" })).toMatchObject({ status: "accepted" });
  expect(await answer({ ok: true }, { idempotencyKey: "k1" })).toMatchObject({ status: "duplicate", visit: `${view.id}/graph/review.1` });
  expect(await answer({ ok: false }, { idempotencyKey: "k1" })).toMatchObject({ status: "refused", code: "keyReused" });
  expect(await answer({ ok: true }, { idempotencyKey: "k2", visit: `${view.id}/graph/review.1` })).toMatchObject({
    status: "refused",
    code: "alreadyAnswered",
    message: expect.stringMatching(/answered on .* by script \(test\)/),
  });
  await expect(answer({ ok: true }, { idempotencyKey: "k2" })).rejects.toMatchObject({
    code: "refused",
    message: expect.stringContaining("waits at no checkpoint"),
  });
  expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: { ok: true } });
});

test("CHK-3 of answers that come at the same time one counts", async () => {
  const { view, answer, host } = await parked();
  const results = await Promise.all([answer({ ok: true }), answer({ ok: false }), answer({ ok: true })]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(["accepted", "refused", "refused"]);
  expect(results.find(({ status }) => status === "refused")).toMatchObject({ code: "alreadyAnswered" });
  expect(await host.drive(view.id)).toMatchObject({ state: "completed" });
});

test("CHK-4 case 4 case 14 it stays parked over restarts, and is answered in another process", async () => {
  const { project, host, view } = await parked();
  await host.close();
  const next = await project.open();
  expect(await next.drive(view.id)).toMatchObject({ state: "waiting", awaits: { kind: "checkpoint" } });
  expect(await next.answerCheckpoint({ run: view.id.slice(-6), output: { ok: true }, source })).toMatchObject({ status: "accepted" });
  expect(await next.drive(view.id)).toMatchObject({ state: "completed" });
});

test("CHK-5 an answer may be routed; a loop asks anew, and a key of an earlier answer is not taken for the next", async () => {
  const { host, view, answer } = await parked(
    `.node("review", checkpoint({ output: z.object({ ok: z.boolean() }), route: ({ ok }) => (ok ? "good" : "bad") }), { good: "end", bad: "review" })
     .node("end", compute(({ outputs }) => outputs.review.ok))`,
  );
  expect(view.awaits).toMatchObject({ title: "review", prompt: "" });
  expect(await answer({ ok: false }, { idempotencyKey: "k1" })).toMatchObject({ status: "accepted" });
  expect(await host.drive(view.id)).toMatchObject({ state: "waiting", awaits: { visit: `${view.id}/graph/review.2` } });
  expect(await answer({ ok: false }, { idempotencyKey: "k1" })).toMatchObject({ status: "duplicate", visit: `${view.id}/graph/review.1` });
  expect(await host.run(view.id)).toMatchObject({ state: "waiting" });
  expect(await answer({ ok: true }, { idempotencyKey: "k2" })).toMatchObject({ status: "accepted" });
  expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: true });
});

test("CHK-5 a checkpoint in an included workflow is answered by the run alone", async () => {
  const project = new Project();
  const host = await project.open();
  project.workflow(node, { name: "child", head });
  const file = project.workflow(
    '.node("sub", include(child, { input: { task: "this" } }), { after: "end" }).node("end", compute(({ outputs }) => outputs.sub.ok))',
    {
      head: `${head}\nimport child from "./child.workflow.ts";`,
    },
  );
  const view = await project.run(host, file);
  expect(view).toMatchObject({ state: "waiting", current: "sub/review", awaits: { node: "sub/review", prompt: "Is this right?\nSay so." } });
  await expect(host.answerCheckpoint({ run: view.id, output: 1, source })).rejects.toMatchObject({ code: "invalidInput" });
  expect(await host.answerCheckpoint({ run: view.id, output: { ok: true }, source })).toMatchObject({ status: "accepted" });
  expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: true });
});

test("CHK-6 a cancelled or timed-out checkpoint takes no answer; a callback that throws fails the visit and asks nobody", async () => {
  const cancelled = await parked();
  await cancelled.host.cancel(cancelled.view.id, "user");
  expect(await cancelled.answer({ ok: true }, { visit: `${cancelled.view.id}/graph/review.1` })).toMatchObject({ status: "refused", code: "cancelled" });
  const timed = await parked(
    '.node("review", checkpoint({ output: z.object({}), timeoutMs: ({ input }) => 1000 }), { done: "end", timedOut: "late" }).node("end", compute(() => "end")).node("late", compute(() => "late"))',
  );
  timed.clock.advance(1000);
  await vi.waitFor(async () => expect((await timed.host.run(timed.view.id)).state).toBe("running"), { timeout: 10_000, interval: 5 });
  expect(await timed.answer({}, { visit: `${timed.view.id}/graph/review.1` })).toMatchObject({ status: "refused", code: "cancelled" });
  expect(await timed.host.drive(timed.view.id)).toMatchObject({ state: "completed", result: "late" });
  for (const [options, message] of [
    ["prompt: () => { throw new Error('no words') }", "prompt callback that threw: no words"],
    ["title: () => 'x'.repeat(257)", "title that is not text of at most 256"],
  ] as const) {
    const { view } = await parked(`.node("review", checkpoint({ output: z.object({}), ${options} }))`);
    expect(view).toMatchObject({ state: "failed", reason: { code: "nodeFailed", message: expect.stringContaining(message) } });
  }
});

test("CHK-7 a paused run's checkpoint can be answered, and the run goes on at the resume", async () => {
  const { host, view, answer, project } = await parked();
  await host.pause(view.id);
  expect(await answer({ ok: true })).toMatchObject({ status: "accepted" });
  expect(await host.drive(view.id)).toMatchObject({ state: "paused", current: "after" });
  expect(project.side).toEqual([]);
  await host.resume(view.id);
  expect(await host.drive(view.id)).toMatchObject({ state: "completed" });
});

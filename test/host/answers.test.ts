import { expect, test, vi } from "vitest";
import { openStore } from "../../persistence/openStore.ts";
import { openReader } from "../../src/host/embedded.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { askNode, hostProcess, openCode, person, Project, watch } from "./kit.ts";

const workflow = `${askNode()}.node("after", compute(({ outputs }) => { mark("after"); return outputs.ask; })).node("end", compute(() => "ended"))`;
const model = { kind: "model", channel: "pi", actor: "agent" } as const;

test("HOST-10 an answer is accepted once, and the run goes on with it", async () => {
  const project = new Project();
  const host = await project.open();
  const events = watch(host);
  const parked = await project.run(host, project.workflow(workflow), { task: "x" });
  expect(parked).toMatchObject({ state: "waiting", current: "ask" });
  const [asked] = parked.decisions;
  expect(asked).toMatchObject({ state: "open", title: "Go on?", audience: "operator", settlement: null });
  expect(JSON.stringify(asked)).not.toContain('"task"');
  const answer = await host.answer({ decision: openCode(parked).toLowerCase(), choice: "go", source: person });
  expect(answer).toMatchObject({
    status: "accepted",
    code: null,
    decision: { state: "accepted", choice: "go", settlement: { receipt: { provenance: "human", response: { choice: "go" } } } },
  });
  expect(JSON.stringify(answer.decision?.settlement)).not.toContain("tester");
  expect(await host.drive(parked.id)).toMatchObject({ state: "completed", result: { choice: "go" }, decisions: [{ state: "accepted" }] });
  expect(events.filter(({ kind }) => kind === "decision")).toMatchObject([{ state: "open" }, { state: "accepted" }]);
});

test("case 4 case 14 a question asked in one process is answered in another, which finishes the run", async () => {
  const project = new Project();
  const file = project.workflow(workflow);
  const other = hostProcess(project, file);
  const parked = await other.view;
  expect(parked.state).toBe("waiting");
  const host = await project.open();
  expect(await host.answer({ decision: openCode(parked), choice: "go", source: person })).toMatchObject({ status: "accepted" });
  expect(await host.drive(parked.id)).toMatchObject({ state: "completed", result: { choice: "go" } });
  expect(project.side).toEqual(["asked", "after"]);
});

test("case 20 a settled question is asked once, however often the host restarts", async () => {
  const project = new Project();
  const first = await project.open();
  const parked = await project.run(first, project.workflow(workflow));
  await first.answer({ decision: openCode(parked), choice: "go", source: person });
  await first.close();
  for (let restart = 0; restart < 3; restart += 1) {
    const host = await project.open();
    const events = watch(host);
    const view = await host.drive(parked.id);
    expect(view).toMatchObject({ state: "completed" });
    expect(view.decisions).toHaveLength(1);
    expect(events.filter(({ kind }) => kind === "decision")).toEqual([]);
    await host.close();
  }
  expect(project.side).toEqual(["asked", "after"]);
});

test("case 24 an answer whose reply was lost is sent again and gets the same result, after a restart too", async () => {
  const project = new Project();
  const first = await project.open();
  const parked = await project.run(first, project.workflow(workflow));
  const request = { decision: openCode(parked), choice: "go", idempotencyKey: "k1", source: person };
  const saved = await first.answer(request);
  expect(await first.answer(request)).toMatchObject({ status: "duplicate", decision: saved.decision });
  await first.close();
  const second = await project.open();
  expect(await second.answer(request)).toMatchObject({ status: "duplicate", decision: saved.decision });
  // Without the key it is the same person's same answer.
  expect(await second.answer({ ...request, idempotencyKey: "k2" })).toMatchObject({ status: "duplicate" });
  expect(await second.answer({ ...request, choice: "stop" })).toMatchObject({ status: "refused", code: "keyReused" });
  expect((await second.drive(parked.id)).state).toBe("completed");
  expect(project.side).toEqual(["asked", "after"]);
});

test("HOST-11 a late or wrong answer is refused with who won and when, or with what is allowed", async () => {
  const project = new Project();
  const host = await project.open();
  const parked = await project.run(host, project.workflow(workflow));
  const decision = openCode(parked);
  expect(await host.answer({ decision, choice: "maybe", source: person })).toMatchObject({
    status: "refused",
    code: "invalid",
    message: expect.stringMatching(/go.*stop.*replan/),
  });
  expect(await host.answer({ decision, choice: "replan", text: "x".repeat(21), source: person })).toMatchObject({ status: "refused", code: "invalid" });
  expect(await host.answer({ decision, choice: "stop", source: person })).toMatchObject({ status: "accepted" });
  const late = await host.answer({ decision, choice: "go", source: { ...person, actor: "somebody else" } });
  expect(late).toMatchObject({
    status: "refused",
    code: "alreadyDecided",
    message: expect.stringMatching(/by a person: "stop" \(on \d{4}-\d\d-\d\d at \d\d:\d\d:\d\d UTC\)/),
    decision: { choice: "stop" },
  });
  expect(await host.drive(parked.id)).toMatchObject({ state: "completed", result: "ended" });
});

test("HOST-12 a model cannot answer: it is refused, kept for the audit, and the decision stays open", async () => {
  const project = new Project();
  const host = await project.open();
  const parked = await project.run(host, project.workflow(workflow));
  const decision = openCode(parked);
  for (const source of [model, { ...model, kind: "program" } as const])
    expect(await host.answer({ decision, choice: "go", source })).toMatchObject({ status: "refused", code: "humanOnly" });
  expect(await host.run(parked.id)).toMatchObject({ state: "waiting", decisions: [{ state: "open" }] });
  await host.answer({ decision, choice: "go", source: person });
  await host.close();
  const { store, release } = await openStore({ home: project.home, mode: "reader" });
  const [record] = await store.load([parked.decisions[0]?.id ?? ""]);
  const { audit } = JSON.parse(record?.snapshot ?? "{}").context;
  expect(audit).toMatchObject([
    { outcome: "humanOnly", source: model },
    { outcome: "humanOnly", source: { kind: "program" } },
    { outcome: "won", source: person },
  ]);
  await release();
});

test("HOST-13 a mistyped code answers nothing and the near ones are named; a full id and a settled code are found", async () => {
  const project = new Project();
  const host = await project.open();
  await expect(host.decision("7K3M9Q2")).rejects.toMatchObject({ code: "unknownDecision", message: expect.stringContaining("No decision is open") });
  const parked = await project.run(host, project.workflow(workflow));
  const code = openCode(parked);
  const mistyped = (code.startsWith("Z") ? "Y" : "Z") + code.slice(1);
  await expect(host.answer({ decision: mistyped, choice: "go", source: person })).rejects.toMatchObject({
    code: "unknownDecision",
    message: expect.stringContaining(`Did you mean ${code}?`),
  });
  expect((await host.decision(parked.decisions[0]?.id ?? "")).code).toBe(code);
  await host.answer({ decision: code, choice: "go", source: person });
  expect((await host.decision(code)).state).toBe("accepted");
});

test("HOST-14 case 106 a deadline that passed while nothing ran takes effect when the directory is opened, and an answer after it is told so", async () => {
  const project = new Project();
  const file = project.workflow(
    `${askNode(undefined, `, onTimeout: { afterMs: 60_000, response: { choice: "stop" } }`)}.node("after", compute(() => "after")).node("end", compute(() => "ended"))`,
  );
  const clock = fakeClock();
  const first = await project.open({ clock });
  const parked = await project.run(first, file);
  expect(parked.decisions).toMatchObject([{ state: "open", defaultChoice: "stop", deadlineAt: clock.now() + 60_000 }]);
  await first.close();
  const second = await project.open({ clock: fakeClock(clock.now() + 60_001) });
  expect(await second.answer({ decision: openCode(parked), choice: "go", source: person })).toMatchObject({
    status: "refused",
    code: "defaulted",
    message: expect.stringContaining('"stop"'),
  });
  expect(await second.drive(parked.id)).toMatchObject({
    state: "completed",
    result: "ended",
    decisions: [{ state: "defaulted", settlement: { receipt: { provenance: "timeout" } } }],
  });
});

test("DEC-12 case 104 each decision has the deadline that its input asks for, and none when it asks for none", async () => {
  const project = new Project();
  const file = project.workflow(
    `${askNode(undefined, `, onTimeout: ({ input }) => (input.patience === null ? undefined : { afterMs: input.patience, response: { choice: "stop" } })`)}.node("after", compute(() => "after")).node("end", compute(() => "ended"))`,
    { input: "z.object({ patience: z.number().nullable() })" },
  );
  const clock = fakeClock();
  const host = await project.open({ clock });
  const patient = (await project.start(host, file, { patience: null })).id;
  const hasty = (await project.start(host, file, { patience: 60_000 })).id;
  expect((await host.drive(patient)).decisions).toMatchObject([{ state: "open", deadlineAt: null, defaultChoice: null }]);
  expect((await host.drive(hasty)).decisions).toMatchObject([{ state: "open", deadlineAt: clock.now() + 60_000 }]);
  clock.advance(40 * 24 * 3_600_000);
  await vi.waitFor(async () => expect(await host.drive(hasty)).toMatchObject({ state: "completed", result: "ended" }));
  expect(await host.drive(patient)).toMatchObject({ state: "waiting", decisions: [{ state: "open" }] });
});

test("case 21 a loop that asks again makes a new decision, and the old code answers the old one only", async () => {
  const project = new Project();
  const host = await project.open();
  const parked = await project.run(host, project.workflow(workflow));
  const first = openCode(parked);
  await host.answer({ decision: first, choice: "replan", text: "more", source: person });
  const again = await host.drive(parked.id);
  const second = openCode(again);
  expect(second).not.toBe(first);
  expect(again.visits.map(({ status, case: taken }) => [status, taken])).toEqual([
    ["accepted", "replan"],
    ["waiting", null],
  ]);
  expect(await host.answer({ decision: first, choice: "go", source: person })).toMatchObject({ status: "refused", code: "alreadyDecided" });
  expect(await host.run(parked.id)).toMatchObject({ state: "waiting" });
  await host.answer({ decision: second, choice: "go", source: person });
  expect(await host.drive(parked.id)).toMatchObject({ state: "completed", result: { choice: "go" } });
});

test("HOST-15 decisions are listed for everybody who may read, by state and run", async () => {
  const project = new Project();
  const host = await project.open();
  const file = project.workflow(workflow);
  const [a, b] = [await project.run(host, file), await project.run(host, file)];
  await host.answer({ decision: openCode(a), choice: "stop", source: person });
  const reader = await openReader({ home: project.home });
  expect((await reader.decisions({ state: ["open"] })).items.map(({ run }) => run)).toEqual([b.id]);
  expect((await reader.decisions({ run: a.id })).items).toMatchObject([{ state: "accepted", request: { title: "Go on?" } }]);
  await reader.close();
});

test("HOST-15 a decision that cannot be asked fails its visit and asks nobody", async () => {
  const project = new Project();
  const host = await project.open();
  const view = await project.run(
    host,
    project.workflow(
      `.node("ask", humanDecision({ audience: "operator", choices: approval, request: () => { throw new Error("no subject today"); } }), { go: "end", stop: "end", replan: "end" }).node("end", compute(() => 1))`,
    ),
  );
  expect(view).toMatchObject({
    state: "failed",
    reason: { code: "nodeFailed", message: expect.stringContaining("no subject today") },
    decisions: [],
    visits: [{ node: "ask", status: "failed", error: { reason: "nodeFailed" } }],
  });
});

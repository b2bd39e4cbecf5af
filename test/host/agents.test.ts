import { expect, onTestFinished, test, vi } from "vitest";
import type { EmbeddedHost, RunView } from "../../src/host/api.ts";
import { fakeClock, type FakeClock } from "../../src/runtime/clock.ts";
import { openWorkflowTest, scriptedAgent, type ScriptedAgent, type WorkflowTest } from "../../src/testing.ts";
import { Project, watch } from "./kit.ts";

const head = `import { agent, assistantMessage, choose } from "pawl";`;
const plan = `.node("plan", agent({
  prompt: ({ input }) => "Plan " + input.task,
  output: z.object({ steps: z.array(z.string()) }),
  validate: ({ steps }) => (steps.length > 3 ? "at most three steps" : undefined),
}), "done")
.node("done", compute(({ outputs }) => outputs.plan.steps))`;

interface Opened {
  readonly project: Project;
  readonly host: EmbeddedHost;
  readonly clock: FakeClock;
  readonly again: (agent?: ScriptedAgent) => Promise<EmbeddedHost>;
}

async function opened(agent?: ScriptedAgent): Promise<Opened> {
  const project = new Project();
  const clock = fakeClock();
  const open = (one: ScriptedAgent | undefined): Promise<EmbeddedHost> => project.open({ clock, ...(one === undefined ? {} : { agent: one }) });
  return { project, clock, host: await open(agent), again: (one) => open(one) };
}

const run = async ({ project, host }: Opened, nodes: string): Promise<RunView> => project.run(host, project.workflow(nodes, { head }), { task: "a house" });

/** In a test of its own, whose clock moves where nothing else would move the run. */
async function timed(nodes: string, agent: ScriptedAgent): Promise<WorkflowTest> {
  const flow = await openWorkflowTest({ workflow: new Project().workflow(nodes, { head }), agent });
  onTestFinished(() => flow.close());
  return flow;
}

test("AGENT-1 an agent gets the prompt and the schema, and what it submits is the node's output", async () => {
  const agent = scriptedAgent([{ node: "plan", submit: { steps: ["dig", "build"] }, text: "There it is." }]);
  const view = await run(await opened(agent), plan);
  expect([view.state, view.result, view.reason]).toEqual(["completed", ["dig", "build"], null]);
  expect(view.visits[0]).toMatchObject({ node: "plan", kind: "agent", status: "accepted", case: "done", output: { steps: ["dig", "build"] }, attempt: 1 });
  expect(agent.steps).toMatchObject([
    {
      kind: "agent",
      node: "plan",
      visit: `${view.id}/graph/plan.1`,
      prompt: "Plan a house",
      schema: { type: "object", properties: { steps: { type: "array", items: { type: "string" } } }, required: ["steps"] },
      choices: null,
      reason: "initial",
      reminder: 0,
    },
  ]);
  expect(agent.answers).toMatchObject([{ status: "accepted" }]);
});

test("AGENT-2 what schema or rules refuse goes back to the agent with what is wrong, and the same visit goes on", async () => {
  const agent = scriptedAgent([{ submits: [{ steps: "none" }, { steps: ["a", "b", "c", "d"] }, { steps: ["a"] }] }]);
  const view = await run(await opened(agent), plan);
  expect([view.state, view.result]).toEqual(["completed", ["a"]]);
  expect(agent.answers.map(({ status }) => status)).toEqual(["refused", "refused", "accepted"]);
  expect(agent.answers[0]?.text).toMatch(/does not fit its schema: steps/);
  expect(agent.answers[1]?.text).toMatch(/at most three steps/);
  expect(agent.steps).toHaveLength(1);
  expect(view.visits.filter(({ node }) => node === "plan")).toHaveLength(1);
});

test("AGENT-2 ten refused outputs fail the visit as invalidOutput, with the last refusal", async () => {
  const agent = scriptedAgent([{ submits: Array.from({ length: 12 }, (_, n) => ({ steps: n })) }]);
  const view = await run(await opened(agent), plan);
  expect(view).toMatchObject({ state: "failed", reason: { code: "invalidOutput" } });
  expect(view.reason?.message).toMatch(/^10 outputs were refused, the last one so: .*steps/);
  expect(agent.answers.map(({ status }) => status)).toEqual([...Array.from({ length: 10 }, () => "refused"), "over"]);
});

test("AGENT-2 an error that validate throws is told to the agent, and a TerminalError fails the visit", async () => {
  const node = (name: string): string =>
    `.node("plan", agent({ prompt: "Plan", output: z.number(), validate: (n) => { if (n === 1) throw new ${name}("one is too few"); } }))`;
  const agent = scriptedAgent([{ submits: [1, 2] }]);
  expect(await run(await opened(agent), node("Error"))).toMatchObject({ state: "completed", result: 2 });
  expect(agent.answers[0]).toMatchObject({ status: "refused", text: expect.stringContaining("one is too few") });
  const other = await opened(scriptedAgent([{ submits: [1, 2] }]));
  const file = other.project.workflow(node("TerminalError"), { head: `import { agent, TerminalError } from "pawl";` });
  expect(await other.project.run(other.host, file)).toMatchObject({ state: "failed", reason: { code: "effectFailed", message: "one is too few" } });
});

test("AGENT-3 a turn without submit brings a reminder, two at most, and then the visit fails as noSubmit", async () => {
  const agent = scriptedAgent([{ text: "Hm." }, {}, { node: "plan", submit: { steps: ["dig"] } }]);
  expect(await run(await opened(agent), plan)).toMatchObject({ state: "completed", result: ["dig"] });
  expect(agent.steps.map(({ reason, reminder }) => [reason, reminder])).toEqual([
    ["initial", 0],
    ["reminder", 1],
    ["reminder", 2],
  ]);
  expect(new Set(agent.steps.map(({ delivery }) => delivery)).size).toBe(3);
  const silent = scriptedAgent();
  expect(await run(await opened(silent), plan)).toMatchObject({ state: "failed", reason: { code: "noSubmit" } });
  expect(silent.steps).toHaveLength(3);
});

test("AGENT-4 a provider's error is no reminder: it is waited out, longer each time or as the provider says, and delivered again", async () => {
  const agent = scriptedAgent([
    { error: "overloaded" },
    { error: "overloaded" },
    { error: "slow down", retryAfterMs: 90_000 },
    {},
    { submit: { steps: ["dig"] } },
  ]);
  const at: number[] = [];
  const flow = await timed(plan, {
    ...agent,
    run: (...given) => {
      at.push(flow.clock.now());
      return agent.run(...given);
    },
  });
  expect(await flow.run({ task: "a house" })).toMatchObject({ state: "completed", result: ["dig"] });
  expect(agent.steps.map(({ reason }) => reason)).toEqual(["initial", "resume", "resume", "resume", "reminder"]);
  expect(at.slice(1).map((time, n) => time - (at[n] ?? 0))).toEqual([5_000, 10_000, 90_000, 0]);
});

test("AGENT-4 an executor that throws, or says what is no end of a turn, is a provider's error", async () => {
  const agent = scriptedAgent([{ submit: { steps: [] } }]);
  const ends = [new Error("no such model"), { outcome: "done" }];
  const flow = await timed(plan, {
    ...agent,
    run: async (...given) => {
      const end = ends.shift();
      if (end instanceof Error) throw end;
      return end === undefined ? agent.run(...given) : (end as never); // as an executor without types would
    },
  });
  expect(await flow.run({ task: "a house" })).toMatchObject({ state: "completed", result: [] });
  expect(agent.steps).toHaveLength(1);
});

test("AGENT-4 while an error is waited out the run says what it was, in its list too", async () => {
  const { project, host, clock } = await opened(scriptedAgent([{ error: "the provider is down" }, { error: "no credit left." }, { submit: { steps: [] } }]));
  const { id } = await project.start(host, project.workflow(plan, { head }), { task: "a house" });
  const driven = host.drive(id);
  const reason = async () => (await host.runs()).items[0]?.reason;
  await vi.waitFor(async () =>
    expect(await reason()).toEqual({
      code: "agentFailed",
      message: 'The agent of node "plan" failed: the provider is down. It is asked again after a wait, by itself.',
    }),
  );
  clock.advance(5_000);
  await vi.waitFor(async () => expect((await reason())?.message).toContain("failed 2 times in a row: no credit left. It is asked"));
  clock.advance(10_000);
  expect(await driven).toMatchObject({ state: "completed", reason: null });
});

test("AGENT-6 without an agent the step waits, says what is missing, has no deadline, and goes on when there is one", async () => {
  const { project, host, clock, again } = await opened();
  const { id } = await project.start(host, project.workflow(plan, { head }), { task: "a house" });
  const waiting = await host.drive(id);
  expect(waiting).toMatchObject({ state: "waiting", current: "plan", reason: { code: "noAgent" } });
  expect(waiting.reason?.message).toMatch(/^No agent is connected: node "plan" waits for one\. /);
  expect(waiting.visits).toMatchObject([{ node: "plan", status: "waiting" }]);
  clock.advance(30 * 24 * 3_600_000);
  expect(await host.drive(id)).toMatchObject({ state: "waiting" });
  await host.close();
  const agent = scriptedAgent([{ submit: { steps: ["dig"] } }]);
  const second = await again(agent);
  expect(await second.drive(id)).toMatchObject({ state: "completed", result: ["dig"], reason: null });
  expect(agent.steps).toHaveLength(1);
});

test("AGENT-6 a host that adopts all runs takes up those that waited for an agent", async () => {
  const { project, host, clock } = await opened();
  const { id } = await project.start(host, project.workflow(plan, { head }), { task: "a house" });
  expect(await host.drive(id)).toMatchObject({ state: "waiting" });
  await host.close();
  const second = await project.open({ clock, adopt: "all", agent: scriptedAgent([{ submit: { steps: [] } }]) });
  await vi.waitFor(async () => expect(await second.run(id)).toMatchObject({ state: "completed" }), { timeout: 10_000 });
});

test("AGENT-7 the deadline counts from the arrival of the message, and a step that runs over it ends its agent's turn and takes the timedOut route", async () => {
  const nodes = `.node("plan", agent({ prompt: "Plan", timeoutMs: 60_000 }), { done: "late", timedOut: "late" }).node("late", compute(({ results }) => results.plan.status))`;
  const agent = scriptedAgent([{ hangs: true }]);
  const { project, host, clock } = await opened(agent);
  const { id } = await project.start(host, project.workflow(nodes, { head }));
  const rests = host.drive(id);
  await vi.waitUntil(() => agent.steps.length === 1, { timeout: 10_000 });
  await vi.waitUntil(() => clock.pending() > 0, { timeout: 10_000 });
  clock.advance(59_999);
  expect(await host.run(id)).toMatchObject({ state: "running" });
  clock.advance(1);
  expect(await rests).toMatchObject({ state: "completed", result: "timedOut" });
});

test("AGENT-8 choose limits the agent to named choices, which are its cases", async () => {
  const nodes = `.node("pick", choose({ prompt: "Which?", choices: { fix: { label: "Mend it" }, drop: { label: "Leave it" } } }), { fix: "mended", drop: "left" })
.node("mended", compute(({ outputs }) => outputs.pick.reason ?? "no reason"))
.node("left", compute(() => "left"))`;
  const agent = scriptedAgent([{ submits: [{ choice: "paint" }, { choice: "fix", why: "x" }, { choice: "fix", reason: "it is small" }] }]);
  const view = await run(await opened(agent), nodes);
  expect([view.state, view.result]).toEqual(["completed", "it is small"]);
  expect(view.visits[0]).toMatchObject({ kind: "choose", case: "fix", output: { choice: "fix", reason: "it is small" } });
  expect(agent.answers.map(({ status }) => status)).toEqual(["refused", "refused", "accepted"]);
  expect(agent.steps[0]).toMatchObject({
    kind: "choose",
    choices: { fix: "Mend it", drop: "Leave it" },
    schema: { properties: { choice: { enum: ["fix", "drop"] } } },
  });
});

test("AGENT-8 an agent's output may name the case by a route", async () => {
  const nodes = `.node("count", agent({ prompt: "How many?", output: z.number(), route: (n) => (n > 3 ? "many" : "few") }), { many: "a", few: "b" })
.node("a", compute(() => "many")).node("b", compute(() => "few"))`;
  expect(await run(await opened(scriptedAgent([{ submit: 5 }])), nodes)).toMatchObject({ result: "many" });
});

test("AGENT-9 an assistant message ends with what was said, takes no submit, and its failure is an output: the run goes on", async () => {
  const nodes = `.node("say", assistantMessage({ prompt: "Say hello" }), "end").node("end", compute(({ outputs }) => outputs.say))`;
  const agent = scriptedAgent([{ submit: 1, text: "Hello." }]);
  expect(await run(await opened(agent), nodes)).toMatchObject({ state: "completed", result: { answered: true, text: "Hello." } });
  expect(agent.steps).toMatchObject([{ kind: "assistantMessage", schema: null, prompt: "Say hello" }]);
  expect(agent.answers).toMatchObject([{ status: "over" }]);
  const failing = await timed(nodes, scriptedAgent(Array.from({ length: 9 }, () => ({ error: "no credit" }))));
  expect(await failing.run({})).toMatchObject({ state: "completed", result: { answered: false, text: "no credit" } });
  expect(failing.agent?.steps).toHaveLength(4);
});

test("AGENT-10 a host that is lost in a turn goes on with the same visit: the message is brought again as resume, and work before it is not repeated", async () => {
  const first = scriptedAgent([{ hangs: true }]);
  const { project, host, again } = await opened(first);
  const { id } = await project.start(host, project.workflow(`.node("before", compute(() => { mark("before"); return 1; }), "plan")${plan}`, { head }), {
    task: "a house",
  });
  void host.drive(id).catch(() => undefined);
  await vi.waitUntil(() => first.steps.length === 1, { timeout: 10_000 });
  await vi.waitFor(async () => expect(await host.run(id)).toMatchObject({ state: "running" }));
  await host.close();
  const second = scriptedAgent([{ submit: { steps: ["dig"] } }]);
  expect(await (await again(second)).drive(id)).toMatchObject({ state: "completed", result: ["dig"] });
  expect(second.steps).toMatchObject([{ reason: "resume", visit: first.steps[0]?.visit, delivery: first.steps[0]?.delivery }]);
  expect(project.side).toEqual(["before"]);
});

test("AGENT-11 a paused run is not reminded: it is parked when the turn ends, and goes on where it was at resume", async () => {
  const agent = scriptedAgent();
  const { project, host } = await opened(agent);
  const { id } = await project.start(host, project.workflow(plan, { head }), { task: "a house" });
  let paused = false;
  agent.add(async () => {
    if (paused) return { submit: { steps: ["dig"] } };
    paused = true;
    await host.pause(id);
    return {};
  });
  expect(await host.drive(id)).toMatchObject({ state: "waiting", pausedAt: expect.any(Number), visits: [{ status: "waiting" }] });
  expect(agent.steps).toHaveLength(1);
  await host.resume(id);
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: ["dig"] });
  expect(agent.steps.map(({ reason }) => reason)).toEqual(["initial", "reminder"]);
});

test("AGENT-12 case 117 a large output stands in its row alone: the actors' snapshots stay small", async () => {
  const big = "x".repeat(2_000_000);
  const nodes = `.node("plan", agent({ prompt: "Plan", output: z.string() }), "end").node("end", compute(({ outputs }) => outputs.plan.length))`;
  const opening = await opened(scriptedAgent([{ submit: big }]));
  const view = await run(opening, nodes);
  expect(view).toMatchObject({ state: "completed", result: 2_000_000 });
  expect(view.visits[0]?.output).toBe(big);
});

test("AGENT-13 cancelling a run ends the agent's turn, and nothing that it submits then counts", async () => {
  const agent = scriptedAgent();
  const { project, host } = await opened(agent);
  const { id } = await project.start(host, project.workflow(plan, { head }), { task: "a house" });
  agent.add(async () => {
    await host.cancel(id, "user");
    return { submit: { steps: ["late"] } };
  });
  expect(await host.drive(id)).toMatchObject({ state: "cancelled" });
  await vi.waitFor(() => expect(agent.answers).toMatchObject([{ status: "over" }]), { timeout: 10_000 });
});

test("AGENT-14 what agents do is told as it happens", async () => {
  const opening = await opened(scriptedAgent([{ submit: { steps: [] } }]));
  const events = watch(opening.host);
  await run(opening, plan);
  expect(events.flatMap((event) => (event.kind === "visit" && event.node === "plan" ? [event.status] : []))).toEqual(["running", "accepted"]);
});

test("AGENT-6 a step of a session waits for that session, and its run keeps running: the agent of others does not get it", async () => {
  const agent = scriptedAgent([{ submit: { steps: [] } }]);
  const { project, host } = await opened(agent);
  const { id } = await host.start({ workflow: project.workflow(plan, { head }), input: { task: "a house" }, cwd: project.directory, session: "s1" });
  const stop = new AbortController();
  const driving = host.drive(id, { signal: stop.signal });
  await vi.waitFor(async () => expect(await host.run(id)).toMatchObject({ state: "running", reason: { code: "noAgent" } }), { timeout: 10_000 });
  expect((await host.run(id)).reason?.message).toMatch(/when its session s1 is connected/);
  stop.abort();
  await driving;
  expect(agent.steps).toEqual([]);
});

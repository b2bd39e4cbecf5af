import { expect, onTestFinished, test } from "vitest";
import { openWorkflowTest, type WorkflowTest, type WorkflowTestOptions } from "../../src/testing.ts";
import { Project } from "./kit.ts";

const head = `import { agent, checkpoint, wait } from "pawl";`;

async function opened(nodes: string, options: Omit<WorkflowTestOptions, "workflow"> = {}): Promise<{ readonly project: Project; readonly flow: WorkflowTest }> {
  const project = new Project();
  const flow = await openWorkflowTest({ workflow: project.workflow(nodes, { head }), ...options });
  onTestFinished(() => flow.close());
  return { project, flow };
}

const plan = `.node("plan", agent({ prompt: "Plan", output: z.array(z.string()) }), "ask")
.node("ask", humanDecision({ audience: "operator", choices: approval, request: ({ outputs }) => ({ title: "Go on?", subject: outputs.plan }), onTimeout: { afterMs: 3_600_000, response: { choice: "stop" } } }), { go: "work", stop: "end", replan: "plan" })
.node("work", compute(({ outputs }) => { mark("work"); return outputs.plan; }))
.node("end", compute(() => "stopped"))`;

test("AGENT-20 a workflow runs in a test with a scripted agent and a simulated person, in no time", async () => {
  const { flow } = await opened(plan, {
    agent: [{ delayMs: 600_000, submit: ["dig"] }, { submit: ["dig", "build"] }],
    person: { ask: ({ request }) => (JSON.stringify(request).includes("ask.2") ? { choice: "replan", text: "more" } : "go") },
  });
  const view = await flow.run({ task: "a house" });
  expect([view.state, view.result]).toEqual(["completed", ["dig", "build"]]);
  expect(flow.agent?.steps.map(({ node }) => node)).toEqual(["plan", "plan"]);
  expect(flow.clock.now()).toBeGreaterThanOrEqual(Date.UTC(2030, 0, 1) + 600_000);
});

test("AGENT-20 where nobody answers the clock goes on to the deadline", async () => {
  const { flow } = await opened(plan, { agent: [{ submit: [] }] });
  expect(await flow.run({})).toMatchObject({ state: "completed", result: "stopped", decisions: [{ state: "defaulted" }] });
});

test("AGENT-20 a provider's errors, reminders and waits cost the test no time", async () => {
  const nodes = `.node("plan", agent({ prompt: "Plan" }), "pause").node("pause", wait({ forMs: 30 * 24 * 3_600_000 }), "end").node("end", compute(({ outputs }) => outputs.plan))`;
  const { flow } = await opened(nodes, { agent: [{ error: "overloaded" }, { error: "overloaded" }, {}, { submit: 7 }] });
  expect(await flow.run({})).toMatchObject({ state: "completed", result: 7 });
  expect(flow.agent?.steps.map(({ reason }) => reason)).toEqual(["initial", "resume", "resume", "reminder"]);
});

test("AGENT-21 a crash loses what runs and nothing that was told: the run goes on from the disk, and finished work is not repeated", async () => {
  const nodes = `.node("first", compute(() => { mark("first"); return 1; }), "plan").node("plan", agent({ prompt: "Plan", timeoutMs: null }), "end").node("end", compute(({ outputs }) => outputs.plan))`;
  const { flow, project } = await opened(nodes, { agent: [{ hangs: true }, { submit: "done" }] });
  const id = await flow.start({});
  expect(await flow.goOn(id)).toMatchObject({ state: "running", current: "plan" });
  await flow.crash();
  expect(await flow.goOn(id)).toMatchObject({ state: "completed", result: "done" });
  expect(flow.agent?.steps.map(({ reason, delivery }) => [reason, delivery])).toEqual([
    ["initial", `${id}/graph/plan.2/deliver.1`],
    ["resume", `${id}/graph/plan.2/deliver.1`],
  ]);
  expect(project.side).toEqual(["first"]);
});

test("AGENT-21 a crash may come after any event", async () => {
  const kinds = ["first accepted", "plan running", "plan accepted", "end accepted"];
  for (const kind of kinds) {
    const { flow } = await opened(
      `.node("first", compute(() => 1), "plan").node("plan", agent({ prompt: "Plan" }), "end").node("end", compute(({ outputs }) => outputs.plan))`,
      {
        agent: [() => ({ submit: "done" })],
      },
    );
    const view = await flow.run({}, { crashWhen: (event) => event.kind === "visit" && `${event.node} ${event.status}` === kind });
    expect([kind, view.state, view.result]).toEqual([kind, "completed", "done"]);
    await flow.close();
  }
});

test("AGENT-21 a test stops where it wants, crashes, and goes on", async () => {
  const { flow } = await opened(plan, { agent: [{ submit: ["dig"] }], person: { ask: "go" } });
  const id = await flow.start({});
  const there = await flow.goOn(id, { until: (event) => event.kind === "decision" });
  expect(there).toMatchObject({ state: "waiting", decisions: [{ state: "open" }] });
  await flow.crash();
  await flow.crash();
  expect(await flow.goOn(id)).toMatchObject({ state: "completed", result: ["dig"] });
});

test("AGENT-22 checkpoints are answered by node, and a run that only somebody else could move is given back as it stands", async () => {
  const nodes = `.node("fill", checkpoint({ title: "Fill in", output: z.object({ n: z.number() }) }), "plan").node("plan", agent({ prompt: "Plan" }))`;
  const { flow } = await opened(nodes, { answers: { fill: { n: 4 } } });
  expect(await flow.run({})).toMatchObject({ state: "waiting", current: "plan", reason: { code: "noAgent" } });
});

test("AGENT-10 case 56 ten agents in a row, and a crash in the eighth: those that had finished are not asked again", async () => {
  const nodes = Array.from({ length: 10 }, (_, n) => `.node("a${n}", agent({ prompt: "Step", timeoutMs: null })${n < 9 ? `, "a${n + 1}"` : ""})`);
  let hangs = true;
  const { flow } = await opened(nodes.join(""), {
    agent: [
      ({ node }) => {
        if (node !== "a7" || !hangs) return { submit: node };
        hangs = false;
        return { hangs: true };
      },
    ],
  });
  const id = await flow.start({});
  expect(await flow.goOn(id)).toMatchObject({ state: "running", current: "a7" });
  await flow.crash();
  expect(await flow.goOn(id)).toMatchObject({ state: "completed", result: "a9" });
  expect(flow.agent?.steps.map(({ node }) => node)).toEqual(["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a7", "a8", "a9"]);
});

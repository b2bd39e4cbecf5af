/** Every kind of node in an included workflow. */
import { expect, test } from "vitest";
import { scriptedAgent } from "../../src/testing.ts";
import { Project, watch } from "./kit.ts";

test("INC-1 INC-5 each kind of step works inside an included workflow, in worker processes too", { timeout: 60_000 }, async () => {
  const project = new Project();
  project.workflow(
    `.node("sum", compute(({ input }) => ({ n: input.n + 1 }), { timeoutMs: ({ input }) => input.n * 10_000 }), "act")
     .node("act", action({ run: ({ outputs, visit, idempotencyKey }) => ({ n: outputs.sum.n + 1, same: visit === idempotencyKey }), retry: { maxAttempts: 2, initialMs: 1 } }), "echo")
     .node("echo", shell({ command: "echo", args: ({ outputs }) => [String(outputs.act.n)], parse: ({ stdout }, { input }) => Number(stdout) + input.n }), "many")
     .node("many", batch({ commands: ({ outputs }) => [{ command: "echo", args: [String(outputs.echo)] }], route: (results) => (results.length === 1 ? "one" : "more") }), { one: "rest", more: "rest" })
     .node("rest", wait({ forMs: () => 1 }), "count")
     .node("count", machineNode(counter, { input: ({ outputs }) => ({ from: Number(outputs.many[0]?.stdout) }) }), "end")
     .node("end", compute(({ outputs, results }) => [outputs.count.total, outputs.act.same, Object.keys(results).length]))`,
    {
      name: "child",
      input: "z.object({ n: z.number() })",
      head: `import { batch, machineNode, wait } from "pawl";
import { assign, setup } from "xstate";
const counter = setup({ types: {} as { context: { total: number }; input: { from: number }; output: { total: number } } }).createMachine({
  id: "counter", context: ({ input }) => ({ total: input.from }), initial: "a",
  states: { a: { after: { 1: { target: "b", actions: assign({ total: ({ context }) => context.total + 100 }) } } }, b: { type: "final" } },
  output: ({ context }) => ({ total: context.total }),
});`,
    },
  );
  const file = project.workflow(
    '.node("sub", include(child, { input: ({ input }) => ({ n: input.task.length }) }), { end: "end" }).node("end", compute(({ outputs }) => outputs.sub))',
    {
      head: 'import { include } from "pawl";\nimport child from "./child.workflow.ts";',
    },
  );
  for (const author of ["inProcess", "workers"] as const) {
    const host = await project.open({ author, adopt: "all" });
    const events = watch(host);
    const { id } = await project.start(host, file, { task: "x" });
    await expect.poll(async () => (await host.run(id)).state, { timeout: 20_000 }).toMatch(/completed|failed/);
    const view = await host.run(id);
    expect(view).toMatchObject({ state: "completed", result: [104, true, 6] });
    expect(view.visits.filter(({ status }) => status !== "accepted")).toEqual([]);
    expect(new Set(events.flatMap((event) => (event.kind === "visit" ? [event.node] : [])))).toEqual(
      new Set(["sub", "sub/sum", "sub/act", "sub/echo", "sub/many", "sub/rest", "sub/count", "sub/end", "end"]),
    );
    await host.close();
  }
});

test("INC-5 an agent works on a step of an included workflow, and what it is refused is looked at there", async () => {
  const project = new Project();
  project.workflow(
    `.node("plan", agent({ prompt: ({ input }) => "Plan " + input.n, output: z.object({ steps: z.number() }), validate: ({ steps }) => (steps > 3 ? "at most three" : undefined) }), "tell")
     .node("tell", notify({ text: ({ outputs }) => "planned " + outputs.plan.steps, kind: "progress" }), "pick")
     .node("pick", choose({ prompt: "Which?", choices: { left: { label: "Left" }, right: { label: "Right" } } }), { left: "end", right: "end" })
     .node("end", compute(({ outputs }) => [outputs.plan.steps, outputs.pick.choice]))`,
    { name: "child", input: "z.object({ n: z.number() })", head: 'import { agent, choose, notify } from "pawl";' },
  );
  const file = project.workflow('.node("sub", include(child, { input: { n: 7 } }), { end: "end" }).node("end", compute(({ outputs }) => outputs.sub))', {
    head: 'import { include } from "pawl";\nimport child from "./child.workflow.ts";',
  });
  const agent = scriptedAgent([{ submits: [{ steps: 9 }, { steps: 2 }] }, { submit: { choice: "right" } }]);
  const host = await project.open({ agent });
  const events = watch(host);
  const view = await project.run(host, file);
  expect([view.state, view.result, view.reason]).toEqual(["completed", [2, "right"], null]);
  expect(agent.steps).toMatchObject([{ prompt: "Plan 7" }, { kind: "choose" }]);
  expect(agent.answers.map(({ status }) => status)).toEqual(["refused", "accepted", "accepted"]);
  expect(events.flatMap((event) => (event.kind === "notification" ? [[event.node, event.text]] : []))).toEqual([["sub/tell", "planned 2"]]);
  expect(view.visits.map(({ node, status }) => [node, status])).toEqual(
    ["sub", "sub/plan", "sub/tell", "sub/pick", "sub/end", "end"].map((node) => [node, "accepted"]),
  );
});

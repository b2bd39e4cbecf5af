import { join } from "node:path";
import { expect, test } from "vitest";
import { getShortestPaths } from "xstate/graph";
import { z } from "zod";
import { batch, checkpoint, compute, include, wait, workflow } from "../../src/workflow/authoring.ts";
import { exitsOf, includedGraphs, workflowOf } from "../../src/workflow/included.ts";
import { loadWorkflow } from "../../src/workflow/loader.ts";
import { directoryWith, errorOf } from "./files.ts";

const file = (name: string, imports: string, include: string): string =>
  `import { compute, include, workflow } from "pawl";\nimport { z } from "zod";\n${imports}\nexport default workflow({ name: "${name}", input: z.object({}) }).node("sub", include(${include}, { input: {} }), { end: "end" }).node("end", compute(() => 1)).build();\n`;

test("INC-11 workflows that include each other in a circle are refused at load, with the chain of files", async () => {
  const directory = directoryWith({
    "a.workflow.ts": file("a", 'import b from "./b.workflow.ts";', "b"),
    "b.workflow.ts": file("b", 'import { c } from "./more.ts";', "c"),
    "more.ts": 'export { default as c } from "./c.workflow.ts";\n',
    "c.workflow.ts": file("c", 'import a from "./a.workflow.ts";', "a"),
    "self.workflow.ts": file("self", 'import self from "./self.workflow.ts";', "self"),
  });
  const error = await errorOf(() => loadWorkflow(join(directory, "a.workflow.ts")));
  expect(error).toMatchObject({ code: "invalidWorkflow" });
  expect(error.message).toContain('node "sub" includes no workflow');
  expect(error.message).toContain("circle: c.workflow.ts -> a.workflow.ts -> b.workflow.ts -> more.ts -> c.workflow.ts.");
  expect(await errorOf(() => loadWorkflow(join(directory, "self.workflow.ts")))).toMatchObject({
    code: "invalidWorkflow",
    message: expect.stringContaining("circle: self.workflow.ts -> self.workflow.ts. A workflow cannot include itself"),
  });
});

const child = workflow({ name: "child", input: z.object({}) })
  .node(
    "pick",
    compute(() => 1, { route: () => "left", cases: ["left", "right"] }),
    { left: "one", right: "two" },
  )
  .node(
    "one",
    compute(() => 1),
  )
  .node(
    "two",
    compute(() => 2),
  )
  .build();

/** An author without a compiler: every setting is allowed. */
const built = (of: unknown, options: unknown, next: unknown) =>
  workflow({ name: "outer", input: z.object({}) })
    .node("sub", include(of as typeof child, options as { input: {} }), next as { one: "end"; two: "end" }) // what a file without types may say
    .node(
      "end",
      compute(() => 1),
    )
    .build();

test("INC-12 what cannot be included is refused by the node's name", async () => {
  const endless = workflow({ name: "endless", input: z.object({}) })
    .node(
      "round",
      compute(() => 1),
      "round",
    )
    .build();
  for (const [of, options, next, message] of [
    [undefined, { input: {} }, { one: "end", two: "end" }, "includes no workflow"],
    [{ graph: child.graph }, { input: {} }, { one: "end", two: "end" }, "includes no workflow"],
    [endless, { input: {} }, {}, 'includes workflow "endless", which has no end node'],
    [child, {}, { one: "end", two: "end" }, 'includes workflow "child" without an input'],
    [child, undefined, { one: "end", two: "end" }, 'includes workflow "child" without an input'],
    [child, { input: {} }, { one: "end" }, 'no target for its case "two"'],
    [child, { input: {} }, { one: "end", two: "end", three: "end" }, 'has no case "three"'],
    [child, { input: {} }, "end", "give each a target"],
    [child, { input: {} }, undefined, 'no target for its case "one"'],
  ] as const) {
    const error = await errorOf(() => built(of, options, next));
    expect(error).toMatchObject({ code: "invalidWorkflow" });
    expect(error.message).toContain('node "sub" ');
    expect(error.message).toContain(message);
  }
});

test("INC-10 the graph of an include names the included graph, and a change inside changes the digest outside", () => {
  const outer = built(child, { input: {} }, { one: "end", two: "end" });
  expect(outer.graph.nodes[0]).toMatchObject({ kind: "include", cases: ["one", "two"], timeoutMs: null, include: { name: "child", graph: child.graphDigest } });
  const changed = workflow({ name: "child", input: z.object({}), maxSteps: 7 })
    .node(
      "one",
      compute(() => 1),
    )
    .build();
  const other = workflow({ name: "outer", input: z.object({}) })
    .node("sub", include(changed, { input: {} }), { one: "end" })
    .node(
      "end",
      compute(() => 1),
    )
    .build();
  expect(other.graphDigest).not.toBe(outer.graphDigest);
  expect([...includedGraphs(outer).keys()]).toEqual([child.graphDigest]);
  expect(exitsOf(child.graph)).toEqual(["one", "two"]);
  expect(workflowOf(outer, "sub/one")).toMatchObject({ workflow: { name: "child" }, id: "one" });
});

test("INC-12 WF-31 WF-32 the machine of a workflow that waits, asks, includes and runs commands opens in plain XState, and paths reach every node and end", () => {
  const all = workflow({ name: "all", input: z.object({}) })
    .node("rest", wait({ forMs: 5, timeoutMs: 7 }), { done: "look", timedOut: "look" })
    .node("look", checkpoint({ output: z.object({}) }), "sub")
    .node("sub", include(child, { input: {} }), { one: "many", two: "end", failed: "end" })
    .node("many", batch({ commands: [] }), "end")
    .node(
      "end",
      compute(() => 1),
    )
    .build();
  const done = (id: string, taken = "done") => ({ type: `xstate.done.actor.${id}`, output: { case: taken }, actorId: id });
  const events = [
    ...["rest", "look", "many", "end"].map((id) => done(id)),
    done("sub", "one"),
    done("sub", "two"),
    ...["sub", "look"].map((id) => ({ type: `xstate.error.actor.${id}`, error: { reason: "nodeFailed", message: "no" }, actorId: id })),
    { type: "node.entered" },
    { type: "node.waiting" },
    { type: "graph.pause" },
    { type: "graph.resume" },
  ];
  // xstate/graph types its options by the machine's own events; these hold done and error events too.
  const paths = getShortestPaths(all.machine, {
    input: { run: "r_1", graph: all.graphDigest, source: "s" },
    events,
    serializeState: ({ value, context }: { value: unknown; context: unknown }) => JSON.stringify([value, (context as { paused: boolean }).paused]), // GraphContext
    stopWhen: ({ status }: { status: string }) => status !== "active",
  } as never);
  const values = new Set(paths.map(({ state }) => String(state.value)));
  expect([...values].toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
    ["$completed", "$failed", "$paused", "end", "look", "many", "rest", "sub"].toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

import { assign, fromCallback, fromPromise, setup, type AnyStateMachine } from "xstate";
import { expect, test } from "vitest";
import { z } from "zod";
import { effect, effectAction, machineFromInput } from "../../machines/define.ts";
import { machineVersion, placeOf } from "../../src/host/author/authorMachine.ts";
import { compute, defineNode, durable, machineNode, machineWorkflow, volatileAction, workflow } from "../../src/workflow/authoring.ts";

const built = (machine: AnyStateMachine) =>
  workflow({ name: "job", input: z.object({}) })
    .node("own", machineNode(machine, {}))
    .build();

/** What building says of a machine. */
function refusal(machine: AnyStateMachine): string {
  try {
    built(machine);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "";
}

const good = setup({
  types: {} as { context: { n: number }; input: { n: number }; output: number },
  actors: { twice: durable(async ({ input }: { input: number }) => input * 2), once: fromPromise(async () => 1) },
  actions: { lost: volatileAction(() => {}) },
}).createMachine({
  id: "good",
  context: ({ input }) => ({ n: input.n }),
  initial: "working",
  states: {
    working: {
      entry: "lost",
      invoke: { src: "twice", id: "twice", input: ({ context }) => context.n, onDone: { target: "over", actions: assign({ n: ({ event }) => event.output }) } },
    },
    over: { type: "final" },
  },
  output: ({ context }) => context.n,
});

test("MACH-22 a machine that keeps the author rules is a node, without a version of its own", () => {
  const graph = workflow({ name: "job", input: z.object({ n: z.number() }) })
    .node("own", machineNode(good, { input: ({ input }) => input }), "after")
    .node(
      "after",
      compute(({ outputs }) => outputs.own + 1),
    )
    .build().graph;
  expect(graph.nodes[0]).toMatchObject({ id: "own", kind: "machine", cases: ["done"], timeoutMs: null });
});

test.each<[string, AnyStateMachine, RegExp]>([
  [
    "a callback",
    setup({ actors: { listen: fromCallback(() => {}) } }).createMachine({ id: "m", invoke: { src: "listen", id: "listen" } }),
    /machine "m": its actor "listen" is a callback.*\(fromPromise, durable\(\)\)/,
  ],
  [
    "a named effect",
    setup({ actors: { mail: effect("mail.send") } }).createMachine({ id: "m", invoke: { src: "mail", id: "mail" } }),
    /its actor "mail" names the effect "mail\.send", which nobody executes in a workflow\. Invoke a promise/,
  ],
  [
    "an action that asks for an effect",
    setup({ actions: { mail: effectAction("mail.send") } }).createMachine({ id: "m", entry: "mail" }),
    /asks for the effect "mail\.send", which nobody executes in a workflow/,
  ],
  [
    "an action of its own",
    setup({ actions: { note: () => {} } }).createMachine({ id: "m", entry: "note" }),
    /runs the action "note", a function that a crash would lose or repeat\. Invoke a promise/,
  ],
  [
    "a machine that Pawl looks up",
    setup({ actors: { graph: machineFromInput("pawl.graph", () => "") } }).createMachine({ id: "m", invoke: { src: "graph", id: "graph" } }),
    /its actor "graph" is a machine that only Pawl can look up/,
  ],
  [
    "a child machine with a callback",
    setup({ actors: { child: setup({ actors: { listen: fromCallback(() => {}) } }).createMachine({ id: "inner" }) } }).createMachine({
      id: "m",
      invoke: { src: "child", id: "child" },
    }),
    /machine "inner": its actor "listen" is a callback/,
  ],
])("MACH-22 a machine with %s is refused when the workflow is built, with the node and what to write instead", (_what, machine, said) => {
  const message = refusal(machine);
  expect(message).toMatch(/Workflow "job" cannot be built: node "own" cannot be durable: /);
  expect(message).toMatch(said);
});

test("MACH-22 what is no machine is refused, with what to give", () => {
  expect(refusal({} as AnyStateMachine)).toMatch(/node "own" has no machine; give what XState's createMachine\(\)/); // what an author without a compiler may write
});

test("MACH-23 a whole machine is a workflow of one node", () => {
  const { graph, name } = machineWorkflow({ name: "alone", input: z.object({ n: z.number() }), machine: good });
  expect(name).toBe("alone");
  expect(graph).toMatchObject({ entry: "machine", maxSteps: 1, nodes: [{ id: "machine", kind: "machine", routes: {} }] });
});

test("MACH-24 a node kind of one's own checks what it is given and what it ends with", async () => {
  const double = defineNode({
    machine: good,
    input: z.object({ n: z.number() }),
    output: z.number(),
    cases: ["small", "large"],
    route: (n) => (n > 10 ? "large" : "small"),
    statusDetail: "Doubling",
  });
  const { graph, nodes } = workflow({ name: "job", input: z.object({ n: z.number() }) })
    .node("double", double({ input: ({ input }) => input }), { small: "double", large: "after" })
    .node(
      "after",
      compute(({ outputs }) => outputs.double),
    )
    .build();
  expect(graph.nodes[0]).toMatchObject({ kind: "machine", cases: ["small", "large"], statusDetail: "Doubling" });
  const behaviour = nodes["double"]?.behaviour;
  if (behaviour?.kind !== "machine" || behaviour.input === null) throw new Error("It is no machine.");
  const context = { input: { n: "two" }, outputs: {}, results: {}, signal: new AbortController().signal, visit: "", attempt: 1, idempotencyKey: "", now: 0 };
  await expect(behaviour.input(context)).rejects.toThrow(/expected number/);
});

test("MACH-25 where a machine stands is one text, and any node and names of children are read from it again", () => {
  for (const path of [[], ["child"], ["child", "grand child"], ["a/b", "c:d"], [""], ["", ""]])
    for (const node of ["own", "sub/inner", "a:b%2F"]) {
      const place = { source: "a1", graph: "b2", node, path };
      expect(placeOf(machineVersion(place))).toEqual(place);
    }
  for (const foreign of ["1.0.0", "a:b:c", "a:b:%:", "a:b:c:/%E0%A4%A:", ""]) expect(placeOf(foreign)).toBeUndefined();
});

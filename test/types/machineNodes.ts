/** Machines as nodes: what goes in and comes out is typed by the machine, without a cast, and what does not fit does not compile. Checked by tsc; never run. */
import { setup } from "xstate";
import { z } from "zod";
import { compute, defineNode, machineNode, machineWorkflow, workflow, type Workflow } from "../../src/workflow/authoring.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const proven = <_Proof extends true>(): void => {};

const order = setup({ types: {} as { context: { id: string }; input: { id: string; count: number }; output: { total: number } } }).createMachine({
  id: "order",
  context: ({ input }) => ({ id: input.id }),
  initial: "over",
  states: { over: { type: "final" } },
  output: () => ({ total: 1 }),
});
/** Takes nothing, gives nothing. */
const pause = setup({}).createMachine({ id: "pause", initial: "over", states: { over: { type: "final" } } });

const start = workflow({ name: "shop", input: z.object({ id: z.string() }) });

export const shop = start
  .node(
    "count",
    compute(() => 3),
  )
  .node(
    "order",
    machineNode(order, {
      input: ({ input, outputs }) => {
        proven<Same<typeof input, { id: string }>>();
        return { id: input.id, count: outputs.count };
      },
      timeoutMs: ({ outputs }) => outputs.count * 1000,
    }),
    { done: "pause", failed: "pause" },
  )
  .node("pause", machineNode(pause, {}), "routed")
  .node(
    "routed",
    machineNode(order, { input: ({ input }) => ({ ...input, count: 1 }), route: ({ total }) => (total > 5 ? "large" : "small"), cases: ["large", "small"] }),
    { large: "order", small: "parsed" },
  )
  .node(
    "parsed",
    machineNode(order, {
      input: async ({ input }) => ({ id: input.id, count: 2 }),
      output: z.object({ total: z.number() }).transform(({ total }) => String(total)),
    }),
    "last",
  )
  .node(
    "last",
    compute(({ outputs, results }) => {
      proven<Same<typeof outputs.order, { total: number }>>();
      proven<Same<typeof outputs.parsed, string>>();
      return results.order?.status === "accepted" ? results.order.output.total : outputs.routed.total;
    }),
  )
  .build();

const priced = defineNode({ machine: order, input: z.object({ id: z.string(), count: z.number().default(1) }), output: z.object({ total: z.number() }) });
export const kinds = start
  .node("priced", priced({ input: ({ input }) => ({ id: input.id }) }), "after")
  .node(
    "after",
    compute(({ outputs }) => outputs.priced.total),
  )
  .build();

const whole = machineWorkflow({ name: "whole", input: z.object({ id: z.string(), count: z.number().default(1) }), machine: order });
type Input = typeof whole extends Workflow<infer In, infer _Ends> ? In : never;
type Exits = typeof whole extends Workflow<infer _In, infer Ends> ? Ends : never;
proven<Same<Input, { id: string; count?: number | undefined }>>();
proven<Same<Exits["output"], { total: number }>>();

// @ts-expect-error MACH-26 an input that is missing
start.node("a", machineNode(order, {}));
start.node(
  "a",
  machineNode(order, {
    // @ts-expect-error MACH-26 an input of the wrong type
    input: ({ input }) => ({ id: input.id, count: "three" }),
  }),
);
start.node(
  "a",
  machineNode(order, {
    // @ts-expect-error MACH-26 an input that reads a node that is not there
    input: ({ input, outputs }) => ({ id: input.id, count: outputs.nothing }),
  }),
);
start.node(
  "a",
  machineNode(order, {
    input: ({ input }) => ({ ...input, count: 1 }),
    // @ts-expect-error MACH-26 a schema that the machine's output does not fit
    output: z.object({ total: z.string() }),
  }),
);
start.node(
  "a",
  machineNode(order, {
    input: ({ input }) => ({ ...input, count: 1 }),
    // @ts-expect-error MACH-26 a route that reads what the output does not have
    route: ({ sum }) => (sum > 1 ? "yes" : "no"),
  }),
  { yes: "a", no: "a" },
);
start.node("a", machineNode(order, { input: ({ input }) => ({ ...input, count: 1 }) }), "b").node(
  "b",
  // @ts-expect-error MACH-26 an output that the machine does not have
  compute(({ outputs }) => outputs.a.sum),
);
// @ts-expect-error MACH-26 what is no machine
start.node("a", machineNode({ id: "order" }, {}));
// @ts-expect-error MACH-26 a contract whose input is not what the machine takes
defineNode({ machine: order, input: z.object({ id: z.number() }), output: z.object({ total: z.number() }) });
// @ts-expect-error MACH-26 a contract whose output is not what the machine gives
defineNode({ machine: order, input: z.object({ id: z.string(), count: z.number() }), output: z.object({ sum: z.number() }) });
// @ts-expect-error MACH-26 a use of a contract that gives something else
start.node("a", priced({ input: () => ({ id: 5 }) }));
// @ts-expect-error MACH-26 a workflow whose input is not what its machine takes
machineWorkflow({ name: "whole", input: z.object({ count: z.number() }), machine: order });

/** A machine of an author's with everything in it: parallel regions, delays, a promise that is tried again, a child machine found by its system id,
 *  events up and down, and a reference that goes with one. As a workflow file, since author code is loaded from its sources. */
import type { Project } from "./kit.ts";

const imports = (project: Project): string => `import { appendFileSync, existsSync } from "node:fs";
import { z } from "zod";
import { assign, fromPromise, sendParent, sendTo, setup } from "xstate";
import { compute, durable, machineNode, NotApplied, RetryableError, volatileAction, workflow } from "pawl";
const mark = (line) => appendFileSync(${JSON.stringify(project.file("side.txt"))}, line + "\\n");
const there = (name) => existsSync(${JSON.stringify(project.directory)} + "/" + name);
`;

/** A workflow file with a head of statements and a chain of nodes. */
export function machineFile(project: Project, head: string, nodes: string, name = "job"): string {
  return project.write(
    `${name}.workflow.ts`,
    `${imports(project)}${head}
export default workflow({ name: ${JSON.stringify(name)}, input: z.object({ task: z.string().default("t"), items: z.number().default(3) }) })
${nodes}
.build();
`,
  );
}

export const order = `
const packer = setup({
  actions: { tell: sendTo(({ context }) => context.to, ({ context }) => ({ type: "packed", count: context.packed })) },
  guards: { hasMore: ({ context }) => context.packed < context.items },
}).createMachine({
  id: "packer",
  context: ({ input }) => ({ items: input.items, packed: 0, to: null }),
  initial: "waiting",
  states: {
    waiting: { on: { begin: { target: "packing", actions: assign({ to: ({ event }) => event.to }) } } },
    packing: {
      after: {
        10: [
          { guard: "hasMore", target: "packing", reenter: true, actions: [assign({ packed: ({ context }) => context.packed + 1 }), "tell"] },
          { target: "packed" },
        ],
      },
    },
    packed: { type: "final" },
  },
  output: ({ context }) => context.packed,
});
const order = setup({
  actors: {
    charge: durable(async ({ input, attempt, idempotencyKey }) => {
      mark("charge " + attempt + " " + idempotencyKey);
      if (attempt < 2) throw new RetryableError("the bank sleeps");
      return "receipt for " + input.task;
    }, { retry: { maxAttempts: 3, initialMs: 1 } }),
    packer,
  },
}).createMachine({
  id: "order",
  context: ({ input }) => ({ task: input.task, items: input.items, receipt: null, counts: [], boxes: 0 }),
  type: "parallel",
  states: {
    money: {
      initial: "charging",
      states: {
        charging: { invoke: { src: "charge", id: "charge", input: ({ context }) => ({ task: context.task }), onDone: { target: "charged", actions: assign({ receipt: ({ event }) => event.output }) } } },
        charged: { type: "final" },
      },
    },
    goods: {
      initial: "packing",
      states: {
        packing: {
          invoke: { src: "packer", id: "packer", systemId: "packer", input: ({ context }) => ({ items: context.items }), onDone: { target: "packed", actions: assign({ boxes: ({ event }) => event.output }) } },
          after: { 5: { actions: sendTo(({ system }) => system.get("packer"), ({ self }) => ({ type: "begin", to: self })) } },
          on: { packed: { actions: assign({ counts: ({ context, event }) => [...context.counts, event.count] }) } },
        },
        packed: { type: "final" },
      },
    },
  },
  output: ({ context }) => ({ receipt: context.receipt, counts: context.counts, boxes: context.boxes }),
});`;

export const orderNode = `.node("order", machineNode(order, { input: ({ input }) => ({ task: input.task, items: input.items }) }), "after")
.node("after", compute(({ outputs }) => outputs.order))`;

export const orderResult = { receipt: "receipt for t", counts: [1, 2, 3], boxes: 3 };

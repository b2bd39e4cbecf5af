/** The rules of a node that is a machine of its author's. */
import type { AnyStateMachine } from "xstate";
import { workflowMachineProblems } from "../runtime/authorRules.ts";
import { isMachineLogic } from "../runtime/step.ts";
import type { NodeBehaviour } from "./nodes/node.ts";
import { isSchema } from "./schema.ts";

/** Rules of one machine object: it may be the node of several workflows, and of several builds of one. */
const checked = new WeakMap<AnyStateMachine, readonly string[]>();

/** As sentences without their node, whose name stands before them. */
export function machineProblems({ machine, input, output }: Extract<NodeBehaviour, { kind: "machine" }>): readonly string[] {
  if (!isMachineLogic(machine)) return ["has no machine; give what XState's createMachine() or setup(…).createMachine() returns."];
  const known = checked.get(machine) ?? workflowMachineProblems(machine);
  checked.set(machine, known);
  return [
    ...known.map((problem) => `cannot be durable: ${problem}`),
    ...(input === null || typeof input === "function"
      ? []
      : ["has an input that is no function; give a callback that gives what the machine is started with."]),
    ...(output === null || isSchema(output) ? [] : ["has an output that is no zod schema."]),
  ];
}

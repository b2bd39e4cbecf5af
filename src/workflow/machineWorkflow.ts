/** A whole machine in place of a graph: a workflow whose one node it is. */
import type { AnyStateMachine, InputFrom, OutputFrom } from "xstate";
import type { ZodType, z } from "zod";
import { workflow } from "./builder.ts";
import type { AnyWorkflow, WorkflowDefinition } from "./definition.ts";
import { machineNode } from "./nodes/machine.ts";
import type { Stored, Timeout } from "./nodes/node.ts";
import type { ExitOf } from "./routes.ts";
import type { CallbackContext } from "./context.ts";

/** Id of the one node. */
const nodeId = "machine";

export interface MachineWorkflowOptions<Schema extends ZodType<InputFrom<Machine>>, Machine extends AnyStateMachine> {
  /** At most 256 characters; not a name of a command. */
  readonly name: string;
  /** What the workflow is started with; the machine gets what the schema makes of it. */
  readonly input: Schema;
  readonly machine: Machine;
  /** No deadline unless set. */
  readonly timeoutMs?: Timeout<CallbackContext<z.output<Schema>>>;
  /** Label of at most 120 characters, shown while the machine runs. */
  readonly statusDetail?: string;
}

/** A workflow that is this machine: its input is the machine's, and the run's result is its output. @throws invalidWorkflow */
export function machineWorkflow<Machine extends AnyStateMachine, Schema extends ZodType<InputFrom<Machine>>>({
  name,
  input,
  machine,
  timeoutMs,
  statusDetail,
}: MachineWorkflowOptions<Schema, Machine>): WorkflowDefinition<z.input<Schema>, ExitOf<typeof nodeId, Stored<OutputFrom<Machine>>, "done", undefined>> {
  const options = {
    input: (context: CallbackContext<z.output<Schema>>) => context.input,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(statusDetail === undefined ? {} : { statusDetail }),
  };
  const node = machineNode<CallbackContext<z.output<Schema>>, AnyStateMachine>(machine, options);
  const built: AnyWorkflow = workflow({ name, input, maxSteps: 1 }).node(nodeId, node).build();
  return built as ReturnType<typeof machineWorkflow<Machine, Schema>>; // one node that is this machine: its exit is what the type says
}

/** A node that is a machine of the author's: the machine itself, and the input that its callback gives. */
import type { AnyStateMachine } from "xstate";
import { jsonText } from "../json.ts";
import { messageOf } from "../errors.ts";
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { findNode } from "./execute.ts";
import { callbackFailed, visitFailed } from "./failures.ts";

/** What the node's first effect gives besides its deadline. */
export interface MachineStart {
  /** The author machine's own id, for people. */
  readonly machine: string;
  /** Absent: the machine takes none. */
  readonly input?: unknown;
}

/** @throws internal when there is no such node: its graph was compared before */
export const nodeMachine = (definition: AnyWorkflow, id: string): AnyStateMachine => findNode(definition, id, "machine").behaviour.machine;

/** @throws nodeFailed, invalidInput as a reason when JSON cannot carry what the callback gave */
export async function machineStart(definition: AnyWorkflow, id: string, context: AnyContext): Promise<MachineStart> {
  const { behaviour } = findNode(definition, id, "machine");
  const { machine } = behaviour;
  if (behaviour.input === null) return { machine: machine.id };
  let input: unknown;
  try {
    input = await behaviour.input(context);
  } catch (error) {
    throw callbackFailed(id, error);
  }
  if (input === undefined) return { machine: machine.id };
  try {
    jsonText(input, `input of machine "${machine.id}"`);
  } catch (error) {
    throw visitFailed(id, "nodeFailed", `gave its machine an input that cannot be stored. ${messageOf(error)}`);
  }
  return { machine: machine.id, input };
}

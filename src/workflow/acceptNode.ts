/** The output of a node that somebody else gave: an agent, a person, a machine. The node's own schema and rules decide, with the visit's context. */
import { acceptSubmit } from "./agentStep.ts";
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { acceptOutput, type Executed } from "./execute.ts";
import { isAgentKind } from "./kinds.ts";
import { workflowOf } from "./included.ts";

/** @throws invalidOutput, outputTooLarge, routing, and what the node's own rules throw */
export async function acceptNode(definition: AnyWorkflow, id: string, context: AnyContext, output: unknown): Promise<Executed> {
  const { workflow, id: own } = workflowOf(definition, id);
  const kind = Object.hasOwn(workflow.nodes, own) ? workflow.nodes[own]?.behaviour.kind : undefined;
  if (kind !== undefined && isAgentKind(kind)) return acceptSubmit(definition, id, context, output);
  return acceptOutput(definition, id, output);
}

/** The output of a node that somebody else gave: an agent, a person, a machine. The node's own schema and rules decide, with the visit's context. */
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { acceptOutput, type Executed } from "./execute.ts";

/** @throws invalidOutput, outputTooLarge, routing, and what the node's own rules throw */
export async function acceptNode(definition: AnyWorkflow, id: string, _context: AnyContext, output: unknown): Promise<Executed> {
  return acceptOutput(definition, id, output);
}

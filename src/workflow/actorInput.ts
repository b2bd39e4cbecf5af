/** The input of a node's own machine: what every visit gets, and what the graph data of its kind say besides. Pure. */
import type { BatchNodeInput } from "../../machines/nodes/batchNode.ts";
import type { IncludeNodeInput } from "../../machines/nodes/includeNode.ts";
import type { WaitNodeInput } from "../../machines/nodes/waitNode.ts";
import { doneCase, type GraphContext, type GraphNode, type NodeInput } from "./graph.ts";

type ActorInput = NodeInput | WaitNodeInput | IncludeNodeInput | BatchNodeInput;

type Counted = Pick<GraphContext, "step" | "included" | "limit">;

/** How many nodes may still be entered. */
export const stepsLeft = ({ step, included, limit }: Counted): number => limit - step - included;

/** `at`: epoch ms of the entry. */
export function actorInput(node: GraphNode, input: NodeInput, context: GraphContext, at: number): ActorInput {
  if (node.kind === "wait") return { ...input, at, wait: node.wait ?? null, asksTimeout: node.timeoutMs === "callback" };
  if (node.include)
    return {
      ...input,
      graph: node.include.graph,
      source: context.source,
      path: `${context.path}/${input.visit}/graph`,
      limit: stepsLeft(context),
      frozen: context.frozen,
    };
  if (node.batch) return { ...input, ...node.batch, routes: node.cases.length > 1 || node.cases[0] !== doneCase };
  return input;
}

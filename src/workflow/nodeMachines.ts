/** The machine of each node kind that has a life of its own. A machine's id is its kind's name; its visits get ids of their own, like every node's. */
import type { AnyStateMachine } from "xstate";
import { visited, type NodeInput } from "../../machines/define.ts";
import { humanDecisionNode } from "../../machines/nodes/humanDecisionNode.ts";
import type { ActorKind } from "./graph.ts";

const visit = (input: NodeInput): string => input.visit;

export const nodeMachines: { readonly [kind in ActorKind]: AnyStateMachine } = {
  humanDecision: visited(humanDecisionNode, visit),
};

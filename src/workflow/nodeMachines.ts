/** The machine of each node kind that has a life of its own. A machine's id is its kind's name; its visits get ids of their own, like every node's. */
import type { AnyStateMachine } from "xstate";
import { visited, type NodeInput } from "../../machines/define.ts";
import { agentStepNode, assistantMessageNode, chooseNode } from "../../machines/nodes/agentNode.ts";
import { machineNode } from "../../machines/nodes/machineNode.ts";
import { batchNode } from "../../machines/nodes/batchNode.ts";
import { checkpointNode } from "../../machines/nodes/checkpointNode.ts";
import { humanDecisionNode } from "../../machines/nodes/humanDecisionNode.ts";
import { includeNode } from "../../machines/nodes/includeNode.ts";
import { waitNode } from "../../machines/nodes/waitNode.ts";
import type { ActorKind } from "./kinds.ts";

const visit = (input: NodeInput): string => input.visit;

export const nodeMachines: { readonly [kind in ActorKind]: AnyStateMachine } = {
  agent: visited(agentStepNode, visit),
  choose: visited(chooseNode, visit),
  assistantMessage: visited(assistantMessageNode, visit),
  machine: visited(machineNode, visit),
  humanDecision: visited(humanDecisionNode, visit),
  wait: visited(waitNode, visit),
  checkpoint: visited(checkpointNode, visit),
  include: visited(includeNode, visit),
  batch: visited(batchNode, visit),
};

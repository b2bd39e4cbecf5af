/** Pawl's own statecharts and what machines are made with: `pawl/machines`. */
export { decisionMachine, DecisionEvent, type DecisionInput, type DecisionOutput } from "./decisionMachine.ts";
export {
  durable,
  effect,
  effectAction,
  machineFromInput,
  NotApplied,
  RetryableError,
  TerminalError,
  visited,
  type EffectOptions,
  type NodeFailure,
  type NodeInput,
  type NodeOutput,
  type RetryPolicy,
} from "./define.ts";
export { effectMachine, EffectEvent, type EffectContext } from "./effectMachine.ts";
export { agentStepNode, assistantMessageNode, chooseNode } from "./nodes/agentNode.ts";
export type { AgentNodeContext } from "./nodes/agentTurns.ts";
export { AgentEvent, type SubmitAnswer } from "./contracts/agent.ts";
export { batchNode, type BatchNodeContext, type BatchNodeInput } from "./nodes/batchNode.ts";
export { checkpointNode, CheckpointAnswered, type CheckpointNodeContext } from "./nodes/checkpointNode.ts";
export { includeNode, type IncludeNodeContext, type IncludeNodeInput } from "./nodes/includeNode.ts";
export { waitNode, type WaitNodeContext, type WaitNodeInput } from "./nodes/waitNode.ts";
export { humanDecisionNode, type HumanDecisionNodeContext } from "./nodes/humanDecisionNode.ts";
export { runMachine, RunCommand, RunFact, type RunContext, type RunEnd, type RunInput } from "./runMachine.ts";

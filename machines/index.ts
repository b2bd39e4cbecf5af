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
export { humanDecisionNode, type HumanDecisionNodeContext } from "./nodes/humanDecisionNode.ts";
export { runMachine, RunCommand, RunFact, type RunContext, type RunEnd, type RunInput } from "./runMachine.ts";

/** All that a workflow file imports from "pawl". src/index.ts exports the same, and the loader hands it to workflow files. */
export {
  durable,
  NotApplied,
  RetryableError,
  TerminalError,
  volatileAction,
  type DurableOptions,
  type DurableTask,
  type Observation,
  type RetryPolicy,
} from "../../machines/define.ts";
export { planPresentation } from "../../machines/contracts/planPresentation.ts";
export type { DecisionBlock, DecisionPresentation, PresentationInput } from "../../machines/contracts/presentation.ts";
export { isPawlError, PawlError, type PawlErrorCode } from "../errors.ts";
export { workflow, type WorkflowBuilder, type WorkflowOptions } from "./builder.ts";
export { choices, text, type Choice, type ChoiceResponse, type Choices } from "./choices.ts";
export type { CallbackContext, Failure, NodeResult } from "./context.ts";
export type { WorkflowDefinition as Workflow } from "./definition.ts";
export {
  agent,
  assistantMessage,
  choose,
  type AgentOptions,
  type AnyOutput,
  type AssistantAnswer,
  type AssistantMessageOptions,
  type Chosen,
  type ChooseOption,
  type ChooseOptions,
} from "./nodes/agent.ts";
export { action, type ActionOptions } from "./nodes/action.ts";
export { compute, type ComputeOptions } from "./nodes/compute.ts";
export { humanDecision, type DecisionRequestParts, type DecisionTimeout, type HumanDecisionOptions } from "./nodes/humanDecision.ts";
export { machineWorkflow, type MachineWorkflowOptions } from "./machineWorkflow.ts";
export { defineNode, machineNode, type ContractOptions, type MachineNodeOptions, type NodeContract } from "./nodes/machine.ts";
export type { NodeDefinition } from "./nodes/node.ts";
export { notify, type Notification, type NotifyOptions } from "./nodes/notify.ts";
export type { Publishing } from "./publishing.ts";
export type { Progress, ProgressRequest } from "../../machines/contracts/progress.ts";
export type { UpdateReceipt, UpdateRequest } from "../../machines/contracts/update.ts";
export { shell, type ShellOptions, type ShellResult } from "./nodes/shell.ts";
export { batch, type BatchCommand, type BatchOptions, type BatchResult } from "./nodes/batch.ts";
export { checkpoint, type CheckpointOptions } from "./nodes/checkpoint.ts";
export { include, type IncludeOptions } from "./nodes/include.ts";
export { wait, type WaitOptions, type WaitOutput } from "./nodes/wait.ts";
export type { Exit } from "./routes.ts";

/** All that a workflow file imports from "pawl". src/index.ts exports the same, and the loader hands it to workflow files. */
export { NotApplied, RetryableError, TerminalError, type RetryPolicy } from "../../machines/define.ts";
export { planPresentation } from "../../machines/contracts/planPresentation.ts";
export type { DecisionBlock, DecisionPresentation, PresentationInput } from "../../machines/contracts/presentation.ts";
export { isPawlError, PawlError, type PawlErrorCode } from "../errors.ts";
export { workflow, type WorkflowBuilder, type WorkflowOptions } from "./builder.ts";
export { choices, text, type Choice, type ChoiceResponse, type Choices } from "./choices.ts";
export type { CallbackContext, Failure, NodeResult } from "./context.ts";
export type { WorkflowDefinition as Workflow } from "./definition.ts";
export { action, type ActionOptions } from "./nodes/action.ts";
export { compute, type ComputeOptions } from "./nodes/compute.ts";
export { humanDecision, type DecisionRequestParts, type DecisionTimeout, type HumanDecisionOptions } from "./nodes/humanDecision.ts";
export type { NodeDefinition } from "./nodes/node.ts";
export { shell, type ShellOptions, type ShellResult } from "./nodes/shell.ts";
export type { Exit } from "./routes.ts";

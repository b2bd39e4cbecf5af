/** The public API of Pawl. */

// Author: what workflow files import.
export * from "./workflow/authoring.ts";

// Operator: opening a state directory, starting, answering, watching.
export { openEmbedded, openReader, type EmbeddedOptions } from "./host/embedded.ts";
export type { AnswerRequest, AnswerResult, DecisionView, EffectView, EmbeddedHost, RunEvent, RunView, StateReader, VisitView } from "./host/api.ts";

// Expert: machines of your own on the runtime itself.
export { durable, effect, effectAction, type EffectOptions } from "../machines/define.ts";
export { createRuntime } from "./runtime/createRuntime.ts";
export { createRegistry, defineMachine, type DefinitionExtras } from "./runtime/registry.ts";
export type { ActorView, AppliedEvent, Definition, DefinitionRegistry } from "./runtime/definition.ts";
export type { AbortReason, EffectOutcome, EffectTask, Executor, Executors } from "./runtime/executor.ts";
export type { Change, Receipt, Runtime, RuntimeOptions, SendOptions } from "./runtime/runtime.ts";
export { systemClock, type Clock } from "./runtime/clock.ts";

/** The public API of Pawl. */

// Author: what workflow files import.
export * from "./workflow/authoring.ts";

// Operator: opening a state directory, starting, answering, watching.
export type { AgentExecutor, AgentStep, AgentTurn, AgentTurnEnd } from "./host/agents/agentExecutor.ts";
export type { SubmitAnswer } from "../machines/contracts/agent.ts";
export { openEmbedded, openReader, type EmbeddedOptions } from "./host/embedded.ts";
export { connectHost as connect, type ConnectOptions } from "./client/connectHost.ts";
export type { HostClient } from "./client/hostClient.ts";
export type {
  AnswerRequest,
  AnswerResult,
  AwaitedView,
  CheckpointAnswer,
  CheckpointResult,
  DecisionView,
  EffectView,
  EmbeddedHost,
  ProgressView,
  RunEvent,
  RunView,
  StateReader,
  UpdateView,
  VisitView,
} from "./host/api.ts";

// Library: machines of your own, durable in your process. An effect's policy and errors come with them.
export { openPawl, type OpenPawlOptions } from "./openPawl.ts";
export { executor } from "./library/executor.ts";
export type { Inspect } from "./library/inspection.ts";
export type { MachineEntry } from "./library/machines.ts";
export type { Pawl } from "./library/pawl.ts";
export type { ActorFilter, ActorSnapshot, EffectFacts, EffectFilter, PawlChange, Ref, Target } from "./library/types.ts";
export { actorRef } from "../machines/actorRef.ts";
export {
  durable,
  effect,
  effectAction,
  volatileAction,
  type DurableOptions,
  type DurableTask,
  type EffectOptions,
  type Observation,
} from "../machines/define.ts";
export type { ContextSchema, Migration, PersistedActor, PersistedChild } from "./runtime/definition.ts";
export type { Fault, Receipt, SendOptions, WaitBounds } from "./runtime/runtime.ts";
export { systemClock, type Clock } from "./runtime/clock.ts";
export type { Page, PageRequest } from "../persistence/store.ts";

// Expert: the runtime itself.
export { createRuntime } from "./runtime/createRuntime.ts";
export { createRegistry, defineMachine, type DefinitionExtras } from "./runtime/registry.ts";
export { dryRun, type RestoreFinding } from "./runtime/dryRun.ts";
export { Replayer, type Replay } from "./runtime/replay.ts";
export type { ActorView, AppliedEvent, Definition, DefinitionRegistry } from "./runtime/definition.ts";
export type { AbortReason, EffectOutcome, EffectTask, Executor, Executors, ObservableExecutor, Observed, Observer, ObserveTask } from "./runtime/executor.ts";
export { commitFaults, type FaultHook, type FaultPoint } from "./runtime/faultPoints.ts";
export type { Change, Runtime, RuntimeOptions } from "./runtime/runtime.ts";

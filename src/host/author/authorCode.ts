/** Everything that the host asks of author code, as data in and data out, so that it may run in this process or in another one.
 *  Author code never gets a store: what it may read is handed over, and what it gives is checked by the host's own rules. */
import type { UpdateReceipt, UpdateRequest } from "../../../machines/contracts/update.ts";
import type { Failure } from "../../workflow/context.ts";
import type { Executed } from "../../workflow/execute.ts";
import type { Graph } from "../../workflow/graph.ts";
import type { PreparedNode } from "../../workflow/prepareNode.ts";
import type { ShellResult } from "../../workflow/nodes/shell.ts";
import type { ShellSpec } from "../../workflow/shellStep.ts";
import type { EffectOutcome, Observed } from "../../runtime/executor.ts";
import type { AuthorMachine, PromiseCall, StepAnswer, StepRequest } from "./authorMachine.ts";

/** A workflow file, or a name to find, that is about to be started. */
export interface LoadRequest {
  readonly workflow: string;
  /** Absolute directory that the run is started in. */
  readonly cwd: string;
  /** The user's home directory. */
  readonly userHome: string;
  /** What the schema is to take. */
  readonly input: unknown;
  /** Nothing is started: the input means nothing. */
  readonly isLook?: boolean;
}

/** What a launch stores. */
export interface LoadedSources {
  readonly name: string;
  readonly graph: Graph;
  readonly graphDigest: string;
  /** Graphs of the workflows that it includes. */
  readonly included: readonly Graph[];
  /** Digest of the source closure, which is the hash of the first blob. */
  readonly source: string;
  readonly blobs: readonly Uint8Array[];
}

/** A workflow in its stored sources. `cwd` is the project: the directory that its runs were started in. */
export interface StoredWorkflow {
  readonly source: string;
  readonly graph: string;
  readonly cwd: string;
}

/** The input of a run, or of a workflow that it includes, as JSON text: what it was started with, or what the schema made of that (`isParsed`). */
export interface StoredInput {
  readonly json: string;
  readonly isParsed: boolean;
  /** The visit that includes the workflow whose input it is; absent: the run's own. */
  readonly of?: string;
}

export interface StoredRun extends StoredWorkflow {
  readonly run: string;
  readonly input: StoredInput;
}

/** How the latest visit of a node ended. */
export type StoredResult =
  | { readonly status: "accepted"; readonly visit: string; readonly json: string }
  | { readonly status: "failed" | "timedOut"; readonly visit: string; readonly error: Failure };

/** One attempt of one visit. */
export interface VisitCall extends StoredRun {
  /** `sub/inner` for a node of the workflow that `sub` includes; input and results are then those of that workflow. */
  readonly node: string;
  /** The visit's id. */
  readonly visit: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** Epoch ms. */
  readonly now: number;
  /** By node, only those that have run. */
  readonly results: { readonly [node: string]: StoredResult };
}

/** Who waits for a call. */
export interface Watch {
  /** Aborted with an `AbortReason`. */
  readonly signal: AbortSignal;
  /** A line that the code printed. */
  report(line: string): void;
  /** A sign of life, where the code gives one. */
  heartbeat?(): void;
  /** What an action publishes; absent where nothing may be. It resolves when it is stored. */
  readonly update?: (update: UpdateRequest) => Promise<UpdateReceipt>;
}

/** What `prepare` found: the parsed input where that is JSON and differs from the given one. */
export type PreparedRun = { readonly input: unknown } | null;

/**
 * Runs author code. What it throws arrives as what it was: a PawlError with its code, path and subject, or an error with the name, reason,
 * code and `retryAfterMs` that the runtime reads. @throws Interrupted where the process that ran it was lost
 */
export interface AuthorCode {
  /** @throws unknownWorkflow, loadFailed, invalidWorkflow, invalidInput */
  load(request: LoadRequest): Promise<LoadedSources>;
  /** Whether the run's steps could be executed. @throws sourceUnloadable */
  ready(run: StoredRun): Promise<void>;
  /** Loads the stored sources and parses the input. @throws sourceUnloadable, invalidInput */
  prepare(run: StoredRun, watch: Watch): Promise<PreparedRun>;
  /** Runs a compute or action node. */
  execute(call: VisitCall, watch: Watch): Promise<Executed>;
  /** The command of a shell node. */
  shellSpec(call: VisitCall, watch: Watch): Promise<ShellSpec>;
  /** The output of a shell node whose command ended so. */
  parseShell(call: VisitCall, result: ShellResult, watch: Watch): Promise<Executed>;
  /** What a node with a life of its own begins with. */
  prepareNode(call: VisitCall, watch: Watch): Promise<PreparedNode>;
  /** What somebody else gave as a node's output (an agent, a person, a machine), against the node's schema and rules. */
  acceptNode(call: VisitCall, output: unknown, watch: Watch): Promise<Executed>;
  /** One step of a machine. At once where that can be. @throws what the machine throws, sourceUnloadable, stepLost */
  step(machine: AuthorMachine, request: StepRequest): StepAnswer | Promise<StepAnswer>;
  /** Runs a volatile action that a step has named, if it is there still. */
  perform(machine: AuthorMachine, name: string): Promise<void>;
  /** Runs a promise that a machine invokes. */
  promise(machine: AuthorMachine, call: PromiseCall, watch: Watch): Promise<EffectOutcome>;
  /** Whether an earlier attempt of it happened, by its own `observe`; null when it has none, or cannot tell. */
  observe(machine: AuthorMachine, call: PromiseCall, watch: Watch): Promise<Observed>;
  /** What a person confirms in place of a node's output, against the node's schema. */
  acceptOutput(workflow: StoredWorkflow, node: string, output: unknown): Promise<Executed>;
  /** Ends what is still running; nothing may be asked afterwards. */
  close(): Promise<void>;
}

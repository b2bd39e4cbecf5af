/** What the command line (and later every client) can ask of a state directory, and the views it gets. */
import type { DecisionChannelRequest } from "../../machines/contracts/decision.ts";
import type { DecisionSettlement } from "../../machines/contracts/settlement.ts";
import type { DecisionRow, DecisionState, EffectRecord, EffectState, Page, PageRequest, RunState } from "../../persistence/store.ts";

import type { DecisionCandidate } from "../../machines/decisionVerdicts.ts";
import type { DeliveryView } from "./channels/deliveryView.ts";
import type { UpdateView } from "./updates/updateView.ts";

export type { ProgressView, UpdateView } from "./updates/updateView.ts";

/** A run as lists show it: what does not grow with its history. Times in epoch ms. */
export interface RunSummary {
  readonly id: string;
  readonly workflow: string;
  readonly state: RunState;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | null;
  /** Closed reason and text when it ended otherwise or is blocked. */
  readonly reason: { readonly code: string; readonly message: string } | null;
  /** Since when it waits, is ambiguous or blocked; null otherwise. */
  readonly since: number | null;
  /** Since when it is paused, which stands beside any other state: the step that runs ends, and no other begins. */
  readonly pausedAt: number | null;
  /** Node that runs, waits or comes next, `sub/inner` in an included workflow; null before the start and after the end. */
  readonly current: string | null;
  /** What ends its waiting, where that is no decision. */
  readonly awaits: AwaitedView | null;
  readonly decisions: readonly DecisionView[];
  /** Effects with an unknown outcome. */
  readonly ambiguous: readonly EffectView[];
}

/** A moment that a run waits for, or a checkpoint that anybody may answer. `node` as people call it; times in epoch ms. */
export type AwaitedView =
  | { readonly kind: "time"; readonly visit: string; readonly node: string; readonly dueAt: number }
  | { readonly kind: "checkpoint"; readonly visit: string; readonly node: string; readonly title: string; readonly prompt: string };

/** A run as people and programs see it. */
export interface RunView extends RunSummary {
  readonly input: unknown;
  /** The end node's output; only when completed. */
  readonly result: unknown;
  /** In the order in which they were entered. */
  readonly visits: readonly VisitView[];
  /** What its steps published last, by type and key: the newest of those first published, at most 50. */
  readonly updates: readonly UpdateView[];
}

export interface VisitView {
  /** `<run>/graph/<node>.<n>`, and below it those of an included workflow: `<run>/graph/<node>.<n>/graph/<inner>.<m>`. */
  readonly id: string;
  /** As people call it: `sub/inner` in an included workflow. */
  readonly node: string;
  readonly kind: string;
  readonly status: "running" | "waiting" | "accepted" | "failed" | "timedOut" | "cancelled" | "ambiguous";
  readonly attempt: number;
  readonly case: string | null;
  readonly output: unknown;
  readonly error: { readonly reason: string; readonly message: string } | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export interface DecisionView extends DecisionRow {
  /** The stored request without its subject. */
  readonly request: DecisionChannelRequest;
  /** Where it is shown while it is open; null once it is settled. */
  readonly delivery: DeliveryView | null;
  /** How it ended, as every channel that shows it is told; null while it is open. */
  readonly settlement: DecisionSettlement | null;
}

/** Everybody and everything that tried to settle a decision. Private: it names who answered, and where. */
export interface DecisionAudit {
  readonly decision: string;
  readonly code: string;
  readonly title: string;
  readonly state: DecisionState;
  /** In the order in which they came. */
  readonly candidates: readonly DecisionCandidate[];
  /** Refused ones beyond those listed; the run's journal has them. */
  readonly unlisted: number;
}

export interface EffectView {
  readonly key: string;
  readonly visit: string | null;
  readonly type: string;
  readonly run: string;
  readonly state: EffectState;
  readonly attempt: number;
  readonly once: boolean;
  readonly error: EffectRecord["error"];
  readonly ambiguousSince: number | null;
  readonly createdAt: number;
}

export interface AnswerRequest {
  /** Short code (case and look-alikes forgiven) or full decision id. */
  readonly decision: string;
  readonly choice: string;
  readonly text?: string | undefined;
  /** Repeats with the same key get the same answer. */
  readonly idempotencyKey?: string | undefined;
  /** Digest and revision of the request that was shown: an answer to another one is stale. */
  readonly requestDigest?: string | undefined;
  readonly revision?: number | undefined;
  /** Who answers: proof that a person did is the surface's duty (SPEC 7). */
  readonly source: { readonly kind: "human" | "model" | "program"; readonly channel: string; readonly actor: string };
}

export interface AnswerResult {
  readonly status: "accepted" | "duplicate" | "refused";
  /** Closed code of a refusal: `alreadyDecided`, `invalid`, `stale`, `expired`, … */
  readonly code: string | null;
  /** What happened, for a person. */
  readonly message: string;
  readonly decision: DecisionView | null;
}

/** An answer to the checkpoint that a run waits at. */
export interface CheckpointAnswer {
  /** Full id, or a unique ending of one. */
  readonly run: string;
  /** The very visit that is answered; the one that waits, or was answered under this key, when left out. */
  readonly visit?: string | undefined;
  /** At most 1 MiB of JSON. */
  readonly output: unknown;
  /** Repeats with the same key get the same answer. */
  readonly idempotencyKey?: string | undefined;
  readonly source: AnswerRequest["source"];
}

export interface CheckpointResult {
  readonly status: "accepted" | "duplicate" | "refused";
  /** Closed code of a refusal: `alreadyAnswered`, `keyReused`, `cancelled`, `refused`. */
  readonly code: string | null;
  /** What happened, for a person. */
  readonly message: string;
  readonly visit: string;
}

/** What happens while a run is driven, for live progress. Sent after commit. */
export type RunEvent =
  | { readonly kind: "run"; readonly run: string; readonly state: RunState; readonly at: number }
  | {
      readonly kind: "visit";
      readonly run: string;
      readonly visit: string;
      readonly node: string;
      readonly nodeKind: string;
      readonly status: VisitView["status"];
      readonly attempt: number;
      readonly at: number;
    }
  | { readonly kind: "line"; readonly run: string; readonly visit: string; readonly node: string; readonly text: string; readonly at: number }
  /** What a step published, at most so often as it could be stored. */
  | { readonly kind: "update"; readonly run: string; readonly update: UpdateView; readonly at: number }
  /** What a notify node tells; each one once. */
  | {
      readonly kind: "notification";
      readonly run: string;
      readonly visit: string;
      readonly node: string;
      readonly as: "progress" | "final";
      readonly text: string;
      readonly at: number;
    }
  | { readonly kind: "decision"; readonly run: string; readonly decision: string; readonly state: DecisionState; readonly at: number };

/** Reads: open beside an owner too. */
export interface StateReader {
  /** `decisions` of a listed run are its open ones. */
  runs(filter?: { state?: readonly RunState[]; workflow?: string }, page?: PageRequest): Promise<Page<RunSummary>>;
  /** Full id, or the end of one that fits a single run. @throws unknownRun with the closest ids. */
  run(id: string): Promise<RunView>;
  decisions(filter?: { run?: string; state?: readonly DecisionState[] }, page?: PageRequest): Promise<Page<DecisionView>>;
  /** By code or id. @throws unknownDecision; a mistyped code is never guessed, the message says "did you mean". */
  decision(codeOrId: string): Promise<DecisionView>;
  /** By code or id. @throws unknownDecision */
  audit(codeOrId: string): Promise<DecisionAudit>;
  effects(filter?: { run?: string; state?: readonly EffectState[] }, page?: PageRequest): Promise<Page<EffectView>>;
  /** @throws unknownEffect */
  effect(key: string): Promise<EffectView>;
  /** What the steps of a run published last, by type and key: at most 50 a page. */
  updates(filter: { run: string }, page?: PageRequest): Promise<Page<UpdateView>>;
  close(): Promise<void>;
}

/** The owner's side: everything of the reader, and changes. One per state directory. */
export interface EmbeddedHost extends StateReader {
  /** Saves the run as queued with its sources and input, and returns its final id. `workflow`: a file, or a name to find. @throws invalidInput with the path, loadFailed with file and line. */
  start(request: {
    workflow: string;
    input: unknown;
    cwd: string;
    idempotencyKey?: string;
    session?: string;
    /** The id that the run gets unless a key makes it: asking again under it gives the same run. */
    id?: string;
  }): Promise<{ readonly id: string; readonly duplicate: boolean }>;
  /** Lets the run go on until it parks or ends; returns where it stands. Interrupting by the signal leaves it safe. */
  drive(id: string, options?: { signal?: AbortSignal }): Promise<RunView>;
  answer(request: AnswerRequest): Promise<AnswerResult>;
  /** @throws refused when the run waits at no checkpoint; invalidInput with the path for an answer that does not fit, and the run stays parked */
  answerCheckpoint(request: CheckpointAnswer): Promise<CheckpointResult>;
  cancel(id: string, by: "user" | "agent"): Promise<RunView>;
  /** The step that runs ends and is saved; no other begins. What is asked again under the same key, here and below, is done once. A finished run, and one that is paused, stay as they are. */
  pause(id: string, key?: string): Promise<RunView>;
  /** Ends a pause or a hold, and tries again what blocks the run; does not drive it. What is not held up stays as it is. */
  resume(id: string, key?: string): Promise<RunView>;
  /** The person took the conversation back: nothing is asked of it any more until the run is resumed. @throws refused for a run without a session, and in states that have no conversation */
  hold(id: string, key?: string): Promise<RunView>;
  /** Moves an unfinished run to another session. @throws refused while that session has another run */
  adoptRun(id: string, session: string, key?: string): Promise<RunView>;
  confirmEffect(key: string, output: unknown): Promise<EffectView>;
  retryEffect(key: string): Promise<EffectView>;
  subscribe(listener: (event: RunEvent) => void): () => void;
}

export interface OpenOptions {
  /** State directory, absolute. */
  readonly home: string;
}

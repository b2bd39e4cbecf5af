/** What an effect's executor is given and must return. Executors do the outside work: after commit, never inside a transition. */
import type { EffectError, ProcessRecord, StoredValue } from "../../persistence/store.ts";

/** One attempt of one effect. */
export interface EffectTask {
  /** `<actor>@<revision>:<n>`. */
  readonly key: string;
  readonly actor: string;
  readonly root: string;
  readonly type: string;
  readonly visit: string | null;
  /** The same over all attempts: hand it to outside systems. */
  readonly idempotencyKey: string;
  /** 1, and one more for each time an interrupted or failed execution runs again. */
  readonly attempt: number;
  readonly once: boolean;
  readonly input: unknown;
  /** Aborted by cancel, timeout, silence and shutdown; `signal.reason` says which (`AbortReason`). */
  readonly signal: AbortSignal;
  /** The runtime's clock, epoch ms. */
  now(): number;
  /** Process group of an earlier attempt that may still be alive: end it before working. */
  readonly leftover: ProcessRecord | null;
  /** Saves the process group of this attempt; resolves when it is committed. */
  saveProcess(process: ProcessRecord): Promise<void>;
  /** Live output for whoever watches (never stored): lines of a shell step, notes of an action. A sign of life too. */
  report(line: string): void;
  /** A sign of life, for effects whose policy asks for one (`heartbeatMs`). */
  heartbeat(): void;
}

/** `silent`: it gave no sign of life within its `heartbeatMs`. */
export type AbortReason = "cancelled" | "timedOut" | "silent" | "shutdown";

/** `output` goes into the event (`event.output`); `value`, when present, is kept in the effect row only and read by visit. */
export interface EffectOutcome {
  readonly output: unknown;
  readonly value?: unknown;
}

/**
 * Runs one attempt. A throw is a failure: `RetryableError` and `TerminalError` (machines/define.ts) say what may follow,
 * `NotApplied` that nothing happened outside, `EffectFailure` gives a closed reason; `Interrupted` that nobody knows how far it came.
 */
export type Executor = (task: EffectTask) => Promise<EffectOutcome>;

/** What an observer is told: the attempt that is asked about, under the same key. */
export type ObserveTask = Pick<EffectTask, "key" | "actor" | "root" | "type" | "visit" | "idempotencyKey" | "attempt" | "once" | "input" | "signal" | "now">;

/** What became of an attempt, as the outside shows it; null when that cannot be told. `happened: false`: it did not, and will not any more. */
export type Observed = ({ readonly happened: true } & EffectOutcome) | { readonly happened: false } | null;

/** Asks the outside and changes nothing there, within 30 s. A throw counts as "cannot be told". */
export type Observer = (task: ObserveTask) => Promise<Observed>;

/** An executor whose work can be looked for outside: done before an attempt is repeated, or given up as failed or ambiguous. */
export interface ObservableExecutor {
  readonly run: Executor;
  readonly observe: Observer;
}

/** Executors by effect type. */
export type Executors = { readonly [type: string]: Executor | ObservableExecutor };

/** A failure with a closed reason (SPEC 5) that routes and reports match on. */
export class EffectFailure extends Error {
  override readonly name = "EffectFailure";
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The process that did the work was lost: the attempt is interrupted, and counts as such. `message` says how the process ended. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly reason = "workerCrashed";
  /** False: there was no process to be had, and so nothing happened. It is tried again later, and counts for nothing. */
  readonly hasBegun: boolean;
  constructor(message: string, { hasBegun = true }: { readonly hasBegun?: boolean } = {}) {
    super(message);
    this.hasBegun = hasBegun;
  }
}

/** A stored value and what it holds, for readers of rows. */
export interface ResolvedValue {
  readonly stored: StoredValue;
  readonly value: unknown;
}

export type { EffectError };

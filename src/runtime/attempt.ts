/** One attempt of one effect: calls its executor within its limits, looks outside where that can prove something, and says what the row is to be told. */
import type { EffectError, EffectRecord, ProcessRecord } from "../../persistence/store.ts";
import type { RetryPolicy } from "../../machines/define.ts";
import type { EffectEvent } from "../../machines/effectMachine.ts";
import { isPawlError, messageOf } from "../errors.ts";
import { jsonText } from "../json.ts";
import type { Clock } from "./clock.ts";
import { policyOf } from "./effectRow.ts";
import { Interrupted, type AbortReason, type EffectOutcome, type EffectTask, type ObservableExecutor, type Observed } from "./executor.ts";
import type { FaultHook } from "./faultPoints.ts";

/** An event of the row; who settles it adds whether the actor still waits. */
export type RowEvent =
  | Exclude<EffectEvent, { type: "effect.observed" }>
  | { readonly type: "effect.observed"; readonly attempt: number; readonly happened: boolean };

/** What a result brings besides the row's event. */
export interface Settlement {
  readonly event: RowEvent;
  readonly outcome?: EffectOutcome;
  readonly error?: EffectError;
  /** Earliest time of the next attempt, when there is one. */
  readonly notBefore?: number;
}

export interface AttemptHost {
  readonly clock: Clock;
  readonly now: () => number;
  /** From 0 up to 1: what shortens waits. */
  readonly random: () => number;
  readonly saveProcess: (key: string, attempt: number, process: ProcessRecord) => Promise<void>;
  readonly line: (record: EffectRecord, text: string) => void;
  readonly faults?: FaultHook | undefined;
}

/** What executes an effect; `observe` is absent when nobody can look. */
export type Execution = Pick<ObservableExecutor, "run"> & Partial<Pick<ObservableExecutor, "observe">>;

/** `controller` ends the work, `looking` the question whether it happened: a cancelled effect may still be looked for. */
export interface Aborts {
  readonly controller: AbortController;
  readonly looking: AbortController;
}

export interface AttemptEnd {
  readonly settlement: Settlement;
  /** The word of code that went on after it was given up; null when it said nothing that counts. Absent when nothing goes on. */
  readonly late?: Promise<Settlement | null>;
}

/** When an attempt is made again for which there was no process. */
const noProcessMs = 30_000;

/** Longest time that an observer is waited for. */
const observeLimitMs = 30_000;

/** Calls the executor. Never rejects for what the executor does. */
export async function runAttempt(
  record: EffectRecord,
  input: unknown,
  execution: Execution,
  { controller, looking }: Aborts,
  host: AttemptHost,
): Promise<AttemptEnd> {
  const { attempt, once } = record;
  const { signal } = controller;
  host.faults?.("before-effect", record.key);
  const guard = new Limits(record, controller, host);
  const work = Promise.resolve().then(() => execution.run(taskOf(record, input, signal, guard, host)));
  const end = await ended(work, signal);
  guard.stop();
  host.faults?.("after-effect", record.key);
  if (end.kind === "returned") {
    try {
      return { settlement: { event: { type: "effect.succeeded", attempt }, outcome: checked(end.outcome, record) } };
    } catch (error) {
      return { settlement: failure(record, error, signal, host) };
    }
  }
  const error = end.kind === "threw" ? end.error : undefined;
  const settlement = failure(record, error, signal, host);
  const canProve = isNotApplied(error) ? false : isLast(record, settlement.event);
  const proven = canProve
    ? prove(record, settlement, await observe(record, input, execution, looking.signal, host), end.kind === "threw", host.now())
    : settlement;
  return end.kind === "givenUp" && once ? { settlement: proven, late: lateWord(record, work) } : { settlement: proven };
}

/** Asks the outside what became of an attempt; null when nobody can tell. */
export async function observe(
  record: EffectRecord,
  input: unknown,
  execution: Execution,
  signal: AbortSignal,
  host: Pick<AttemptHost, "clock" | "now">,
): Promise<Observed> {
  if (!execution.observe) return null;
  const { key, actor, root, type, visit, idempotencyKey, attempt, once } = record;
  const limit = new AbortController();
  const cancel = host.clock.schedule(host.clock.now() + observeLimitMs, () => limit.abort("timedOut" satisfies AbortReason));
  const either = AbortSignal.any([signal, limit.signal]);
  try {
    const looking = execution.observe({ key, actor, root, type, visit, idempotencyKey, attempt, once, input, signal: either, now: host.now });
    const seen = await Promise.race([looking, aborted(either)]);
    return seen?.happened === true ? { happened: true, ...checked(seen, record) } : seen;
  } catch {
    // It cannot be told: the effect stays as unproven as it was, and its row says so.
    return null;
  } finally {
    cancel();
  }
}

/** What an observation makes of an attempt that is not known to have ended; null when it proves nothing. */
export function observation(record: EffectRecord, seen: Observed, now: number): Settlement | null {
  if (seen === null) return null;
  const { attempt } = record;
  if (!seen.happened) return { event: { type: "effect.observed", attempt, happened: false }, notBefore: now };
  const { happened, ...outcome } = seen;
  return { event: { type: "effect.observed", attempt, happened }, outcome };
}

/** Whether the effect would now be given up as failed or ambiguous: the moment to look outside. */
function isLast(record: EffectRecord, event: RowEvent): boolean {
  if (event.type === "effect.unproven") return true;
  if (event.type === "effect.interrupted") return record.once;
  return event.type === "effect.failed" && !triesAgain(record, event);
}

/** That it did not happen counts only when its code has ended. */
function prove(record: EffectRecord, settlement: Settlement, seen: Observed, hasEnded: boolean, now: number): Settlement {
  if (seen?.happened === true) return observation(record, seen, now) ?? settlement;
  const { event } = settlement;
  return seen?.happened === false && hasEnded && event.type === "effect.unproven" ? { ...settlement, event: { ...event, type: "effect.failed" } } : settlement;
}

const triesAgain = (record: EffectRecord, event: { readonly mayRetry: boolean }): boolean =>
  event.mayRetry && record.attempt < (policyOf(record).retry?.maxAttempts ?? 1);

type End = { readonly kind: "returned"; readonly outcome: EffectOutcome } | { readonly kind: "threw"; readonly error: unknown } | { readonly kind: "givenUp" };

/** A timed-out or silent attempt ends even when its code does not heed the signal; a cancelled or stopped one is waited for, so that its processes end. */
function ended(work: Promise<EffectOutcome>, signal: AbortSignal): Promise<End> {
  return new Promise((resolve) => {
    const giveUp = (): void => {
      // One turn of the loop lets code that heeds its signal say how it ended.
      if (signal.reason === "timedOut" || signal.reason === "silent") setImmediate(() => resolve({ kind: "givenUp" }));
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    work.then(
      (outcome) => resolve({ kind: "returned", outcome }),
      (error: unknown) => resolve({ kind: "threw", error }),
    );
  });
}

/** Only a result, or the word that nothing was done, counts for an attempt that was given up. */
const lateWord = (record: EffectRecord, work: Promise<EffectOutcome>): Promise<Settlement | null> =>
  work.then(
    (outcome): Settlement => ({ event: { type: "effect.succeeded", attempt: record.attempt }, outcome: checked(outcome, record) }),
    (error: unknown): Settlement | null =>
      isNotApplied(error) ? { event: { type: "effect.failed", attempt: record.attempt, mayRetry: false }, error: describe(error) } : null,
  );

const aborted = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener("abort", () => resolve(null), { once: true });
  });

/** The time limit and the sign of life that an attempt's policy asks for. */
class Limits {
  private readonly stops: (() => void)[] = [];
  private lastSign: number;
  private readonly clock: Clock;
  private readonly controller: AbortController;

  constructor(record: EffectRecord, controller: AbortController, { clock }: AttemptHost) {
    const { timeoutMs, heartbeatMs } = policyOf(record);
    this.clock = clock;
    this.controller = controller;
    this.lastSign = clock.now();
    if (timeoutMs !== null) this.stops.push(clock.schedule(clock.now() + timeoutMs, () => controller.abort("timedOut" satisfies AbortReason)));
    if (heartbeatMs !== undefined) this.listen(heartbeatMs, this.stops.push(() => {}) - 1);
  }

  sign(): void {
    this.lastSign = this.clock.now();
  }

  stop(): void {
    for (const stop of this.stops) stop();
  }

  /** One call of the clock at a time, however often a sign comes. */
  private listen(heartbeatMs: number, place: number): void {
    this.stops[place] = this.clock.schedule(this.lastSign + heartbeatMs, () => {
      if (this.clock.now() - this.lastSign < heartbeatMs) this.listen(heartbeatMs, place);
      else this.controller.abort("silent" satisfies AbortReason);
    });
  }
}

function taskOf(record: EffectRecord, input: unknown, signal: AbortSignal, limits: Limits, host: AttemptHost): EffectTask {
  const { key, actor, root, type, visit, idempotencyKey, attempt, once } = record;
  return {
    key,
    actor,
    root,
    type,
    visit,
    idempotencyKey,
    attempt,
    once,
    input,
    signal,
    now: host.now,
    leftover: record.process,
    saveProcess: (process) => host.saveProcess(key, attempt, process),
    report: (line) => {
      limits.sign();
      host.line(record, line);
    },
    heartbeat: () => limits.sign(),
  };
}

function checked(outcome: EffectOutcome, record: EffectRecord): EffectOutcome {
  jsonText(outcome.output, `output of "${record.invokeId ?? record.type}" in actor "${record.actor}"`);
  if ("value" in outcome) jsonText(outcome.value, `output of "${record.visit ?? record.key}"`);
  return outcome;
}

const isNotApplied = (error: unknown): boolean => error instanceof Error && error.name === "NotApplied";

function failure(record: EffectRecord, error: unknown, signal: AbortSignal, host: AttemptHost): Settlement {
  const { attempt, once } = record;
  const { retry, timeoutMs, heartbeatMs } = policyOf(record);
  const reason = signal.aborted ? (signal.reason as AbortReason) : null; // only the runtime aborts it, with one of these
  const now = host.now();
  if (reason === "shutdown") {
    // Said not to have happened: it begins anew, also when it must not run twice.
    if (once && isNotApplied(error)) return { event: { type: "effect.observed", attempt, happened: false }, notBefore: now };
    return { event: { type: "effect.released", attempt }, notBefore: now };
  }
  if (reason === "silent")
    return {
      event: { type: "effect.interrupted", attempt },
      error: { reason: "workerCrashed", message: `It gave no sign of life for ${String(heartbeatMs)} ms.` },
    };
  // A lost process proves nothing, as the silent one above; a limit that ran out before says more.
  if (error instanceof Interrupted && reason === null) return interruption(record, error, now);
  const description = reason === "timedOut" ? { reason: "nodeTimedOut", message: `It took longer than ${String(timeoutMs)} ms.` } : describe(error);
  const mayRetry =
    retry !== null && reason !== "timedOut" && !(error instanceof Error && error.name === "TerminalError") && description.reason !== "invalidOutput";
  const type = once && !isNotApplied(error) ? "effect.unproven" : "effect.failed";
  return { event: { type, attempt, mayRetry }, error: description, ...(retry ? { notBefore: now + backoffMs(retry, attempt, error, host.random) } : {}) };
}

/** Nothing happened where there was no process: a `once` effect is then as one that was not made. */
function interruption({ attempt, once }: EffectRecord, error: Interrupted, now: number): Settlement {
  if (error.hasBegun) return { event: { type: "effect.interrupted", attempt }, error: describe(error) };
  const event: RowEvent = once ? { type: "effect.observed", attempt, happened: false } : { type: "effect.released", attempt };
  return { event, error: describe(error), notBefore: now + noProcessMs };
}

/** An error as the row keeps it. */
export function describe(error: unknown): EffectError {
  if (isPawlError(error)) return { reason: error.code === "invalidValue" ? "invalidOutput" : "effectFailed", message: messageOf(error) };
  const reason =
    error instanceof Error && "reason" in error && typeof error.reason === "string"
      ? error.reason
      : error instanceof Error && error.name === "TerminalError" && "code" in error
        ? String(error.code)
        : "effectFailed";
  return { reason: messageOf(reason), message: messageOf(error) };
}

/** Exponential with jitter; a provider's own wait wins. */
export function backoffMs(retry: RetryPolicy, attempt: number, error: unknown, random: () => number): number {
  if (
    error instanceof Error &&
    "retryAfterMs" in error &&
    typeof error.retryAfterMs === "number" &&
    error.retryAfterMs >= 0 &&
    Number.isFinite(error.retryAfterMs)
  )
    return Math.ceil(error.retryAfterMs);
  const full = Math.min(retry.initialMs * (retry.factor ?? 2) ** (attempt - 1), retry.maxMs ?? 60_000);
  return Math.round(full * (0.5 + random() / 2));
}

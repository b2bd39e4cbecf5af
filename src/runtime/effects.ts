/** Runs planned effects after their commit and brings their results back as events of the effect's row. */
import type { EffectError, EffectRecord, ProcessRecord } from "../../persistence/store.ts";
import { NotApplied, type RetryPolicy } from "../../machines/define.ts";
import type { EffectEvent } from "../../machines/effectMachine.ts";
import { isPawlError, messageOf } from "../errors.ts";
import { jsonText } from "../json.ts";
import { systemClock, type Clock } from "./clock.ts";
import { policyOf } from "./effectRow.ts";
import type { AbortReason, EffectOutcome, EffectTask, Executor } from "./executor.ts";

/** What a result brings besides the row's event. */
export interface Settlement {
  readonly event: EffectEvent;
  readonly outcome?: EffectOutcome;
  readonly error?: EffectError;
  /** Earliest time of the next attempt, when there is one. */
  readonly notBefore?: number;
}

export interface EffectRunnerOptions {
  readonly clock: Clock;
  readonly now: () => number;
  /** What executes this effect; undefined: nothing is registered. */
  readonly executorOf: (record: EffectRecord) => Promise<Executor | undefined>;
  readonly inputOf: (record: EffectRecord) => Promise<unknown>;
  /** Commits the row's event; null: the row refused it (an older attempt, or nobody wants it). */
  readonly settle: (key: string, settlement: Settlement) => Promise<EffectRecord | null>;
  /** Commits that the attempt begins now (`notBefore` cleared, or `attempting` for `once`); null: it must not. */
  readonly begin: (record: EffectRecord) => Promise<EffectRecord | null>;
  readonly saveProcess: (key: string, attempt: number, process: ProcessRecord) => Promise<void>;
  readonly line: (record: EffectRecord, text: string) => void;
  readonly onError: (error: unknown) => void;
  /** Runs at once at most. */
  readonly concurrency?: number;
}

interface Running {
  readonly root: string;
  readonly attempt: number;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** How long a graceful stop waits for executors that do not heed their signal. */
const shutdownGraceMs = 2500;

export class EffectRunner {
  private readonly options: EffectRunnerOptions;
  private readonly running = new Map<string, Running>();
  private readonly delayed = new Map<string, { readonly root: string; readonly cancel: () => void }>();
  private readonly backlog: EffectRecord[] = [];
  private closing = false;
  private idleWaiters: (() => void)[] = [];

  constructor(options: EffectRunnerOptions) {
    this.options = options;
  }

  /** Begins an attempt now, or when it may. */
  start(record: EffectRecord): void {
    if (this.closing || this.running.get(record.key)?.attempt === record.attempt || this.delayed.has(record.key)) return;
    if (record.notBefore !== null && record.notBefore > this.options.now()) {
      const cancel = this.options.clock.schedule(record.notBefore, () => {
        this.delayed.delete(record.key);
        this.launch(record);
      });
      this.delayed.set(record.key, { root: record.root, cancel });
      return;
    }
    this.launch(record);
  }

  /** Ends an attempt whose result is no longer wanted. */
  abort(key: string, reason: AbortReason): void {
    this.delayed.get(key)?.cancel();
    this.delayed.delete(key);
    this.running.get(key)?.controller.abort(reason);
  }

  get isIdle(): boolean {
    return this.running.size === 0 && this.backlog.length === 0;
  }

  /** Resolves when nothing runs; retries that wait for their time do not count. */
  async idle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.idleWaiters.push(resolve));
  }

  /** Aborts all (`shutdown`) and waits for them, a bounded time. */
  async close(): Promise<void> {
    this.closing = true;
    await this.stop(() => true);
  }

  /** Aborts those of one actor tree (`shutdown`) and waits for them, a bounded time. */
  async release(root: string): Promise<void> {
    await this.stop((of) => of === root);
  }

  private async stop(concerns: (root: string) => boolean): Promise<void> {
    const kept = this.backlog.filter((record) => !concerns(record.root));
    this.backlog.splice(0, this.backlog.length, ...kept);
    for (const [key, { root, cancel }] of this.delayed) {
      if (!concerns(root)) continue;
      cancel();
      this.delayed.delete(key);
    }
    const all = [...this.running.values()].filter(({ root }) => concerns(root));
    for (const { controller } of all) controller.abort("shutdown" satisfies AbortReason);
    let cancel: (() => void) | undefined;
    const grace = new Promise<void>((resolve) => {
      cancel = systemClock.schedule(Date.now() + shutdownGraceMs, resolve);
    });
    await Promise.race([Promise.all(all.map((running) => running.done)), grace]);
    cancel?.();
  }

  private launch(record: EffectRecord): void {
    if (this.closing) return;
    if (this.running.size >= (this.options.concurrency ?? 256)) {
      this.backlog.push(record);
      return;
    }
    const controller = new AbortController();
    const done = this.attempt(record, controller)
      .catch(this.options.onError)
      .finally(() => {
        if (this.running.get(record.key)?.controller === controller) this.running.delete(record.key);
        const next = this.backlog.shift();
        if (next) this.launch(next);
        if (!this.isIdle) return;
        const waiters = this.idleWaiters;
        this.idleWaiters = [];
        for (const wake of waiters) wake();
      });
    this.running.set(record.key, { root: record.root, attempt: record.attempt, controller, done });
  }

  private async attempt(planned: EffectRecord, controller: AbortController): Promise<void> {
    const record = planned.once || planned.notBefore !== null ? await this.options.begin(planned) : planned;
    if (!record) return;
    const settlement = await this.execute(record, controller);
    const after = await this.options.settle(record.key, settlement);
    // The process group of a finished attempt is gone, and a retry is a start of its own (the commit tells the runtime).
    void after;
  }

  private async execute(record: EffectRecord, controller: AbortController): Promise<Settlement> {
    const { attempt } = record;
    const policy = policyOf(record);
    const { signal } = controller;
    const stopTimeout = policy.timeoutMs === null ? undefined : this.options.clock.schedule(this.options.now() + policy.timeoutMs, () => controller.abort("timedOut" satisfies AbortReason));
    try {
      const executor = await this.options.executorOf(record);
      if (!executor) return { event: { type: "effect.failed", attempt, mayRetry: false }, error: { reason: "effectFailed", message: `Nothing executes effects of type "${record.type}". Give openPawl an executor of that name.` } };
      const input = await this.options.inputOf(record);
      const outcome = await untilTimeout(executor(this.taskOf(record, input, signal)), signal);
      return { event: { type: "effect.succeeded", attempt }, outcome: checked(outcome, record) };
    } catch (error) {
      return failure(record, error, signal, policy.retry, this.options.now());
    } finally {
      stopTimeout?.();
    }
  }

  private taskOf(record: EffectRecord, input: unknown, signal: AbortSignal): EffectTask {
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
      now: this.options.now,
      leftover: record.process,
      saveProcess: (process) => this.options.saveProcess(key, attempt, process),
      report: (line) => this.options.line(record, line),
    };
  }
}

/** A timed-out attempt ends even when its code does not heed the signal; a cancelled or stopped one is waited for, so that its processes end. */
function untilTimeout(work: Promise<EffectOutcome>, signal: AbortSignal): Promise<EffectOutcome> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => signal.reason === "timedOut" && reject(new Error("timed out")), { once: true });
    work.then(resolve, reject);
  });
}

function checked(outcome: EffectOutcome, record: EffectRecord): EffectOutcome {
  jsonText(outcome.output, `output of "${record.invokeId ?? record.type}" in actor "${record.actor}"`);
  if ("value" in outcome) jsonText(outcome.value, `output of "${record.visit ?? record.key}"`);
  return outcome;
}

function failure(record: EffectRecord, error: unknown, signal: AbortSignal, retry: RetryPolicy | null, now: number): Settlement {
  const { attempt, once } = record;
  const timedOut = signal.aborted && signal.reason === "timedOut";
  if (signal.aborted && signal.reason === "shutdown") return { event: { type: "effect.released" }, notBefore: now };
  const description = timedOut ? { reason: "nodeTimedOut", message: `It took longer than ${String(policyOf(record).timeoutMs)} ms.` } : describe(error);
  const isNotApplied = error instanceof NotApplied || (error instanceof Error && error.name === "NotApplied");
  const mayRetry = retry !== null && !timedOut && !(error instanceof Error && error.name === "TerminalError") && description.reason !== "invalidOutput";
  const type = once && !isNotApplied ? "effect.unproven" : "effect.failed";
  return { event: { type, attempt, mayRetry }, error: description, ...(retry ? { notBefore: now + backoffMs(retry, attempt, error) } : {}) };
}

function describe(error: unknown): EffectError {
  if (isPawlError(error)) return { reason: error.code === "invalidValue" ? "invalidOutput" : "effectFailed", message: bounded(error.message) };
  const reason = error instanceof Error && "reason" in error && typeof error.reason === "string" ? error.reason : error instanceof Error && error.name === "TerminalError" && "code" in error ? String(error.code) : "effectFailed";
  return { reason, message: bounded(messageOf(error)) };
}

/** SPEC 5: reasons carry at most 8,192 characters. */
const bounded = (text: string): string => (text.length > 8192 ? `${text.slice(0, 8150)} … (${text.length - 8150} more characters)` : text);

/** Exponential with jitter; a provider's own wait wins. */
function backoffMs(retry: RetryPolicy, attempt: number, error: unknown): number {
  if (error instanceof Error && "retryAfterMs" in error && typeof error.retryAfterMs === "number") return error.retryAfterMs;
  const full = Math.min(retry.initialMs * (retry.factor ?? 2) ** (attempt - 1), retry.maxMs ?? 60_000);
  return Math.round(full * (0.5 + Math.random() / 2));
}

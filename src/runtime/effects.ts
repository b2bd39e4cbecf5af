/** Runs planned effects after their commit and brings their results back as events of the effect's row. */
import type { EffectRecord, ProcessRecord } from "../../persistence/store.ts";
import { isPawlError, PawlError } from "../errors.ts";
import { describe, observation, observe, runAttempt, type Aborts, type AttemptHost, type Execution, type Settlement } from "./attempt.ts";
import { systemClock } from "./clock.ts";
import { policyOf } from "./effectRow.ts";
import type { AbortReason, Executors } from "./executor.ts";

export interface EffectRunnerOptions extends AttemptHost {
  /** What executes this effect; undefined: nothing is registered. */
  readonly executorOf: (record: EffectRecord) => Promise<Executors[string] | Execution | undefined>;
  readonly inputOf: (record: EffectRecord) => Promise<unknown>;
  /** Commits the row's event; null: the row refused it (an older attempt, or nobody wants it). */
  readonly settle: (key: string, settlement: Settlement) => Promise<EffectRecord | null>;
  /** Commits that the attempt begins now (`notBefore` cleared, or `attempting` for `once`); null: it must not. */
  readonly begin: (record: EffectRecord) => Promise<EffectRecord | null>;
  /** Ends what is left of a lost attempt's process group. */
  readonly endProcess: (process: ProcessRecord) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** Runs at once at most. */
  readonly concurrency: number;
}

interface Running extends Aborts {
  readonly root: string;
  readonly attempt: number;
  readonly done: Promise<void>;
}

/** Work that waits for a place among those that run. */
interface Waiting {
  readonly record: EffectRecord;
  /** An attempt that has not begun, but whose row may say that it has. */
  readonly isFresh: boolean;
  readonly work: (aborts: Aborts) => Promise<void>;
}

/** How long a graceful stop waits for executors that do not heed their signal. */
const shutdownGraceMs = 2500;

export class EffectRunner {
  private readonly options: EffectRunnerOptions;
  private readonly running = new Map<string, Running>();
  private readonly delayed = new Map<string, { readonly root: string; readonly cancel: () => void }>();
  /** By key, oldest first. */
  private readonly backlog = new Map<string, Waiting>();
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
        this.begin(record);
      });
      this.delayed.set(record.key, { root: record.root, cancel });
      return;
    }
    this.begin(record);
  }

  /** Takes up an attempt that an earlier owner left open: looks whether it happened where that can be told, else counts it as interrupted. */
  recover(record: EffectRecord): void {
    // This very process runs it: it was planned after its tree was adopted, or heeds no signal yet.
    if (this.running.has(record.key) || this.backlog.has(record.key)) return;
    this.launch({ record, isFresh: false, work: (aborts) => this.takeUp(record, aborts) });
  }

  /** Asks the outside what became of an ambiguous effect, and settles it when that can be told. @throws refused when it has no `observe` */
  async look(record: EffectRecord): Promise<void> {
    const execution = await this.executionOf(record);
    if (!execution?.observe)
      throw new PawlError(
        "refused",
        `Effect "${record.key}" of type "${record.type}" has no "observe", so nobody can look whether it happened. Confirm it or have it done again.`,
        { subject: record.key },
      );
    await new Promise<void>((resolve, reject) => {
      this.launch({ record, isFresh: false, work: (aborts) => this.lookWith(record, execution, aborts).then(() => resolve(), reject) });
      if (this.closing)
        reject(
          new PawlError("closed", `The runtime is closed: nobody looked whether effect "${record.key}" happened. Open it again.`, { subject: record.key }),
        );
    });
  }

  /** True when this effect can be looked for outside. */
  async isObservable(record: EffectRecord): Promise<boolean> {
    return (await this.executionOf(record))?.observe !== undefined;
  }

  /** Ends an attempt whose result is no longer wanted. */
  abort(key: string, reason: AbortReason): void {
    this.delayed.get(key)?.cancel();
    this.delayed.delete(key);
    this.backlog.delete(key);
    this.running.get(key)?.controller.abort(reason);
    this.wakeIfIdle();
  }

  get isIdle(): boolean {
    return this.running.size === 0 && this.backlog.size === 0;
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
    const fresh: EffectRecord[] = [];
    for (const [key, { record, isFresh }] of this.backlog) {
      if (!concerns(record.root)) continue;
      this.backlog.delete(key);
      if (isFresh) fresh.push(record);
    }
    for (const [key, { root, cancel }] of this.delayed) {
      if (!concerns(root)) continue;
      cancel();
      this.delayed.delete(key);
    }
    const all = [...this.running.values()].filter(({ root }) => concerns(root));
    for (const { controller, looking } of all) for (const each of [controller, looking]) each.abort("shutdown" satisfies AbortReason);
    let cancel: (() => void) | undefined;
    const grace = new Promise<void>((resolve) => {
      cancel = systemClock.schedule(Date.now() + shutdownGraceMs, resolve);
    });
    await Promise.race([Promise.all([...all.map((running) => running.done), ...fresh.map((record) => this.leave(record))]), grace]);
    cancel?.();
  }

  private begin(record: EffectRecord): void {
    this.launch({ record, isFresh: true, work: (aborts) => this.attempt(record, aborts) });
  }

  private launch(waiting: Waiting): void {
    if (this.closing) return;
    const { record, work } = waiting;
    if (this.running.size >= this.options.concurrency) {
      this.backlog.set(record.key, waiting);
      return;
    }
    const aborts: Aborts = { controller: new AbortController(), looking: new AbortController() };
    const done = work(aborts)
      .catch(this.options.onError)
      .finally(() => {
        if (this.running.get(record.key)?.controller === aborts.controller) this.running.delete(record.key);
        for (const [key, next] of this.backlog) {
          this.backlog.delete(key);
          this.launch(next);
          break;
        }
        this.wakeIfIdle();
      });
    this.running.set(record.key, { ...aborts, root: record.root, attempt: record.attempt, done });
  }

  private wakeIfIdle(): void {
    if (!this.isIdle) return;
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const wake of waiters) wake();
  }

  private async executionOf(record: EffectRecord): Promise<Execution | undefined> {
    const found = await this.options.executorOf(record);
    return typeof found === "function" ? { run: found } : found;
  }

  private async attempt(planned: EffectRecord, aborts: Aborts): Promise<void> {
    const { options } = this;
    const { key, attempt } = planned;
    const execution = await this.executionOf(planned);
    const input = await options.inputOf(planned);
    // Nobody can look for a first attempt; before any other it may turn out that an earlier one happened.
    if (attempt > 1 && execution?.observe) {
      const seen = await observe(planned, input, execution, AbortSignal.any([aborts.controller.signal, aborts.looking.signal]), options);
      const settlement = observation(planned, seen, options.now());
      if (seen?.happened === true && settlement) return void (await options.settle(key, settlement));
    }
    if (aborts.controller.signal.aborted) return this.leave(planned);
    const record = planned.once || planned.notBefore !== null ? await options.begin(planned) : planned;
    if (!record) return;
    if (!execution) {
      const message = `Nothing executes effects of type "${record.type}". Give openPawl an executor of that name.`;
      await options.settle(key, { event: { type: "effect.failed", attempt, mayRetry: false }, error: { reason: "effectFailed", message } });
      return;
    }
    const { settlement, late } = await runAttempt(record, input, execution, aborts, options);
    void late?.then((word) => (word && !this.closing ? options.settle(key, word) : null)).catch(options.onError);
    await this.conclude(record, settlement);
  }

  /** A result that cannot be stored as it is must not leave its actor waiting for ever: that it could not is how the attempt ended. */
  private async conclude({ key, attempt, once }: EffectRecord, settlement: Settlement): Promise<void> {
    try {
      await this.options.settle(key, settlement);
    } catch (error) {
      if (isPawlError(error) && (error.kind === "environment" || error.code === "closed")) throw error;
      await this.options.settle(key, { event: { type: once ? "effect.unproven" : "effect.failed", attempt, mayRetry: false }, error: describe(error) });
    }
  }

  /** Leaves an attempt that has not begun, so that the next owner does not take it for an interrupted one. */
  private async leave(record: EffectRecord): Promise<void> {
    if (record.notBefore !== null) return;
    await this.options
      .settle(record.key, { event: { type: "effect.released", attempt: record.attempt }, notBefore: this.options.now() })
      .catch(this.options.onError);
  }

  private async takeUp(record: EffectRecord, aborts: Aborts): Promise<void> {
    // Nobody knows how far it came: its process group first, then the row.
    if (record.process) await this.options.endProcess(record.process);
    const { maxInterrupted } = policyOf(record);
    // What runs again is looked for just before it does.
    const runsAgain = !record.once && (maxInterrupted === null || record.interruptions + 1 < maxInterrupted);
    const execution = runsAgain ? undefined : await this.executionOf(record);
    if (execution?.observe && (await this.lookWith(record, execution, aborts))) return;
    if (aborts.looking.signal.aborted) return;
    await this.options.settle(record.key, { event: { type: "effect.interrupted", attempt: record.attempt } });
  }

  /** True when what was seen settled it. */
  private async lookWith(record: EffectRecord, execution: Execution, { looking }: Aborts): Promise<boolean> {
    const seen = await observe(record, await this.options.inputOf(record), execution, looking.signal, this.options);
    const settlement = observation(record, seen, this.options.now());
    return settlement !== null && (await this.options.settle(record.key, settlement)) !== null;
  }
}

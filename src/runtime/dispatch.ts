/** Group commit: what arrives while a commit is written goes into the next one. Each dispatch stands or falls alone;
 *  nobody is answered before the commit that holds its outcome. */
import type { CommitResult, Store } from "../../persistence/store.ts";
import { PawlError, isPawlError } from "../errors.ts";
import { Lanes, SetAside, type Place } from "./aside.ts";
import { FaultAt, type Faults } from "./cascade.ts";
import { systemClock } from "./clock.ts";
import { Draft, newLayer, type Layer, type Reads } from "./draft.ts";

/** A dispatch waiting to be computed. `compute` writes into the draft only; it may run again. */
export interface Dispatch<T> {
  readonly eventId: string;
  /** Epoch ms at which it was received: what it counts for, unless it must be computed again after others. */
  readonly at: number;
  readonly compute: (draft: Draft, faults: Faults) => Promise<T>;
  /** Pawl's own event: a machine that throws, or loops, is faulted instead of refusing it. */
  readonly internal: boolean;
  /** It waits for a step that is taken in another process; told each time. */
  readonly onAside?: () => void;
}

interface Waiting {
  readonly place: Place;
  readonly dispatch: Dispatch<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Computed {
  readonly waiting: Waiting;
  readonly draft: Draft | null;
  readonly outcome: { readonly answer: unknown } | { readonly error: unknown };
}

export interface DispatchOptions {
  readonly store: Store;
  readonly reads: Reads;
  /** After a commit, in order, before the sender is answered. */
  readonly onCommitted: (draft: Draft) => void;
  /** The store refused a whole group (disk full, input or output error). */
  readonly onStorageError: (error: PawlError) => void;
  /** What was read may be old: forget it. */
  readonly onConflict: () => void;
}

/** Dispatches in one commit at most, and bytes after which no more are taken in. */
const groupLimit = 64;
const groupBytes = 4 * 1024 * 1024;
/** The stored rule that keeps an effect's key from being used for another request. */
const oneEffectPerVisit = "one_effect_per_visit";
/** How long a closing dispatcher waits for steps that are taken elsewhere. */
const asideGraceMs = 500;
/** Times a dispatch is computed anew after somebody else wrote first. */
const conflictTries = 3;

export class Dispatcher {
  private readonly options: DispatchOptions;
  private readonly queue: Waiting[] = [];
  private pumping = false;
  /** Time of the newest draft: one that was set aside may come after others in its group that were received later. */
  private latestAt = 0;
  /** Why the store refused for good: whatever is still queued meets the same, though the disk may be free again. */
  private refusal: PawlError | null = null;
  private idleWaiters: (() => void)[] = [];
  private readonly lanes = new Lanes<Waiting>();
  private closed = false;

  constructor(options: DispatchOptions) {
    this.options = options;
  }

  submit<T>(dispatch: Dispatch<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting: Waiting = {
        place: { lane: null, asides: [] },
        dispatch,
        resolve: (answer) => {
          this.leave(waiting);
          resolve(answer as T); // the answer is what this dispatch's own compute gave
        },
        reject: (error) => {
          this.leave(waiting);
          reject(error);
        },
      };
      this.queue.push(waiting);
      this.start();
    });
  }

  /** False while something waits for a step that is taken elsewhere, too. */
  get isIdle(): boolean {
    return !this.pumping && this.lanes.size === 0;
  }

  async idle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.idleWaiters.push(resolve));
  }

  /** Waits for what is being committed; what still waits for a step elsewhere after a moment is left: its cause is stored, and comes again. */
  async close(): Promise<void> {
    let stop: () => void = () => undefined;
    const grace = new Promise<void>((resolve) => {
      stop = systemClock.schedule(systemClock.now() + asideGraceMs, resolve);
    });
    await Promise.race([this.idle(), grace]);
    stop();
    this.closed = true;
    if (this.pumping) await new Promise<void>((resolve) => this.idleWaiters.push(resolve));
    for (const waiting of this.lanes.all())
      waiting.reject(
        new PawlError("closed", `The runtime was closed before the event "${waiting.dispatch.eventId}" could be applied. Nothing of it was stored.`, {
          subject: waiting.dispatch.eventId,
        }),
      );
  }

  private start(): void {
    if (this.pumping) return;
    this.pumping = true;
    // A macrotask: all that is ready now gets into the first group.
    setImmediate(() => void this.pump());
  }

  /** Goes on with a dispatch that was set aside, before those that came after it. */
  private goOn(waiting: Waiting): void {
    if (this.closed) return;
    this.queue.unshift(waiting);
    this.start();
  }

  private leave(waiting: Waiting): void {
    const next = this.lanes.leave(waiting);
    if (next) this.goOn(next);
    this.wakeIfIdle();
  }

  private setAside(waiting: Waiting, { actor, step }: SetAside): void {
    this.lanes.enter(waiting, actor);
    waiting.dispatch.onAside?.();
    const goOn = (): void => this.goOn(waiting);
    // What it came to is seen when the dispatch is computed again.
    step?.then(goOn, goOn);
  }

  private wakeIfIdle(): void {
    if (this.pumping || (!this.isIdle && !this.closed)) return;
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const wake of waiters) wake();
  }

  private async pump(): Promise<void> {
    while (this.queue.length > 0) {
      await this.commitGroup();
      // Lets the effects that this commit started, and whatever came in meanwhile, join the next group.
      if (this.queue.length === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.pumping = false;
    this.wakeIfIdle();
  }

  private async commitGroup(): Promise<void> {
    const overlay = newLayer();
    const group: Computed[] = [];
    let bytes = 0;
    while (group.length < groupLimit && bytes < groupBytes) {
      const waiting = this.queue.shift();
      if (!waiting) break;
      if (this.refusal) {
        waiting.reject(this.refusal);
        continue;
      }
      const computed = await this.compute(waiting, overlay);
      if (computed === null) continue;
      computed.draft?.mergeInto(overlay);
      bytes += computed.draft?.weight ?? 0;
      group.push(computed);
    }
    const again = await this.write(group, false);
    for (const waiting of again) await this.alone(waiting);
  }

  /** Writes a group; returns those that must be computed again one by one. `last`: a storage error is final. */
  private async write(group: readonly Computed[], last: boolean): Promise<readonly Waiting[]> {
    const writing = group.filter((computed) => computed.draft !== null);
    let results: readonly CommitResult[] = [];
    if (writing.length > 0) {
      try {
        results = await this.options.store.commit(writing.map((computed) => computed.draft?.toCommit()).filter((commit) => commit !== undefined));
      } catch (error) {
        // Nothing of the group was written: what was computed on top of it is void.
        this.options.onConflict();
        if (!last) return group.map((computed) => computed.waiting);
        if (isPawlError(error) && error.kind === "environment") {
          this.refusal = error;
          this.options.onStorageError(error);
        }
        for (const computed of group) computed.waiting.reject(error);
        return [];
      }
    }
    const again: Waiting[] = [];
    let written = 0;
    for (const { waiting, draft, outcome } of group) {
      // Its answer may rest on one before it that was not written after all.
      if (draft === null && again.length > 0) {
        again.push(waiting);
        continue;
      }
      if (draft !== null) {
        const result = results[written];
        written += 1;
        if (result?.status === "constraint" && last) {
          this.options.onConflict();
          waiting.reject(
            new PawlError(
              result.rule === oneEffectPerVisit ? "keyReused" : "refused",
              `The event "${waiting.dispatch.eventId}" was refused by the stored rule "${result.rule}": ${result.message}. Nothing of it was stored.`,
              { subject: waiting.dispatch.eventId },
            ),
          );
          continue;
        }
        if (result?.status !== "committed") {
          this.options.onConflict();
          again.push(waiting);
          continue;
        }
        this.options.onCommitted(draft);
      }
      if ("error" in outcome) waiting.reject(outcome.error);
      else waiting.resolve(outcome.answer);
    }
    return again;
  }

  private async alone(waiting: Waiting): Promise<void> {
    for (let tries = 0; tries < conflictTries; tries += 1) {
      if (this.refusal) {
        waiting.reject(this.refusal);
        return;
      }
      const computed = await this.compute(waiting, newLayer());
      if (computed === null) return;
      const again = await this.write([computed], true);
      if (again.length === 0) return;
    }
    waiting.reject(
      new PawlError(
        "conflict",
        `The event "${waiting.dispatch.eventId}" found its actor changed by somebody else ${conflictTries} times. Nothing of it was stored; send it again.`,
        { subject: waiting.dispatch.eventId },
      ),
    );
  }

  /** Null: it was set aside. */
  private async compute(waiting: Waiting, overlay: Layer): Promise<Computed | null> {
    const { dispatch } = waiting;
    const faults = new Map<number, unknown>();
    for (;;) {
      // One that is computed again comes after what came after it: time does not run back in the journal.
      const at = Math.max(dispatch.at, this.latestAt);
      const draft = new Draft(dispatch.eventId, at, overlay, this.options.reads, this.lanes.turn(waiting));
      try {
        const answer = await dispatch.compute(draft, faults);
        if (draft.isEmpty) return { waiting, draft: null, outcome: { answer } };
        this.latestAt = at;
        return { waiting, draft, outcome: { answer } };
      } catch (error) {
        draft.abandon();
        if (error instanceof SetAside) {
          this.setAside(waiting, error);
          return null;
        }
        if (!(error instanceof FaultAt)) return { waiting, draft: null, outcome: { error } };
        const looped = isPawlError(error.cause) && error.cause.code === "cascadeLimit";
        if (looped && !dispatch.internal) return { waiting, draft: null, outcome: { error: error.cause } };
        const number = looped ? 1 : error.number;
        if (faults.has(number)) return { waiting, draft: null, outcome: { error: error.cause } };
        faults.set(number, error.cause);
      }
    }
  }
}

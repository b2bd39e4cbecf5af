/** Which workers there are: one by key, a bounded number at once, the least recently used idle one first to go; who finds no room waits. */
import { PawlError } from "../../errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import { Spare } from "./spare.ts";
import type { StartedWorker } from "./startWorker.ts";
import { WorkerProcess, type ProcessOptions } from "./workerProcess.ts";

/**
 * What a worker is for. `shared`: whoever names the same key, and it is kept for a while. `own`: the same, and it ends when nobody needs it.
 * `launch`: as `own`, but it has room of its own, so that work that takes long keeps nobody from starting a run.
 */
export interface Place {
  readonly kind: "shared" | "own" | "launch";
  readonly key: string;
  readonly cwd: string;
}

export interface PlacesOptions extends Pick<ProcessOptions, "blockedMs" | "memoryMb"> {
  readonly idleMs: number;
  readonly atOnce: number;
  /** One more stands by: this one first, where it was started already. */
  readonly spare: boolean | StartedWorker;
}

/** Launches that load at once. */
const launchesAtOnce = 2;

interface Slot {
  place: Place;
  readonly worker: WorkerProcess;
  users: number;
  stopIdle: (() => void) | null;
}

export interface Taken {
  readonly worker: WorkerProcess;
  /** Call when it is not needed any more; again is nothing. It goes on as `next` where there is no such worker yet and room for one. */
  leave(next?: Place): void;
}

interface Waiter {
  readonly place: Place;
  readonly given: (slot: Slot) => void;
  readonly refused: (error: unknown) => void;
}

const isLaunch = ({ kind }: Place): boolean => kind === "launch";

export class Places {
  private readonly options: PlacesOptions;
  /** Least recently used first. */
  private readonly slots = new Set<Slot>();
  /** On their way out: they count until they are gone. */
  private readonly leaving = new Map<Slot, Promise<void>>();
  private readonly waiters = new Set<Waiter>();
  private readonly spare: Spare | null;
  private closing: Promise<void> | null = null;

  constructor(options: PlacesOptions) {
    this.options = options;
    const { spare } = options;
    this.spare = spare === false ? null : new Spare(options);
    this.spare?.prepare(typeof spare === "object" ? spare : undefined);
  }

  /** A worker that is there. @throws workerUnavailable, closed; GivenUp when the signal is aborted before */
  async take(place: Place, signal: AbortSignal): Promise<Taken> {
    for (;;) {
      const slot = await this.slotFor(place, signal);
      let left = false;
      const leave = (next?: Place): void => {
        if (left) return;
        left = true;
        this.left(slot, next);
      };
      try {
        await untilAborted(slot.worker.ready, signal);
      } catch (error) {
        leave();
        throw error;
      }
      if (slot.worker.isThere) return { worker: slot.worker, leave };
      // It ended while it was waited for.
      leave();
    }
  }

  /** Ends all, within 2 s. */
  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    for (const { refused } of this.waiters) refused(closed());
    for (const slot of this.slots) this.retire(slot);
    await Promise.all([...this.leaving.values(), this.spare?.close()]);
  }

  private slotFor(place: Place, signal: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (this.closing !== null) return reject(closed());
      if (signal.aborted) return reject(new GivenUp());
      const over = (): void => {
        this.waiters.delete(waiter);
        signal.removeEventListener("abort", abort);
      };
      const waiter: Waiter = {
        place,
        given: (slot) => {
          over();
          slot.users += 1;
          slot.stopIdle?.();
          slot.stopIdle = null;
          this.slots.delete(slot);
          this.slots.add(slot);
          resolve(slot);
        },
        refused: (error) => {
          over();
          reject(error);
        },
      };
      const abort = (): void => waiter.refused(new GivenUp());
      signal.addEventListener("abort", abort, { once: true });
      this.waiters.add(waiter);
      this.serve();
    });
  }

  /** First come, first served; who can share a worker that is there passes those who wait for room. */
  private serve(): void {
    let short = 0;
    for (const waiter of this.waiters) {
      const there = [...this.slots].find(({ place }) => place.key === waiter.place.key);
      if (there) waiter.given(there);
      else if (this.hasRoom(waiter.place)) this.open(waiter);
      else if (!isLaunch(waiter.place)) short += 1;
    }
    const goes = [...this.leaving.keys()].filter(({ place }) => !isLaunch(place)).length;
    const idle = [...this.slots].filter(({ users, place }) => users === 0 && !isLaunch(place));
    for (const slot of idle.slice(0, Math.max(0, short - goes))) this.retire(slot);
  }

  private hasRoom(wanted: Place): boolean {
    const alike = [...this.slots, ...this.leaving.keys()].filter(({ place }) => isLaunch(place) === isLaunch(wanted)).length;
    return alike < (isLaunch(wanted) ? launchesAtOnce : this.options.atOnce);
  }

  private open(waiter: Waiter): void {
    const { blockedMs, memoryMb } = this.options;
    const { place } = waiter;
    try {
      const onLost = (): void => this.retire(slot);
      const worker = this.spare?.take(place.cwd, onLost) ?? new WorkerProcess({ cwd: place.cwd, blockedMs, memoryMb, onLost });
      this.spare?.prepare();
      const slot: Slot = { place, worker, users: 0, stopIdle: null };
      this.slots.add(slot);
      waiter.given(slot);
    } catch (error) {
      waiter.refused(error);
    }
  }

  private left(slot: Slot, next?: Place): void {
    slot.users -= 1;
    if (slot.users > 0 || !this.slots.has(slot)) return;
    if (next !== undefined && this.isWelcome(next)) slot.place = next;
    if (slot.place.kind !== "shared") this.retire(slot);
    else slot.stopIdle = systemClock.schedule(systemClock.now() + this.options.idleMs, () => this.retire(slot));
    this.serve();
  }

  private isWelcome(next: Place): boolean {
    const nobodyWaits = [...this.waiters].every(({ place }) => isLaunch(place));
    return this.closing === null && nobodyWaits && this.hasRoom(next) && [...this.slots].every(({ place }) => place.key !== next.key);
  }

  /** Nobody gets it any more, and it ends. */
  private retire(slot: Slot): void {
    if (!this.slots.delete(slot)) return;
    slot.stopIdle?.();
    const gone = slot.worker.end().then(() => {
      this.leaving.delete(slot);
      this.serve();
    });
    this.leaving.set(slot, gone);
  }
}

/** The signal was aborted before there was a worker: nothing was asked of anybody. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

const closed = (): PawlError => new PawlError("closed", "The host is closed. The run is safe: open the state directory again and go on with it.");

function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new GivenUp());
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

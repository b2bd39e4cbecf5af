/** Which workers there are: one by key, a bounded number at once, the least recently used idle one first to go; who finds no room waits. */
import { PawlError } from "../../errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import { WorkerProcess, type ProcessOptions } from "./workerProcess.ts";

/** What a worker is for: `key` null asks for a new one that serves this once. */
export interface Place {
  readonly key: string | null;
  readonly cwd: string;
}

export interface PlacesOptions extends Pick<ProcessOptions, "blockedMs" | "memoryMb"> {
  readonly idleMs: number;
  readonly atOnce: number;
}

interface Slot {
  readonly key: string | null;
  readonly worker: WorkerProcess;
  users: number;
  stopIdle: (() => void) | null;
}

export interface Taken {
  readonly worker: WorkerProcess;
  /** Call when it is not needed any more; again is nothing. */
  leave(): void;
}

interface Waiter {
  readonly place: Place;
  readonly given: (slot: Slot) => void;
  readonly refused: (error: unknown) => void;
}

export class Places {
  private readonly options: PlacesOptions;
  /** Least recently used first. */
  private readonly slots = new Set<Slot>();
  /** On their way out: they count until they are gone. */
  private readonly leaving = new Set<Promise<void>>();
  private readonly waiters = new Set<Waiter>();
  private closing: Promise<void> | null = null;

  constructor(options: PlacesOptions) {
    this.options = options;
  }

  /** A worker that is there. @throws workerUnavailable, closed; the signal's reason when it is aborted before there is room */
  async take(place: Place, signal: AbortSignal): Promise<Taken> {
    for (;;) {
      const taken = await this.tried(place, signal);
      // It may have ended while it was waited for.
      if (taken.worker.isThere) return taken;
      taken.leave();
    }
  }

  /** Ends all, within 2 s. */
  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async tried(place: Place, signal: AbortSignal): Promise<Taken> {
    const slot = await this.slotFor(place, signal);
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      this.left(slot);
    };
    try {
      await slot.worker.ready;
    } catch (error) {
      leave();
      throw error;
    }
    return { worker: slot.worker, leave };
  }

  private async closeAll(): Promise<void> {
    const error = new PawlError("closed", "The host was closed. The run is safe: open the state directory again and go on with it.");
    for (const { refused } of this.waiters) refused(error);
    this.waiters.clear();
    for (const slot of this.slots) this.retire(slot);
    await Promise.all(this.leaving);
  }

  private slotFor(place: Place, signal: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (this.closing !== null) return reject(new PawlError("closed", "The host is closed. Open the state directory again."));
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
      const abort = (): void => waiter.refused(new Error("It was given up while it waited for a worker."));
      signal.addEventListener("abort", abort, { once: true });
      this.waiters.add(waiter);
      this.serve();
    });
  }

  /** First come, first served; who can share a worker that is there passes those who wait for room. */
  private serve(): void {
    let short = 0;
    for (const waiter of this.waiters) {
      const there = waiter.place.key === null ? undefined : [...this.slots].find(({ key }) => key === waiter.place.key);
      if (there) waiter.given(there);
      else if (this.slots.size + this.leaving.size < this.options.atOnce) this.open(waiter);
      else short += 1;
    }
    const idle = [...this.slots].filter(({ users }) => users === 0);
    for (const slot of idle.slice(0, Math.max(0, short - this.leaving.size))) this.retire(slot);
  }

  private open(waiter: Waiter): void {
    const { blockedMs, memoryMb } = this.options;
    const { key, cwd } = waiter.place;
    try {
      const worker = new WorkerProcess({ cwd, blockedMs, memoryMb, onLost: () => this.retire(slot) });
      const slot: Slot = { key, worker, users: 0, stopIdle: null };
      this.slots.add(slot);
      waiter.given(slot);
    } catch (error) {
      waiter.refused(error);
    }
  }

  private left(slot: Slot): void {
    slot.users -= 1;
    if (slot.users > 0 || !this.slots.has(slot)) return;
    if (slot.key === null) this.retire(slot);
    else slot.stopIdle = systemClock.schedule(systemClock.now() + this.options.idleMs, () => this.retire(slot));
    this.serve();
  }

  /** Nobody gets it any more, and it ends. */
  private retire(slot: Slot): void {
    if (!this.slots.delete(slot)) return;
    slot.stopIdle?.();
    const gone = slot.worker.end().then(() => {
      this.leaving.delete(gone);
      this.serve();
    });
    this.leaving.add(gone);
  }
}

/** One worker process that was started before anybody asked for it: half of what a short run waits for is the start of its workers. */
import { systemClock } from "../../runtime/clock.ts";
import type { StartedWorker } from "./startWorker.ts";
import { WorkerProcess, type ProcessOptions } from "./workerProcess.ts";

export interface SpareOptions extends Pick<ProcessOptions, "blockedMs" | "memoryMb"> {
  /** How long it stands by, ms: it costs memory. */
  readonly idleMs: number;
}

export class Spare {
  private readonly options: SpareOptions;
  private worker: WorkerProcess | null = null;
  private stopIdle: () => void = () => undefined;

  constructor(options: SpareOptions) {
    this.options = options;
  }

  /** Starts one that stands by, unless one does; it is `started`, where that is still there. */
  prepare(started?: StartedWorker): void {
    this.stopIdle();
    this.stopIdle = systemClock.schedule(systemClock.now() + this.options.idleMs, () => void this.close());
    if (this.worker?.isUsable) return;
    const { blockedMs, memoryMb } = this.options;
    try {
      this.worker = new WorkerProcess({ cwd: null, blockedMs, memoryMb, started, onLost: () => undefined });
    } catch {
      // Whoever needs one starts it, and is told why it does not start.
      this.worker = null;
    }
  }

  /** The one that stands by, for this project; null when there is none. @throws workerUnavailable when there is no such directory */
  take(cwd: string, onLost: () => void): WorkerProcess | null {
    const { worker } = this;
    if (!worker?.isUsable) return null;
    worker.enter(cwd, onLost);
    this.worker = null;
    return worker;
  }

  async close(): Promise<void> {
    this.stopIdle();
    const { worker } = this;
    this.worker = null;
    await worker?.end();
  }
}

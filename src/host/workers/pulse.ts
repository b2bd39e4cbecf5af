/** Whether a worker's event loop turns: asked by pings while it has work, told by whatever it says. */
import { systemClock } from "../../runtime/clock.ts";

export interface PulseOptions {
  /** How long it may say nothing, ms. */
  readonly blockedMs: number;
  readonly ping: () => void;
  /** It was silent for about so long. */
  readonly stopped: (ms: number) => void;
}

/** Pings without an answer in the time that it may be silent. Counted, not timed: a host that was itself away for long must not take that for silence. */
const pings = 3;

export class Pulse {
  private readonly options: PulseOptions;
  private heard = 0;
  private stopTicking: (() => void) | null = null;

  constructor(options: PulseOptions) {
    this.options = options;
  }

  /** It said something. */
  beat(): void {
    this.heard += 1;
  }

  start(): void {
    if (this.stopTicking === null) this.arm(this.heard, 0);
  }

  stop(): void {
    this.stopTicking?.();
    this.stopTicking = null;
  }

  /** Asks once, and gives it `ms` to answer. */
  probe(ms: number, what: number): void {
    const { heard } = this;
    this.options.ping();
    systemClock.schedule(systemClock.now() + ms, () => {
      if (this.heard === heard) this.options.stopped(what);
    });
  }

  private arm(heard: number, unanswered: number): void {
    const { blockedMs, ping, stopped } = this.options;
    this.stopTicking = systemClock.schedule(systemClock.now() + blockedMs / pings, () => {
      const silent = this.heard === heard;
      if (silent && unanswered === pings) return stopped(blockedMs);
      ping();
      this.arm(this.heard, silent ? unanswered + 1 : 1);
    });
  }
}

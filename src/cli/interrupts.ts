/** Ctrl-C, SIGTERM, a closed window and a closed pipe: all ask to stop at the last saved step. A second one, or five seconds, ends the process at once. */
import type { Clock } from "../runtime/clock.ts";
import { exitCodes } from "./exitCodes.ts";

/** What of the process is needed; tests give their own. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  off(signal: NodeJS.Signals, listener: () => void): unknown;
}

export interface Interrupts {
  /** Aborted by the first interruption while something is held. */
  readonly signal: AbortSignal;
  /** Interrupts because nobody reads any more what is written. */
  abandon(): void;
  /** Nobody is there to be told anything. */
  isAbandoned(): boolean;
  /**
   * Does `work`, which ends by itself soon after `signal` aborts; without such work an interruption ends the process.
   * `lastWords` is printed when it had no time to end.
   */
  hold<T>(lastWords: string, work: () => Promise<T>): Promise<T>;
  /** Stops watching. */
  close(): void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const patienceMs = 5_000;

export function watchInterrupts(source: SignalSource, clock: Clock, exit: (code: number, lastWords: string) => void): Interrupts {
  const controller = new AbortController();
  let held: string | null = null;
  let abandoned = false;
  let giveUp = (): void => {};
  const end = (): void => exit(exitCodes.interrupted, abandoned ? "" : (held ?? ""));
  const interrupt = (): void => {
    if (held === null || controller.signal.aborted) return end();
    controller.abort();
    giveUp = clock.schedule(clock.now() + patienceMs, end);
  };
  for (const signal of signals) source.on(signal, interrupt);
  return {
    signal: controller.signal,
    abandon() {
      abandoned = true;
      interrupt();
    },
    isAbandoned: () => abandoned,
    async hold(lastWords, work) {
      held = lastWords;
      try {
        return await work();
      } finally {
        held = null;
        giveUp();
      }
    },
    close() {
      giveUp();
      for (const signal of signals) source.off(signal, interrupt);
    },
  };
}

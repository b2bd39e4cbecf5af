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
  /** Interrupts because of an error that nothing caught; false when nothing is held that could be stopped. */
  stray(error: unknown): boolean;
  /** The first error that nothing caught. */
  strayed(): { readonly error: unknown } | null;
  /** The last words of what is held. */
  held(): string | null;
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
  let strayed: { readonly error: unknown } | null = null;
  let giveUp = (): void => {};
  const end = (): void => exit(exitCodes.interrupted, abandoned ? "" : (held ?? ""));
  const stop = (): void => {
    if (controller.signal.aborted) return;
    if (held === null) return end();
    controller.abort();
    giveUp = clock.schedule(clock.now() + patienceMs, end);
  };
  const interrupt = (): void => (controller.signal.aborted ? end() : stop());
  // A closed window comes as several of these, from the kernel and from the shell, and as a failing write: none of them is a person's second word.
  const listeners = { SIGINT: interrupt, SIGTERM: interrupt, SIGHUP: stop } as const;
  for (const signal of signals) source.on(signal, listeners[signal]);
  return {
    signal: controller.signal,
    abandon() {
      abandoned = true;
      stop();
    },
    isAbandoned: () => abandoned,
    stray(error) {
      strayed ??= { error };
      if (held === null) return controller.signal.aborted;
      stop();
      return true;
    },
    strayed: () => strayed,
    held: () => held,
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
      for (const signal of signals) source.off(signal, listeners[signal]);
    },
  };
}

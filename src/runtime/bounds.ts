/** Waiting with an end: every call that waits for something takes a time limit and a signal. */
import { PawlError } from "../errors.ts";
import { systemClock, type Clock } from "./clock.ts";
import type { WaitBounds } from "./runtime.ts";

/**
 * What `work` gives, unless the bounds end first; the work itself goes on. `what` begins the sentence of the error.
 * @throws timedOut, aborted
 */
export async function withinBounds<T>(work: Promise<T>, { timeoutMs, signal }: WaitBounds, what: () => string, clock: Clock = systemClock): Promise<T> {
  if (timeoutMs === undefined && signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new PawlError("aborted", `${what()} before the waiting was aborted.`, { cause: signal?.reason }));
  const cancel =
    timeoutMs === undefined
      ? null
      : clock.schedule(clock.now() + timeoutMs, () =>
          reject(new PawlError("timedOut", `${what()} within ${timeoutMs} ms. Wait longer (timeoutMs), or look at what it waits for.`)),
        );
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    cancel?.();
    signal?.removeEventListener("abort", abort);
  }
}

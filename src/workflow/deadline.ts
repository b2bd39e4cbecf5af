/** Deadlines that only an executor knows, because a callback gives them. */
import type { Clock } from "../runtime/clock.ts";
import { sentenceOf } from "../errors.ts";
import type { AnyContext } from "./context.ts";
import { notBegun } from "./failures.ts";
import { isTimeout } from "./nodeChecks.ts";
import type { Timeout } from "./nodes/node.ts";

/** How long a `timeoutMs` callback may take. */
export const timeoutCallbackMs = 30_000;

/** A signal that is aborted with its source, and with the reason `timedOut` after `ms`. Call `stop` when the work is over. */
export interface Limited {
  readonly signal: AbortSignal;
  stop(): void;
}

/** `ms` null: no limit of its own. */
export function limited(signal: AbortSignal, ms: number | null, clock: Clock): Limited {
  if (ms === null) return { signal, stop: () => undefined };
  const controller = new AbortController();
  const follow = (): void => controller.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  const cancel = clock.schedule(clock.now() + ms, () => controller.abort("timedOut"));
  return {
    signal: controller.signal,
    stop() {
      cancel();
      signal.removeEventListener("abort", follow);
    },
  };
}

/** The work's result, or a failure at the moment that the limit runs out, whether the work heeds its signal or not. */
export function untilTimedOut<T>(work: Promise<T>, signal: AbortSignal, failure: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const check = (): void => {
      if (signal.reason === "timedOut") reject(failure());
    };
    if (signal.aborted) check();
    else signal.addEventListener("abort", check, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", check));
  });
}

/** What a `timeoutMs` callback gives; null for a deadline that the runtime holds already. @throws nodeFailed for anything but ms above 0 or null */
export async function ownTimeout(
  node: string,
  once: boolean,
  timeoutMs: Timeout<AnyContext> | undefined,
  context: AnyContext,
  clock: Clock,
): Promise<number | null> {
  if (typeof timeoutMs !== "function") return null;
  const limit = limited(context.signal, timeoutCallbackMs, clock);
  const slow = new Error(`it took longer than ${timeoutCallbackMs} ms`);
  let given: unknown;
  try {
    given = await untilTimedOut(
      Promise.resolve().then(() => timeoutMs({ ...context, signal: limit.signal })),
      limit.signal,
      () => slow,
    );
  } catch (error) {
    throw notBegun(node, once, "nodeFailed", `has a timeoutMs callback that gave nothing: ${sentenceOf(error)}`);
  } finally {
    limit.stop();
  }
  if (isTimeout(given)) return given;
  throw notBegun(node, once, "nodeFailed", `has a timeoutMs callback that gave ${describe(given)}; give milliseconds above 0, or null for no deadline.`);
}

const describe = (value: unknown): string => (typeof value === "number" || value === undefined ? String(value) : `a ${typeof value}`);

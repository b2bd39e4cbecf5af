/** An effect's policy as numbers: what `EffectOptions` say for one input, checked, so that a wrong setting never waits in a database. */
import { PawlError } from "../src/errors.ts";
import type { EffectOptions, RetryPolicy } from "./define.ts";

/** What the effect row's `policy` text holds. */
export interface EffectPolicy {
  readonly retry: RetryPolicy | null;
  readonly timeoutMs: number | null;
  readonly maxInterrupted: number | null;
  /** Absent: no sign of life is asked for. */
  readonly heartbeatMs?: number;
}

/** Interruptions at which a heartbeat effect fails when nothing else is said: code that hangs would hang for ever. */
const interruptedWithHeartbeat = 3;

/** The policy for one input. @throws invalidMachine naming what cannot be kept */
export function policyFor<I>(options: EffectOptions<I>, input: I, what: string): EffectPolicy {
  const { heartbeatMs } = options;
  const policy: EffectPolicy = {
    retry: (typeof options.retry === "function" ? options.retry(input) : options.retry) ?? null,
    timeoutMs: (typeof options.timeoutMs === "function" ? options.timeoutMs(input) : options.timeoutMs) ?? null,
    maxInterrupted: options.maxInterrupted ?? (heartbeatMs === undefined ? null : interruptedWithHeartbeat),
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
  };
  check(policy, what);
  return policy;
}

/** Checks what does not depend on the input, where the machine is written. @throws invalidMachine */
export function checkStaticOptions<I>({ retry, timeoutMs, heartbeatMs, maxInterrupted }: EffectOptions<I>, what: string): void {
  check(
    {
      retry: typeof retry === "function" ? null : (retry ?? null),
      timeoutMs: typeof timeoutMs === "function" ? null : (timeoutMs ?? null),
      maxInterrupted: maxInterrupted ?? null,
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    },
    what,
  );
}

function check({ retry, timeoutMs, heartbeatMs, maxInterrupted }: EffectPolicy, what: string): void {
  const need = (isRight: boolean, setting: string, value: unknown, must: string): void => {
    if (!isRight) throw new PawlError("invalidMachine", `${what}: ${setting} is ${String(value)}; it must be ${must}.`, { path: setting });
  };
  const isMs = (value: number): boolean => Number.isFinite(value) && value > 0;
  if (retry !== null) {
    const { maxAttempts, initialMs, factor = 2, maxMs = initialMs } = retry;
    need(Number.isInteger(maxAttempts) && maxAttempts >= 1 && maxAttempts <= 100, "retry.maxAttempts", maxAttempts, "a whole number from 1 to 100");
    need(Number.isFinite(initialMs) && initialMs >= 0, "retry.initialMs", initialMs, "milliseconds, 0 or more");
    need(Number.isFinite(factor) && factor >= 1, "retry.factor", factor, "a number, 1 or more");
    need(Number.isFinite(maxMs) && maxMs >= 0, "retry.maxMs", maxMs, "milliseconds, 0 or more");
  }
  if (timeoutMs !== null) need(isMs(timeoutMs), "timeoutMs", timeoutMs, "milliseconds above 0, or null for no limit");
  if (heartbeatMs !== undefined) need(isMs(heartbeatMs), "heartbeatMs", heartbeatMs, "milliseconds above 0");
  if (maxInterrupted !== null) need(Number.isInteger(maxInterrupted) && maxInterrupted >= 1, "maxInterrupted", maxInterrupted, "a whole number, 1 or more");
}

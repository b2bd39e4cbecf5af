import type { AnyContext } from "../context.ts";
import type { Setting, Timeout } from "./node.ts";

/** A setting of one node as stored with the others. */
export function forgetSetting<Context, Value>(setting: Setting<Context, Value>): Setting<AnyContext, Value> {
  return setting as unknown as Setting<AnyContext, Value>; // as in forget(): the executor gives its callback the context of that very node
}

/** The same of a deadline, which may be left out. */
export const forgetTimeout = <Context>(timeoutMs: Timeout<Context> | undefined): Timeout<AnyContext> | undefined =>
  timeoutMs === undefined ? undefined : forgetSetting<Context, number | null>(timeoutMs);

import type { AnyContext } from "../context.ts";
import type { Setting } from "./node.ts";

/** A setting of one node as stored with the others. */
export function forgetSetting<Context, Value>(setting: Setting<Context, Value>): Setting<AnyContext, Value> {
  return setting as unknown as Setting<AnyContext, Value>; // as in forget(): the executor gives its callback the context of that very node
}

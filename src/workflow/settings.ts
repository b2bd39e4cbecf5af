/** A setting's value: what stands there, or what its callback gives. */
import { messageOf } from "../errors.ts";
import type { AnyContext } from "./context.ts";
import { hasMeaning, visitFailed } from "./failures.ts";
import type { Setting } from "./nodes/node.ts";

/** Unchecked. @throws nodeFailed naming the setting for a callback that throws, and what has a meaning of its own as it is */
export async function givenSetting<T>(node: string, name: string, value: Setting<AnyContext, T> | undefined, context: AnyContext): Promise<unknown> {
  if (typeof value !== "function") return value;
  try {
    return await (value as (context: AnyContext) => T | Promise<T>)(context); // a setting's value is never a function itself
  } catch (error) {
    if (hasMeaning(error)) throw error;
    throw visitFailed(node, "nodeFailed", `has a ${name} callback that threw: ${messageOf(error)}`);
  }
}

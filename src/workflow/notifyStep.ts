/** What a notify node tells people. */
import type { AnyContext } from "./context.ts";
import { visitFailed } from "./failures.ts";
import type { Setting } from "./nodes/node.ts";
import { givenSetting } from "./settings.ts";

/** Longest text, in UTF-16 units. */
export const maxNotificationUnits = 16_000;

/** @throws nodeFailed for anything but text */
export async function notification(id: string, setting: Setting<AnyContext, string>, context: AnyContext): Promise<string> {
  const given = await givenSetting(id, "text", setting, context);
  if (typeof given === "string" && given.trim() !== "" && given.length <= maxNotificationUnits) return given;
  const what = typeof given === "string" ? (given.trim() === "" ? "an empty text" : `${given.length} characters`) : `a ${typeof given}`;
  throw visitFailed(id, "nodeFailed", `has a text that gave ${what}; give text of 1 to ${maxNotificationUnits} characters.`);
}

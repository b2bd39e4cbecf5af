/** What the executor of `pawl.wait.prepare` runs: the callbacks of a wait, and the checks of what they gave. */
import type { WaitTime } from "../../machines/nodes/waitNode.ts";
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { findNode } from "./execute.ts";
import { visitFailed } from "./failures.ts";
import { givenSetting } from "./settings.ts";
import { isForMs, longestMs, momentOf } from "./waitTime.ts";

/** @throws nodeFailed naming the setting */
export async function waitTime(definition: AnyWorkflow, id: string, context: AnyContext): Promise<WaitTime> {
  const { behaviour } = findNode(definition, id, "wait");
  if (behaviour.forMs !== undefined) {
    const forMs = await givenSetting(id, "forMs", behaviour.forMs, context);
    if (isForMs(forMs)) return { forMs };
    throw visitFailed(id, "nodeFailed", `has a forMs that is ${told(forMs)}; give milliseconds above 0, at most ${longestMs}.`);
  }
  const until = momentOf(await givenSetting(id, "until", behaviour.until, context));
  if (until !== null) return { until };
  throw visitFailed(id, "nodeFailed", "has an until that is no moment; give epoch milliseconds, or a valid Date.");
}

const told = (value: unknown): string => (typeof value === "number" || value === undefined || value === null ? String(value) : `a ${typeof value}`);

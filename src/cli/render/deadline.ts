/** What a decision's deadline means for whoever looks at it now. */
import type { AwaitedView } from "../../host/api.ts";
import type { DecisionRow } from "../../../persistence/store.ts";
import { visibleLine } from "../../text/visible.ts";
import { duration, localTime } from "./time.ts";

/** Until when, and what happens then; the empty text when nothing will. */
export function deadlineText(decision: Pick<DecisionRow, "state" | "deadlineAt" | "defaultChoice">, now: number): string {
  if (decision.state !== "open" || decision.deadlineAt === null) return "";
  const what = decision.defaultChoice === null ? "expires" : `default ${visibleLine(decision.defaultChoice)}`;
  const at = localTime(decision.deadlineAt, now);
  // Nothing fires while no process drives the state directory; saying "at 14:00" after 14:00 would be a promise broken.
  if (decision.deadlineAt <= now) return `${what} was due at ${at}: it takes effect when Pawl next runs`;
  return `${what} at ${at} (in ${duration(decision.deadlineAt - now)})`;
}

/** Until when a run waits. */
export function untilText({ dueAt }: Extract<AwaitedView, { kind: "time" }>, now: number): string {
  const at = localTime(dueAt, now);
  return dueAt <= now ? `until ${at}: it goes on when Pawl next runs` : `until ${at} (in ${duration(dueAt - now)})`;
}

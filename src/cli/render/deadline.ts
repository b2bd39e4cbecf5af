/** What a decision's deadline means for whoever looks at it now. */
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

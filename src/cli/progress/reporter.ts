/** Who tells of a driven run: live on a terminal, as plain lines, or as JSON lines. */
import type { RunEvent, RunView } from "../../host/api.ts";

export interface Reporter {
  /** The run goes on from here; may come again after `end`. */
  begin(view: RunView): void;
  event(event: RunEvent): void;
  /** A safe line that is no state change: what a step printed, or a word to the person. */
  note(line: string): void;
  /** The run stands still here; what was shown stays. */
  end(view: RunView): void;
}

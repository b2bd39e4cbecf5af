/** One line a state change, with its time, for logs and pipes; what steps print goes to standard error. */
import { visibleLine } from "../../text/visible.ts";
import { utcSecond } from "../render/time.ts";
import { decisionLooks, runLooks, visitLooks } from "../render/words.ts";
import type { RunEvent } from "../../host/api.ts";
import type { Reporter } from "./reporter.ts";

export function plainReporter(out: (text: string) => void, err: (text: string) => void): Reporter {
  return {
    begin: () => {},
    event(event) {
      if (event.kind === "line") return err(`${visibleLine(event.node)}: ${visibleLine(event.text)}\n`);
      const line = plainLine(event);
      if (line !== null) out(`${line}\n`);
    },
    note: (line) => err(`${line}\n`),
    end: () => {},
  };
}

/** The line of an event; null for what is no state change. */
export function plainLine(event: RunEvent): string | null {
  const time = utcSecond(event.at);
  switch (event.kind) {
    case "run":
      return `${time} run ${event.run} ${runLooks[event.state].word}`;
    case "visit": {
      const attempt = event.attempt > 1 ? ` (attempt ${event.attempt})` : "";
      return `${time} ${visibleLine(event.node)} ${visitLooks[event.status].word}${attempt}`;
    }
    case "decision":
      return event.state === "open" ? null : `${time} decision ${visibleLine(event.decision)} ${decisionLooks[event.state].word}`;
    case "line":
      return null;
  }
}

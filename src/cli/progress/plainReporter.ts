/** One line a state change, with its time, for logs and pipes; what steps print goes to standard error. */
import { visibleLine } from "../../text/visible.ts";
import { utcSecond } from "../render/time.ts";
import { decisionLooks, runLooks, visitLooks } from "../render/words.ts";
import type { RunEvent } from "../../host/api.ts";
import type { Reporter } from "./reporter.ts";
import { updateLine } from "./update.ts";

export function plainReporter(out: (text: string) => void, err: (text: string) => void): Reporter {
  const isTold = calm();
  return {
    begin: () => {},
    event(event) {
      if (event.kind === "line") return err(`${visibleLine(event.node)}: ${visibleLine(event.text)}\n`);
      if (!isTold(event)) return;
      const line = plainLine(event);
      if (line !== null) out(`${line}\n`);
    },
    note: (line) => err(`${line}\n`),
    end: () => {},
  };
}

/** A log's lines may be long, but an update's data longer. */
const plainCells = 200;
/** How often a log tells of the same update, in ms. */
const quietMs = 1_000;

/** What steps publish may come many times a second: a log gets the first of a key, then one a second, and what ends it. */
export function calm(): (event: RunEvent) => boolean {
  const told = new Map<string, number>();
  return (event) => {
    if (event.kind !== "update") return true;
    const { type, key, progress } = event.update;
    const last = told.get(`${type} ${key}`);
    const isEnd = progress !== null && (progress.completed === progress.total || (progress.status ?? "running") !== "running");
    if (last !== undefined && event.at - last < quietMs && !isEnd) return false;
    told.set(`${type} ${key}`, event.at);
    return true;
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
    case "notification":
      return `${time} ${visibleLine(event.node)} ${event.as === "final" ? "reports" : "says"}: ${visibleLine(event.text)}`;
    case "update":
      return `${time} ${visibleLine(event.update.node)} ${updateLine(event.update, plainCells)}`;
    case "line":
      return null;
  }
}

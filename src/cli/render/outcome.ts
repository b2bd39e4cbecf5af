/** How a run stands when driving it stops, and what to type next; pure. */
import type { RunState } from "../../../persistence/store.ts";
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { RunView } from "../../host/api.ts";
import { ambiguousLines, checkpointLines, openDecisionLines } from "./attention.ts";
import { untilText } from "./deadline.ts";
import { commandLines, isAskedHere, nextCommands, watchCommands, type CommandLine } from "./next.ts";
import { isFinal, isParked } from "../exitCodes.ts";
import type { Paint } from "./style.ts";
import { duration } from "./time.ts";
import { valueLines } from "./value.ts";
import { isPausedBeside, runLooks } from "./words.ts";

export interface OutcomeContext {
  readonly now: number;
  readonly width: number;
  readonly paint: Paint;
  readonly command: CommandLine;
  /** A person or a signal: `stopped` the driving, and the run with it, or `left` a run that goes on in its host. */
  readonly stopped: false | "stopped" | "left";
}

const resultLines = 24;

/** Lines of at most `width` cells, but for commands, which are never broken. */
export function outcomeLines(view: RunView, context: OutcomeContext): readonly string[] {
  const { width, paint, now } = context;
  const { tone } = runLooks[view.state];
  const hasResult = view.state === "completed" && view.result !== undefined && view.result !== null;
  const reason = view.reason === null ? "" : `${visibleLine(view.reason.code)}: ${view.reason.message}`;
  const goesOn = context.stopped === "left" && isMoving(view.state);
  const next = goesOn ? watchCommands(view, context.command) : nextCommands(view, context.command);
  const isOpen = view.decisions.some((decision) => decision.state === "open");
  return [
    ...wrap(standing(view, context), width).map((line) => paint(context.stopped === false ? tone : "attention", line)),
    ...(reason === "" ? [] : wrap(reason, width)),
    ...(hasResult ? valueLines(view.result, { width, lines: resultLines }) : []),
    ...view.decisions.filter((decision) => decision.state === "open").flatMap((decision) => openDecisionLines(decision, now, width)),
    ...(view.awaits?.kind === "checkpoint" ? checkpointLines(view.awaits, width) : []),
    ...view.ambiguous.flatMap((effect) => ambiguousLines(effect, now, width)),
    ...(isOpen ? commandLines([{ command: context.command("show", view.id), when: "Read it whole:" }], width) : []),
    ...(next.length === 0 ? [] : [...(goesOn ? [] : wrap(nextTitle(view), width)), ...commandLines(next, width)]),
  ];
}

const sentences: Readonly<Record<RunState, string>> = {
  queued: "is saved and has not begun",
  starting: "was stopped while it began",
  running: "was stopped in the middle",
  pausing: "was stopped while it was to pause",
  paused: "is paused",
  held: "is held",
  waiting: "waits",
  ambiguous: "has work whose outcome is unknown",
  blocked: "is blocked",
  completed: "completed",
  failed: "failed",
  timedOut: "timed out",
  cancelled: "was cancelled",
};

function standing(view: RunView, { stopped, now }: OutcomeContext): string {
  const name = `${visibleLine(view.workflow)} (${view.id})`;
  if (stopped === "left" && isMoving(view.state)) return `Left. ${name} goes on in its host.`;
  if (stopped === "stopped") return `Stopped. ${name} is safe: everything it has saved is kept.`;
  const waits = view.decisions.some((decision) => decision.state === "open") ? " for an answer" : "";
  const after = view.endedAt === null ? "" : ` after ${duration((view.endedAt ?? now) - view.createdAt)}`;
  const until = view.awaits?.kind === "time" ? `, ${untilText(view.awaits, now)}` : "";
  const paused = isPausedBeside(view) ? " It is paused too: no further step begins before it is resumed." : "";
  return `${name} ${sentences[view.state]}${waits}${until}${after}.${paused}`;
}

/** A host would take it further by itself. */
const isMoving = (state: RunState): boolean => !isFinal(state) && !isParked(state);

function nextTitle(view: RunView): string {
  if (view.decisions.some(isAskedHere)) return "A person answers at a terminal, with one of:";
  if (view.awaits?.kind === "checkpoint") return "Anybody may answer:";
  if (view.ambiguous.length > 0) return "A person looks whether it happened, then settles it at a terminal.";
  if (view.awaits?.kind === "time" && !isPausedBeside(view)) return "It goes on by itself while a host runs. Watch it with:";
  return "Go on with:";
}

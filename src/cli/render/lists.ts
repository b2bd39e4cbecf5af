/** The tables of runs, decisions and effects; pure. */
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { DecisionView, EffectView, RunSummary } from "../../host/api.ts";
import type { Page } from "../../../persistence/store.ts";
import { deliveryLines, nodeOf } from "./attention.ts";
import { deadlineText, untilText } from "./deadline.ts";
import { answerCommands, commandLines, nextCommands, settleCommands, type CommandLine, type NextCommand } from "./next.ts";
import type { Paint } from "./style.ts";
import { tableLines, type Cell, type Column } from "./table.ts";
import { age } from "./time.ts";
import { decisionLooks, effectLooks, isPausedBeside, runLooks } from "./words.ts";

export interface ListContext {
  readonly now: number;
  readonly width: number;
  readonly paint: Paint;
  readonly command: CommandLine;
  /** The words of this very command line, to go on at the next page. */
  readonly again: readonly string[];
}

/** Commands shown below a list: enough to see how it goes on, not a second list. */
const shownCommands = 6;

export function runLines(page: Page<RunSummary>, context: ListContext): readonly string[] {
  if (page.items.length === 0) return none(context, "No runs.", { command: context.command("run", "FILE"), when: "Start one:" });
  const columns: readonly Column[] = [
    { title: "RUN" },
    { title: "WORKFLOW", min: 6 },
    { title: "STATE" },
    { title: "AGE", align: "right" },
    { title: "NOW", min: 12 },
  ];
  const rows = page.items.map((run): readonly Cell[] => [
    { text: runName(run.id, context.width) },
    { text: run.workflow },
    { text: `${runLooks[run.state].word}${isPausedBeside(run) ? ", paused" : ""}`, tone: runLooks[run.state].tone },
    { text: age(context.now - run.createdAt) },
    { text: situation(run, context.now) },
  ]);
  const waiting = page.items
    .toReversed()
    .filter((run) => run.state !== "completed")
    .flatMap((run) => nextCommands(run, context.command));
  return [...tableLines(columns, rows, context.width, context.paint), ...more(page, context), ...nextBlock(waiting, context)];
}

/** What a run is at, waits for, or ended by. */
export function situation(run: RunSummary, now: number): string {
  const open = run.decisions.filter((decision) => decision.state === "open");
  const [first] = open;
  if (first) {
    const deadline = deadlineText(first, now);
    return `decision ${first.code} "${visibleLine(first.title)}"${deadline === "" ? "" : `, ${deadline}`}${open.length > 1 ? `, and ${open.length - 1} more` : ""}`;
  }
  if (run.awaits?.kind === "checkpoint") return `checkpoint ${visibleLine(run.awaits.node)} "${visibleLine(run.awaits.title)}"`;
  const [unknown] = run.ambiguous;
  if (unknown) return `unknown outcome of ${nodeOf(unknown)}${run.ambiguous.length > 1 ? ` and ${run.ambiguous.length - 1} more` : ""}`;
  if (run.reason) return `${run.reason.code}: ${visibleLine(run.reason.message)}`;
  const until = run.awaits?.kind === "time" ? `, ${untilText(run.awaits, now)}` : "";
  return run.current === null ? "" : `${visibleLine(run.current)}${until}`;
}

export function decisionLines(page: Page<DecisionView>, context: ListContext): readonly string[] {
  if (page.items.length === 0)
    return none(context, "No decisions wait for an answer.", { command: context.command("decisions", "--all"), when: "Settled ones too:" });
  const columns: readonly Column[] = [
    { title: "CODE" },
    { title: "STATE" },
    { title: "AGE", align: "right" },
    { title: "FOR", min: 6 },
    { title: "TITLE", min: 12 },
    { title: "DEADLINE", min: 10 },
    { title: "RUN", min: 8 },
  ];
  const rows = page.items.map((decision): readonly Cell[] => [
    { text: decision.code },
    stateCell(decision),
    { text: age(context.now - decision.createdAt) },
    { text: decision.audience },
    { text: decision.title },
    { text: decision.choice === null ? deadlineText(decision, context.now) : `-> ${decision.choice}` },
    { text: runName(decision.run, context.width) },
  ]);
  const answers = page.items.toReversed().flatMap((decision) => answerCommands(decision, context.command));
  const problems = page.items.flatMap((decision) => deliveryLines(decision, context.width).map((line) => context.paint("bad", line)));
  return [
    ...tableLines(columns, rows, context.width, context.paint),
    ...more(page, context),
    ...(problems.length === 0 ? [] : ["", ...new Set(problems)]),
    ...nextBlock(answers, context),
  ];
}

/** One that nobody has been shown yet says so where people look first. */
function stateCell({ state, delivery, settlement }: DecisionView): Cell {
  const { word, tone } = decisionLooks[state];
  if (delivery?.isDelivered === false) return { text: `${word}, not delivered`, tone: "bad" };
  return { text: settlement === null || settlement.replacedBy === null ? word : `${word}, replaced`, tone };
}

export function effectLines(page: Page<EffectView>, context: ListContext): readonly string[] {
  if (page.items.length === 0)
    return none(context, "No effects with an unknown outcome.", { command: context.command("effect", "list", "--all"), when: "Those in every state:" });
  const columns: readonly Column[] = [
    { title: "KEY" },
    { title: "NODE", min: 6 },
    { title: "STATE" },
    { title: "ATTEMPT", align: "right" },
    { title: "SINCE", align: "right" },
    { title: "ERROR", min: 10 },
  ];
  const rows = page.items.map((effect): readonly Cell[] => [
    { text: effect.key },
    { text: nodeOf(effect) },
    { text: effectLooks[effect.state].word, tone: effectLooks[effect.state].tone },
    { text: String(effect.attempt) },
    { text: age(context.now - (effect.ambiguousSince ?? effect.createdAt)) },
    { text: effect.error === null ? "" : effect.error.message },
  ]);
  const unknown = page.items.filter((effect) => effect.state === "ambiguous");
  const settlements = unknown.toReversed().flatMap((effect) => settleCommands(effect, context.command, unknown.length === 1));
  return [...tableLines(columns, rows, context.width, context.paint), ...more(page, context), ...nextBlock(settlements, context)];
}

/** The end of a run's id names it as well as the whole; in a narrow table it leaves room for what a person came to read. */
function runName(id: string, width: number): string {
  return width >= 120 ? id : id.slice(-8);
}

function none(context: ListContext, sentence: string, next: NextCommand): readonly string[] {
  return [...wrap(sentence, context.width), ...commandLines([next], context.width)];
}

function more(page: Page<unknown>, context: ListContext): readonly string[] {
  return page.cursor === null
    ? []
    : ["", ...commandLines([{ command: context.command(...context.again, "--cursor", page.cursor), when: "Older ones:" }], context.width)];
}

function nextBlock(commands: readonly NextCommand[], context: ListContext): readonly string[] {
  if (commands.length === 0) return [];
  const hidden = commands.length - shownCommands;
  return [
    "",
    ...wrap("Next", context.width).map((line) => context.paint("quiet", line)),
    ...commandLines(commands.slice(0, shownCommands), context.width),
    ...(hidden > 0 ? wrap(`  … and ${hidden} more; ${context.command("show", "RUN")} has those of one run`, context.width) : []),
  ];
}

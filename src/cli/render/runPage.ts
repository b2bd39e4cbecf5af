/** Everything about one run, for `show`; pure. */
import { cellWidth, truncate, wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { DecisionAudit, DecisionView, RunView, VisitView } from "../../host/api.ts";
import { updateLine } from "../progress/update.ts";
import { decisionScreen } from "../prompt/decisionScreen.ts";
import { visitPath } from "../../visitNames.ts";
import { ambiguousLines, checkpointLines } from "./attention.ts";
import { auditLines } from "./audit.ts";
import { untilText } from "./deadline.ts";
import { commandLines, nextCommands, type CommandLine } from "./next.ts";
import type { Paint } from "./style.ts";
import { tableLines, type Cell, type Column } from "./table.ts";
import { age, duration, localTime } from "./time.ts";
import { valueLines } from "./value.ts";
import { decisionLooks, isPausedBeside, runLooks, visitLooks } from "./words.ts";

export interface PageContext {
  readonly now: number;
  readonly width: number;
  readonly paint: Paint;
  readonly command: CommandLine;
}

const valueBound = 12;
/** With less room than this an update stands alone on its line. */
const leastUpdateCells = 20;
/** A view has no more. */
const shownUpdates = 50;

/** `audits` are shown where they are asked for. */
export function runPage(run: RunView, context: PageContext, audits: readonly DecisionAudit[] = []): readonly string[] {
  const sections = [
    headLines(run, context),
    visitTable(run, context),
    outputSection(run, context),
    updateSection(run, context),
    decisionSection(run, context),
    audits.flatMap((audit, at) => [...(at === 0 ? [] : [""]), ...auditLines(audit, context)]),
    run.awaits?.kind === "checkpoint" ? checkpointLines(run.awaits, context.width) : [],
    ambiguousSection(run, context),
    nextSection(run, context),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]));
}

function headLines(run: RunView, { now, width, paint }: PageContext): readonly string[] {
  const { word, tone } = runLooks[run.state];
  const current = run.current === null ? "" : ` at ${visibleLine(run.current)}`;
  const since = run.since === null ? "" : ` for ${age(now - run.since)}`;
  const until = run.awaits?.kind === "time" ? `, ${untilText(run.awaits, now)}` : "";
  const paused = isPausedBeside(run) ? ", and paused" : "";
  const ended = run.endedAt === null ? "" : `, ended ${localTime(run.endedAt, now)} after ${duration(run.endedAt - run.createdAt)}`;
  return [
    ...wrap(visibleLine(run.workflow), width).map((line) => paint("strong", line)),
    ...wrap(run.id, width),
    ...wrap(`${word}${current}${since}${until}${paused}`, width).map((line) => paint(tone, line)),
    ...(run.reason === null ? [] : wrap(`${visibleLine(run.reason.code)}: ${run.reason.message}`, width)),
    ...wrap(`started ${localTime(run.createdAt, now)} (${age(now - run.createdAt)} ago)${ended}`, width),
    "",
    ...titled("Input", run.input, { width, paint }),
    ...(run.state === "completed" ? titled("Result", run.result, { width, paint }) : []),
  ];
}

function visitTable(run: RunView, { now, width, paint }: PageContext): readonly string[] {
  if (run.visits.length === 0) return [];
  const columns: readonly Column[] = [
    { title: "VISIT", min: 8 },
    { title: "KIND", min: 5 },
    { title: "STATE" },
    { title: "ATTEMPT", align: "right" },
    { title: "BEGAN" },
    { title: "TOOK", align: "right" },
    { title: "CASE", min: 4 },
  ];
  const rows = run.visits.map((visit): readonly Cell[] => [
    { text: visitName(visit) },
    { text: visit.kind },
    { text: `${visitLooks[visit.status].mark} ${visitLooks[visit.status].word}`, tone: visitLooks[visit.status].tone },
    { text: String(visit.attempt) },
    { text: localTime(visit.startedAt, now) },
    { text: duration((visit.endedAt ?? now) - visit.startedAt) },
    { text: visit.case ?? "" },
  ]);
  return tableLines(columns, rows, width, paint);
}

function outputSection(run: RunView, context: PageContext): readonly string[] {
  return run.visits.flatMap((visit) => {
    if (visit.error !== null)
      return wrap(`${visitName(visit)} ${visibleLine(visit.error.reason)}: ${visit.error.message}`, context.width).map((line) => context.paint("bad", line));
    return visit.output === undefined || visit.output === null ? [] : titled(`Output of ${visitName(visit)}`, visit.output, context);
  });
}

/** What steps published last: of finished ones too. */
function updateSection({ updates }: RunView, { now, width, paint }: PageContext): readonly string[] {
  if (updates.length === 0) return [];
  const lines = updates.map((update) => {
    const node = `  ${visibleLine(update.node)}  `;
    const ago = `  (${age(now - update.updatedAt)} ago)`;
    const room = width - cellWidth(node) - cellWidth(ago);
    return truncate(room >= leastUpdateCells ? `${node}${updateLine(update, room)}${ago}` : `  ${updateLine(update, Math.max(1, width - 2))}`, width);
  });
  return [paint("quiet", truncate(lines.length < shownUpdates ? "Updates" : `Updates, the newest ${shownUpdates}`, width)), ...lines];
}

function decisionSection(run: RunView, { now, width, paint }: PageContext): readonly string[] {
  // An open one is shown whole: whoever answers it by its code alone must be able to read it first.
  return run.decisions.flatMap((decision) =>
    decision.state === "open"
      ? decisionScreen(decision, now, width, paint)
      : wrap(receiptText(decision, now), width).map((line) => paint(decisionLooks[decision.state].tone, line)),
  );
}

/** How a decision was settled: what, by whom of the two (a person, the deadline), when. */
function receiptText(decision: DecisionView, now: number): string {
  const { receipt = null, replacedBy = null } = decision.settlement ?? {};
  const name = `Decision ${decision.code} "${visibleLine(decision.title)}"`;
  const at = localTime(decision.settledAt ?? decision.createdAt, now);
  const replaced = replacedBy === null ? "" : "; asked again since";
  if (receipt === null) return `${name} ${decisionLooks[decision.state].word} at ${at}${replaced}.`;
  const text = receipt.response.input === undefined ? "" : `, with the text: ${visibleLine(receipt.response.input)}`;
  return `${name}: ${receipt.response.choice}, ${receipt.provenance === "human" ? "answered by a person" : "the default, since nobody answered in time,"} at ${at}${replaced}${text}`;
}

function ambiguousSection(run: RunView, { now, width }: PageContext): readonly string[] {
  return run.ambiguous.flatMap((effect) => ambiguousLines(effect, now, width));
}

function nextSection(run: RunView, { command, paint, width }: PageContext): readonly string[] {
  const next = nextCommands(run, command);
  return next.length === 0 ? [] : [...wrap("Next", width).map((line) => paint("quiet", line)), ...commandLines(next, width)];
}

/** Node and number, after those of the nodes that include it. */
const visitName = (visit: VisitView): string => visibleLine(visitPath(visit.id));

function titled(title: string, value: unknown, { width, paint }: { readonly width: number; readonly paint: Paint }): readonly string[] {
  const indent = width > 12 ? "  " : "";
  return [
    ...wrap(title, width).map((line) => paint("quiet", line)),
    ...valueLines(value ?? null, { width: width - indent.length, lines: valueBound }).map((line) => indent + line),
  ];
}

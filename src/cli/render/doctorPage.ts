/** What the doctor found, for a person; pure. */
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { Check, CheckName, DoctorReport, Finding, Severity } from "../../host/maintenance/report.ts";
import type { CommandLine } from "./next.ts";
import type { Paint, Tone } from "./style.ts";

export interface DoctorContext {
  readonly width: number;
  readonly paint: Paint;
  readonly command: CommandLine;
}

const names: Readonly<Record<CheckName, string>> = {
  directory: "Directory",
  channels: "Who may answer",
  integrity: "Integrity",
  rows: "Rows",
  index: "Index rows",
  blobs: "Values",
  restore: "Restoring",
  runs: "Runs",
  replay: "Replay",
};

type Look = { readonly mark: string; readonly tone: Tone };

const looks: Readonly<Record<Severity | "sound", Look>> = {
  sound: { mark: "✓", tone: "good" },
  note: { mark: "·", tone: "quiet" },
  stuck: { mark: "!", tone: "attention" },
  fault: { mark: "✗", tone: "bad" },
};

/** Worst last. */
const severities: readonly Severity[] = ["stuck", "fault"];

const verdicts: Readonly<Record<DoctorReport["verdict"], string>> = {
  ok: "Nothing is wrong, and nothing stands still.",
  stuck: "Nothing is wrong; what is marked with ! stands still until somebody acts.",
  fault: "Something is wrong: see what is marked with ✗. Nothing was changed.",
};

/** Lines that fit `width`, but for commands, which people copy. */
export function doctorPage({ home, owner, checks, verdict }: DoctorReport, context: DoctorContext): readonly string[] {
  const { width } = context;
  if (checks.length === 0) return wrap(`State directory ${visibleLine(home)}: nothing is stored there yet.`, width);
  const isReplay = checks.every(({ name }) => name === "replay");
  return [
    ...wrap(`State directory ${visibleLine(home)}${owner === null ? "" : `, owned by process ${owner}`}`, width),
    ...checks.flatMap((check) => checkLines(check, context)),
    ...wrap(isReplay && verdict === "ok" ? "Whatever could be derived again gave what is stored." : verdicts[verdict], width),
  ];
}

function checkLines(check: Check, context: DoctorContext): readonly string[] {
  const worst = severities.findLast((severity) => check.findings.some((finding) => finding.severity === severity)) ?? "sound";
  return [
    ...marked(looks[worst], `${names[check.name]}: ${visibleLine(check.looked)}`, "", context),
    ...check.findings.flatMap((finding) => findingLines(finding, context)),
  ];
}

function findingLines({ severity, what, commands }: Finding, context: DoctorContext): readonly string[] {
  return [...marked(looks[severity], visibleLine(what), "  ", context), ...commands.map((words) => `      ${context.command(...words)}`)];
}

/** A mark before the first line, and room of its width before the others. */
function marked({ mark, tone }: Look, text: string, indent: string, { width, paint }: DoctorContext): readonly string[] {
  return wrap(text, Math.max(1, width - indent.length - 2)).map((line, index) => `${indent}${index === 0 ? `${paint(tone, mark)} ` : "  "}${line}`);
}

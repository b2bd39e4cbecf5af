/** What the doctor found, for a person; pure. */
import { visibleLine } from "../../text/visible.ts";
import type { CheckName, DoctorReport, Severity } from "../../host/maintenance/report.ts";
import type { CommandLine } from "./next.ts";
import type { Paint, Tone } from "./style.ts";

const names: Readonly<Record<CheckName, string>> = {
  directory: "Directory",
  integrity: "Integrity",
  rows: "Rows",
  index: "Index rows",
  blobs: "Values",
  restore: "Restoring",
  runs: "Runs",
  replay: "Replay",
};

const looks: Readonly<Record<Severity, { readonly mark: string; readonly tone: Tone }>> = {
  note: { mark: "·", tone: "quiet" },
  stuck: { mark: "!", tone: "attention" },
  fault: { mark: "✗", tone: "bad" },
};

const verdicts: Readonly<Record<DoctorReport["verdict"], string>> = {
  ok: "Nothing is wrong, and nothing stands still.",
  stuck: "Nothing is wrong; what is marked with ! stands still until somebody acts.",
  fault: "Something is wrong: see what is marked with ✗. Nothing was changed.",
};

export function doctorPage(
  { home, owner, checks, verdict }: DoctorReport,
  { paint, command }: { readonly paint: Paint; readonly command: CommandLine },
): readonly string[] {
  if (checks.length === 0) return [`State directory ${visibleLine(home)}: nothing is stored there yet.`];
  const lines = [`State directory ${visibleLine(home)}${owner === null ? "" : `, owned by process ${owner}`}`];
  for (const { name, looked, findings } of checks) {
    const isClean = findings.every(({ severity }) => severity === "note");
    lines.push(`${paint(isClean ? "good" : "bad", isClean ? "✓" : "✗")} ${names[name]}: ${visibleLine(looked)}`);
    for (const { severity, what, commands } of findings) {
      const { mark, tone } = looks[severity];
      lines.push(`${paint(tone, mark)} ${visibleLine(what)}`, ...commands.map((words) => `    ${command(...words)}`));
    }
  }
  return [...lines, verdicts[verdict]];
}

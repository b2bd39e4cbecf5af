/** Who and what tried to settle a decision, for `show --audit`; pure. */
import type { DecisionAudit } from "../../host/api.ts";
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { Paint } from "./style.ts";
import { tableLines, type Cell, type Column } from "./table.ts";
import { localTime } from "./time.ts";
import { decisionLooks } from "./words.ts";

type Candidate = DecisionAudit["candidates"][number];

export interface AuditContext {
  readonly now: number;
  readonly width: number;
  readonly paint: Paint;
}

export function auditLines({ code, title, state, candidates, unlisted }: DecisionAudit, { now, width, paint }: AuditContext): readonly string[] {
  const head = wrap(`Audit of decision ${code} "${visibleLine(title)}", ${decisionLooks[state].word}`, width).map((line) => paint("quiet", line));
  if (candidates.length === 0) return [...head, ...wrap("  Nobody has tried to answer it.", width)];
  const columns: readonly Column[] = [{ title: "WHEN" }, { title: "BY", min: 8 }, { title: "ANSWER", min: 8 }, { title: "OUTCOME" }];
  const rows = candidates.map((candidate): readonly Cell[] => [
    { text: localTime(candidate.at, now) },
    { text: by(candidate) },
    { text: answer(candidate) },
    { text: candidate.outcome, tone: candidate.outcome === "won" ? "good" : candidate.outcome === "lost" ? "quiet" : "attention" },
  ]);
  const more = unlisted === 0 ? [] : wrap(`${unlisted} more were refused; \`pawl export\` has them.`, width);
  return [...head, ...tableLines(columns, rows, width, paint), ...more];
}

function by({ kind, source }: Candidate): string {
  if (source !== null) return `${source.kind === "human" ? "" : `${source.kind} `}${source.actor} (${source.channel})`;
  return kind === "policy" ? "the deadline" : "a command";
}

function answer({ choice, input, reason }: Candidate): string {
  if (choice === null) return reason ?? "";
  return input === null ? choice : `${choice}: ${input}`;
}

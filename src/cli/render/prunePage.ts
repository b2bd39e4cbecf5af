/** What was pruned, for a person; pure. */
import { visibleLine } from "../../text/visible.ts";
import type { PrunedRun, PruneReport } from "../../host/maintenance/prune.ts";
import type { CommandLine } from "./next.ts";
import { localTime } from "./time.ts";
import { runLooks } from "./words.ts";

/** Runs that are named one by one; the rest is a number. */
const shownRuns = 20;

interface Context {
  readonly command: CommandLine;
  readonly clock: { now(): number };
}

export function prunePage({ dryRun, runs, kept, rows, blobs, freedBytes }: PruneReport, { command, clock }: Context): readonly string[] {
  const now = clock.now();
  const lines =
    runs.length === 0
      ? ["No finished run is old enough: nothing was pruned."]
      : dryRun
        ? [`${runs.length} finished ${runs.length === 1 ? "run" : "runs"} would go:`, ...listed(runs, now), "Nothing was changed."]
        : [
            `${runs.length} finished ${runs.length === 1 ? "run is" : "runs are"} gone, with ${rows} rows and ${blobs} values; the file is ${freedBytes} bytes smaller:`,
            ...listed(runs, now),
          ];
  if (kept.length === 0) return lines;
  return [
    ...lines,
    `${kept.length} ${kept.length === 1 ? "is" : "are"} kept, since an outcome in ${kept.length === 1 ? "it" : "them"} is unknown; settle it first:`,
    ...listed(kept, now),
    `  ${command("effect", "list")}`,
  ];
}

function listed(runs: readonly PrunedRun[], now: number): readonly string[] {
  const lines = runs
    .slice(0, shownRuns)
    .map(({ id, workflow, state, endedAt }) => `  ${id}  ${visibleLine(workflow)}, ${runLooks[state].word} ${localTime(endedAt, now)}`);
  return runs.length > shownRuns ? [...lines, `  and ${runs.length - shownRuns} more`] : lines;
}

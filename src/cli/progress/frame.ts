/** One picture of a run's progress as lines that fit the terminal; pure. */
import { cellWidth, padCells, truncate } from "../../text/cells.ts";
import { visibleLine, withoutAnsi } from "../../text/visible.ts";
import type { Paint } from "../render/style.ts";
import { duration } from "../render/time.ts";
import { runLooks, visitLooks } from "../render/words.ts";
import { isOpen, type Progress, type VisitProgress } from "./progress.ts";
import { updateLine } from "./update.ts";

export interface FrameSize {
  /** Cells; 1 or more. */
  readonly width: number;
  /** Lines at most; 1 or more. */
  readonly height: number;
}

/** Widest word of a state: "ambiguous", "completed", "timed out", "cancelled". */
const wordCells = 9;
/** Widest time: "59m 59s". */
const timeCells = 7;
const gap = 2;

/** The header, then the visits in order; what does not fit the height is said in a line of its own, never silently left out. */
export function frameLines(progress: Progress, now: number, { width, height }: FrameSize, paint: Paint): readonly string[] {
  const header = headerLine(progress, now, width, paint);
  const columns = columnsFor(progress.visits, width);
  const blocks = progress.visits.map((visit) => [visitLine(visit, now, width, columns, paint), ...outputLines(visit, width, paint)]);
  const lines = blocks.flat();
  if (lines.length + 1 <= height) return [header, ...lines];
  // The newest is what is happening: earlier visits give way.
  const kept = lines.slice(lines.length - Math.max(0, height - 2));
  const hidden = blocks.length - wholeBlocks(blocks, kept.length);
  return [header, paint("quiet", truncate(`  … ${hidden} earlier`, width)), ...kept].slice(0, height);
}

/** How many of the last blocks have all their lines among the last `lines` lines. */
function wholeBlocks(blocks: readonly (readonly string[])[], lines: number): number {
  let left = lines;
  return blocks.toReversed().filter((block) => (left -= block.length) >= 0).length;
}

function headerLine(progress: Progress, now: number, width: number, paint: Paint): string {
  const { word, tone } = runLooks[progress.state];
  const workflow = visibleLine(progress.workflow);
  const time = duration((progress.endedAt ?? now) - progress.startedAt);
  const full = `${workflow}  ${progress.run}  `;
  const state = `${word}  ${time}`;
  if (cellWidth(full) + state.length <= width) return `${paint("strong", workflow)}  ${paint("quiet", progress.run)}  ${paint(tone, word)}  ${time}`;
  const room = width - state.length - 2;
  return room >= 4 ? `${paint("strong", truncate(workflow, room))}  ${paint(tone, word)}  ${time}` : paint(tone, truncate(`${word} ${time}`, width));
}

interface Columns {
  readonly node: number;
  readonly time: boolean;
}

/** The same for all lines of a picture, so that they stand below each other; where there is no room the time goes first, then the end of the nodes' names. */
function columnsFor(visits: readonly VisitProgress[], width: number): Columns {
  const widest = Math.max(0, ...visits.map((visit) => cellWidth(visibleLine(visit.node))));
  const beforeTime = width - 4 - gap - wordCells;
  const besideTime = beforeTime - gap - timeCells;
  return besideTime >= Math.min(widest, 8) ? { node: Math.min(widest, besideTime), time: true } : { node: Math.min(widest, beforeTime), time: false };
}

/** Mark, node, state, time and, as far as there is room, what there is to say besides. */
function visitLine(visit: VisitProgress, now: number, width: number, columns: Columns, paint: Paint): string {
  const { mark, word, tone } = visitLooks[visit.status];
  if (columns.node < 1) return paint(tone, truncate(`${mark} ${word}`, width));
  const node = padCells(truncate(visibleLine(visit.node), columns.node), columns.node);
  const time = columns.time ? duration((visit.endedAt ?? now) - visit.startedAt) : "";
  const room = width - 4 - columns.node - gap - wordCells - gap - timeCells - gap;
  const notes = columns.time ? notesOf(visit, room) : "";
  if (notes !== "") return `  ${paint(tone, mark)} ${node}  ${paint(tone, padCells(word, wordCells))}  ${padCells(time, timeCells)}  ${paint("quiet", notes)}`;
  return time === ""
    ? `  ${paint(tone, mark)} ${node}  ${paint(tone, word)}`
    : `  ${paint(tone, mark)} ${node}  ${paint(tone, padCells(word, wordCells))}  ${time}`;
}

/** The case that was taken and how often it took, as far as they fit whole. */
function notesOf(visit: VisitProgress, room: number): string {
  const taken = visit.case === null ? "" : `-> ${visibleLine(visit.case)}`;
  const attempt = visit.attempt > 1 ? `attempt ${visit.attempt}` : "";
  const both = taken === "" || attempt === "" ? "" : `${taken}  ${attempt}`;
  return [both, taken, attempt].find((notes) => notes !== "" && cellWidth(notes) <= room) ?? "";
}

function outputLines(visit: VisitProgress, width: number, paint: Paint): readonly string[] {
  if (!isOpen(visit)) return [];
  const updates = visit.updates.map((update) => `    ${updateLine(update, Math.max(1, width - 4))}`).map((line) => truncate(line, width));
  const lines = visit.lines.map((line) => paint("quiet", truncate(`    | ${visibleLine(withoutAnsi(line))}`, width)));
  return [...updates, ...lines];
}

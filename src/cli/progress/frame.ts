/** One picture of a run's progress as lines that fit the terminal; pure. */
import { cellWidth, padCells, truncate } from "../../text/cells.ts";
import { visibleLine, withoutAnsi } from "../../text/visible.ts";
import type { Paint, Tone } from "../render/style.ts";
import { duration } from "../render/time.ts";
import { runLooks, visitLooks } from "../render/words.ts";
import { isOpen, type Progress, type VisitProgress } from "./progress.ts";

export interface FrameSize {
  /** Cells; 1 or more. */
  readonly width: number;
  /** Lines at most; 1 or more. */
  readonly height: number;
}

/** Widest word of a state, so that times stand below each other: "ambiguous", "completed", "timed out", "cancelled". */
const wordCells = 9;

/** The header, then the visits in order; what does not fit the height is said in a line of its own, never silently left out. */
export function frameLines(progress: Progress, now: number, { width, height }: FrameSize, paint: Paint): readonly string[] {
  const header = headerLine(progress, now, width, paint);
  const nodeCells = Math.max(0, ...progress.visits.map((visit) => cellWidth(visibleLine(visit.node))));
  const blocks = progress.visits.map((visit) => [visitLine(visit, now, width, nodeCells, paint), ...outputLines(visit, width, paint)]);
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

interface Part {
  readonly text: string;
  readonly tone: Tone;
}

/** Mark, node, state, time and what there is to say besides; where there is no room, the last ones go first. */
export function visitLine(visit: VisitProgress, now: number, width: number, nodeCells: number, paint: Paint): string {
  const { mark, word, tone } = visitLooks[visit.status];
  const node = visibleLine(visit.node);
  const state: Part = { text: padCells(word, wordCells), tone };
  const time: Part = { text: padCells(duration((visit.endedAt ?? now) - visit.startedAt), 7), tone: "plain" };
  const notes: Part = { text: notesOf(visit), tone: "quiet" };
  for (const [parts, shortest] of [[[state, time, notes], 8], [[state, time], 8], [[state], 8], [[{ text: word, tone }], 4]] as const) {
    const room = width - cellWidth(`  ${mark} `) - parts.reduce((total, part) => total + 2 + cellWidth(part.text), 0);
    if (room < Math.min(cellWidth(node), shortest)) continue;
    const rest = parts.map((part, index) => `  ${paint(part.tone, index === parts.length - 1 ? part.text.trimEnd() : part.text)}`).join("");
    return `  ${paint(tone, mark)} ${padCells(truncate(node, room), Math.min(nodeCells, room))}${rest}`;
  }
  return paint(tone, truncate(`${mark} ${word}`, width));
}

function notesOf(visit: VisitProgress): string {
  return [visit.attempt > 1 ? `attempt ${visit.attempt}` : "", visit.case === null ? "" : `-> ${visibleLine(visit.case)}`].filter((note) => note !== "").join("  ");
}

function outputLines(visit: VisitProgress, width: number, paint: Paint): readonly string[] {
  if (!isOpen(visit)) return [];
  return visit.lines.map((line) => paint("quiet", truncate(`    | ${visibleLine(withoutAnsi(line))}`, width)));
}

/** Rows in aligned columns that never exceed the width; where columns have no room, each row becomes a short list. Pure. */
import { cellWidth, padCells, truncate, wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import { noPaint, type Paint, type Tone } from "./style.ts";

export interface Column {
  readonly title: string;
  /** Narrower than this (in cells) a column may not become; its widest cell when left out. */
  readonly min?: number;
  readonly align?: "left" | "right";
}

export interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

const gap = 2;

/** Lines without a newline. Text is made safe here. `width` in cells, at least 1. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly Cell[])[], width: number, paint: Paint = noPaint): readonly string[] {
  const safeRows = rows.map((row) => row.map((cell) => ({ ...cell, text: visibleLine(cell.text) })));
  const widths = fitted(columns, safeRows, width);
  if (!widths) return safeRows.flatMap((row, index) => [...(index === 0 ? [] : [""]), ...listed(columns, row, width, paint)]);
  const header = columns.map((column) => ({ text: column.title, tone: "quiet" as const }));
  return [header, ...safeRows].map((row) => aligned(columns, row, widths, paint));
}

/** Width of each column, or null when not even the narrowest fit. The widest columns give way first. */
function fitted(columns: readonly Column[], rows: readonly (readonly Cell[])[], width: number): readonly number[] | null {
  const wanted = columns.map((column, index) => Math.max(cellWidth(column.title), ...rows.map((row) => cellWidth(row[index]?.text ?? ""))));
  const least = columns.map((column, index) => Math.min(wanted[index] ?? 0, Math.max(column.min ?? Number.POSITIVE_INFINITY, cellWidth(column.title))));
  const room = width - gap * (columns.length - 1);
  if (sum(least) > room) return null;
  const widths = [...wanted];
  while (sum(widths) > room) {
    let widest = -1;
    for (const [index, value] of widths.entries()) {
      if (value > (least[index] ?? 0) && value > (widths[widest] ?? -1)) widest = index;
    }
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function aligned(columns: readonly Column[], row: readonly Cell[], widths: readonly number[], paint: Paint): string {
  const cells = columns.map((column, index) => {
    const cell = row[index] ?? { text: "" };
    const room = widths[index] ?? 0;
    const cut = room === 0 ? "" : truncate(cell.text, room);
    const text = column.align === "right" ? " ".repeat(room - cellWidth(cut)) + cut : padCells(cut, room);
    return { text, tone: cell.tone ?? "plain" };
  });
  const last = cells.findLastIndex((cell) => cell.text.trim() !== "");
  return cells
    .slice(0, last + 1)
    .map((cell, index) => paint(cell.tone, index === last ? cell.text.trimEnd() : cell.text))
    .join(" ".repeat(gap));
}

function listed(columns: readonly Column[], row: readonly Cell[], width: number, paint: Paint): readonly string[] {
  return columns.flatMap((column, index) => {
    const cell = row[index];
    if (!cell || cell.text === "") return [];
    return wrap(`${column.title}: ${cell.text}`, width).map((line) => paint(cell.tone ?? "plain", line));
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

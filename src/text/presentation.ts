/** A decision's presentation as plain text: every block, in order, whole, at any width. Screens and channels show it through here. */
import { cellWidth, padCells, wrap, wrapExact } from "./cells.ts";
import { visibleLine } from "./visible.ts";

/** What a presentation is made of; `pawl.decision-presentation.v1` has this shape. */
export interface PresentationText {
  readonly summary: string;
  readonly blocks: readonly PresentationTextBlock[];
}

export type PresentationTextBlock =
  | { readonly kind: "paragraph"; readonly text: string }
  | { readonly kind: "section"; readonly title: string }
  | { readonly kind: "bullets"; readonly items: readonly string[] }
  | { readonly kind: "fields"; readonly fields: readonly { readonly label: string; readonly value: string }[] }
  | { readonly kind: "preformatted"; readonly text: string };

/** Cells that a value must have beside the labels, and the most that labels may take. */
const roomForValue = 20;
const roomForLabel = 32;
/** Longest underline of a section's title. */
const longestRule = 40;
/** Below this width indentation would leave too little for the text. */
const roomToIndent = 8;

/**
 * Lines of at most `width` cells (1 or more), safe for a terminal; empty lines part the blocks, but not a section's title from what follows.
 * With Infinity lines are broken only where the text has line ends.
 */
export function renderPresentation(presentation: PresentationText, width: number): string[] {
  const lines = wrap(presentation.summary, width);
  let afterTitle = false;
  for (const block of presentation.blocks) {
    const shown = renderBlock(block, width);
    if (shown.length === 0) continue;
    lines.push(...(afterTitle ? shown : ["", ...shown]));
    afterTitle = block.kind === "section";
  }
  return lines;
}

function renderBlock(block: PresentationTextBlock, width: number): string[] {
  switch (block.kind) {
    case "paragraph":
      return wrap(block.text, width);
    case "section":
      return section(block.title, width);
    case "bullets":
      return block.items.flatMap((item) => hanging("- ", wrapBeside("- ", item, width), width));
    case "fields":
      return fields(block.fields, width);
    case "preformatted":
      return hanging("| ", width < roomToIndent ? wrapExact(block.text, width) : wrapExact(block.text, width - 2), width, "| ");
  }
}

function section(title: string, width: number): string[] {
  const lines = wrap(visibleLine(title), width);
  return [...lines, "-".repeat(Math.min(longestRule, Math.max(1, ...lines.map(cellWidth))))];
}

function fields(list: readonly { readonly label: string; readonly value: string }[], width: number): string[] {
  const labels = list.map(({ label }) => `${visibleLine(label)}:`);
  const column = Math.max(0, ...labels.map(cellWidth)) + 1;
  const aligned = width !== Infinity && column <= roomForLabel && column + roomForValue <= width;
  return list.flatMap(({ value }, i) => {
    const label = labels[i] ?? "";
    const text = visibleLine(value);
    if (aligned) return hanging(padCells(label, column), wrap(text, width - column), width);
    const oneLine = text === "" ? label : `${label} ${text}`;
    if (cellWidth(oneLine) <= width) return [oneLine];
    const indent = width < roomToIndent ? "" : "  ";
    return [...wrap(label, width), ...wrap(text, width - indent.length).map((line) => indent + line)];
  });
}

function wrapBeside(prefix: string, text: string, width: number): string[] {
  return wrap(visibleLine(text), width < roomToIndent ? width : width - cellWidth(prefix));
}

/** Puts a prefix before the first line and `rest` (by default spaces) before the others; on a narrow screen the prefix has a line of its own. */
function hanging(prefix: string, lines: readonly string[], width: number, rest = " ".repeat(cellWidth(prefix))): string[] {
  if (width < roomToIndent) return width < cellWidth(prefix.trimEnd()) ? [...lines] : [prefix.trimEnd(), ...lines];
  return lines.map((line, i) => {
    const start = i === 0 ? prefix : rest;
    return line === "" ? start.trimEnd() : start + line;
  });
}

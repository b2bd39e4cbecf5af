/** Redraws a block of lines in place, at the end of what the terminal shows. One write a frame, nothing is cleared before it is overwritten,
 *  so nothing flickers; the cursor is never hidden, so a killed process leaves a whole terminal. */
import { stripVTControlCharacters } from "node:util";
import { cellWidth } from "../../text/cells.ts";

/** Where the block is drawn. */
export interface PaintTarget {
  write(text: string): unknown;
  /** Cells a line has now; the terminal may have been made narrower since the last frame. */
  readonly columns: number;
}

export interface LivePainter {
  /** Puts these lines in the place of the earlier ones. Each must fit the width. */
  draw(lines: readonly string[]): void;
  /** Puts lines above the block, for good. */
  above(lines: readonly string[]): void;
  /** Leaves the block where it is; the next `draw` begins a new one below it. */
  release(): void;
}

const eraseLineEnd = "\u001b[K";
const eraseBelow = "\u001b[J";

export function livePainter(target: PaintTarget): LivePainter {
  let drawn: readonly string[] = [];
  // A terminal made narrower has wrapped the lines it already shows.
  const rowsUsed = (): number =>
    drawn.reduce((rows, line) => rows + Math.max(1, Math.ceil(cellWidth(stripVTControlCharacters(line)) / Math.max(1, target.columns))), 0);
  const home = (): string => {
    const rows = rowsUsed();
    return rows === 0 ? "" : `\u001b[${rows}A\r`;
  };
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}${eraseLineEnd}\n`).join("");
  return {
    draw(lines) {
      target.write(home() + text(lines) + eraseBelow);
      drawn = lines;
    },
    above(lines) {
      target.write(home() + text(lines) + text(drawn) + eraseBelow);
    },
    release() {
      drawn = [];
    },
  };
}

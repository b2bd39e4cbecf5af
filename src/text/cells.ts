/** Text measured in terminal cells and broken between graphemes. Expects text that `visible` made safe. */
import { visible, visibleLine, written } from "./visible.ts";
import { widthOfAny } from "./widthOfAny.ts";

let segmenter: Intl.Segmenter | undefined;

/** Columns between tab stops. */
const tabStop = 4;

const ellipsis = "…";

/** One unbreakable piece of text and its width in cells. */
interface Cell {
  readonly text: string;
  readonly width: number;
}

/** Characters that never join with a neighbour: ASCII, Latin and Cyrillic letters, dashes, quotes, dots and Pawl's own marks of one cell, kana, Han and Hangul syllables of two. */
const plain = /^[\x20-\x7E\u00B7\u2010-\u2027\u25B8\u2713\u2717\u00C0-\u024F\u0400-\u0482\u3041-\u3096\u30A1-\u30FA\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7A3]*$/;
const firstOfTwoCells = 0x3041;

/** Cells that a text takes on a terminal; tabs and line ends count as nothing, so take them out before. */
export function cellWidth(text: string): number {
  // Most text is plain, and counting it so is a hundred times faster than looking for graphemes in it.
  if (!plain.test(text)) return widthOfAny(text);
  let width = text.length;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) >= firstOfTwoCells) width += 1;
  return width;
}

/** The graphemes of a text. */
export function graphemes(text: string): string[] {
  return Array.from((segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })).segment(text), ({ segment }) => segment);
}

/** Fills a text up with spaces to `width` cells; a wider one stays as it is. */
export function padCells(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - cellWidth(text)));
}

/** One safe line of at most `width` cells (1 or more), its end cut with an ellipsis where it is longer. For labels in lists, never for what a person decides on. */
export function truncate(text: string, width: number): string {
  const line = visibleLine(text);
  if (cellWidth(line) <= width) return line;
  let kept = "";
  let used = cellWidth(ellipsis);
  for (const cell of cellsOf(line, width)) {
    if (used + cell.width > width) break;
    kept += cell.text;
    used += cell.width;
  }
  return kept + ellipsis;
}

/**
 * Safe text as lines of at most `width` cells (1 or more; Infinity breaks only at LF).
 * Lines are broken at spaces, which go away at the break; longer words between graphemes. Nothing else is left out.
 */
export function wrap(text: string, width: number): string[] {
  return visible(text)
    .split("\n")
    .flatMap((line) => wrapLine(expandTabs(line), width));
}

/** As `wrap`, but each space keeps its place: for text whose columns mean something. */
export function wrapExact(text: string, width: number): string[] {
  return visible(text)
    .split("\n")
    .flatMap((line) => breakAnywhere(cellsOf(expandTabs(line), width), width));
}

function expandTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let column = 0;
  let out = "";
  for (const [i, part] of line.split("\t").entries()) {
    if (i > 0) {
      const spaces = tabStop - (column % tabStop);
      out += " ".repeat(spaces);
      column += spaces;
    }
    out += part;
    column += cellWidth(part);
  }
  return out;
}

function wrapLine(line: string, width: number): string[] {
  if (cellWidth(line) <= width) return [line];
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const { gap, word } of wordsOf(line)) {
    const wordWidth = cellWidth(word);
    if (used + gap.length + wordWidth <= width) {
      current += gap + word;
      used += gap.length + wordWidth;
      continue;
    }
    if (word === "") break;
    // The indentation of the first line is kept; between words a break takes the place of the spaces.
    if (current !== "") lines.push(current);
    const broken = breakAnywhere(cellsOf(lines.length === 0 && current === "" ? gap + word : word, width), width);
    lines.push(...broken.slice(0, -1));
    current = broken.at(-1) ?? "";
    used = cellWidth(current);
  }
  lines.push(current);
  return lines;
}

/** Words with the spaces before them; trailing spaces come as an empty word. */
function wordsOf(line: string): { readonly gap: string; readonly word: string }[] {
  return Array.from(line.matchAll(/( *)([^ ]+|$)/g), ([, gap = "", word = ""]) => ({ gap, word })).filter(({ gap, word }) => gap !== "" || word !== "");
}

/** Graphemes that fit the width. One that cannot is taken apart, and a code point that cannot is written out in narrow characters: nothing is dropped. */
function cellsOf(line: string, width: number): Cell[] {
  return graphemes(line).flatMap((grapheme) => {
    const whole = { text: grapheme, width: cellWidth(grapheme) };
    if (whole.width <= width) return [whole];
    return [...grapheme].flatMap((character) => {
      const one = { text: character, width: cellWidth(character) };
      return one.width > 0 && one.width <= width ? [one] : [...written(character)].map((text) => ({ text, width: 1 }));
    });
  });
}

function breakAnywhere(cells: readonly Cell[], width: number): string[] {
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const cell of cells) {
    if (used + cell.width > width && current !== "") {
      lines.push(current);
      current = "";
      used = 0;
    }
    current += cell.text;
    used += cell.width;
  }
  lines.push(current);
  return lines;
}

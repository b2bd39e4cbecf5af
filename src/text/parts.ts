/** A long text cut into the parts in which a messaging channel must send it. */
import { graphemes } from "./cells.ts";

/**
 * UTF-16 units of text in one part. Telegram's messages, the smallest of the channels', hold 4,096 characters;
 * the rest is for the frame of each part and for what the last one asks.
 */
export const partUnits = 3500;

/**
 * The text in parts of at most `units` UTF-16 units, which put together give the text again.
 * A part ends after an empty line, else after a line, else after a space, where one stands in its second half; else between graphemes.
 */
export function splitParts(text: string, units: number = partUnits): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > units) {
    const length = cut(rest, units);
    parts.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return [...parts, rest];
}

function cut(text: string, units: number): number {
  const head = text.slice(0, units);
  for (const end of ["\n\n", "\n", " "]) {
    const at = head.lastIndexOf(end);
    if (at + end.length > units / 2) return at + end.length;
  }
  return lastBoundary(text, units);
}

/** The last grapheme boundary at or before `units`; inside a grapheme that is longer, the last code point boundary. */
function lastBoundary(text: string, units: number): number {
  let at = 0;
  for (const grapheme of graphemes(text.slice(0, units + 64))) {
    if (at + grapheme.length > units) break;
    at += grapheme.length;
  }
  if (at > 0) return at;
  const code = text.charCodeAt(units - 1);
  return code >= 0xd800 && code <= 0xdbff && units > 1 ? units - 1 : units;
}

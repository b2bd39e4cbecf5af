/** Any JSON value as bounded, safe lines. */
import { wrap } from "../../text/cells.ts";

export interface ValueBounds {
  readonly width: number;
  /** Lines at most, the line that says what was left out not counted. */
  readonly lines: number;
}

const longestText = 64_000;

/** Pretty JSON; a string stands as its own text. What does not fit is counted in a last line. */
export function valueLines(value: unknown, { width, lines }: ValueBounds): readonly string[] {
  const whole = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null");
  const all = wrap(whole.slice(0, longestText), width);
  const cut = all.length > lines || whole.length > longestText;
  return cut ? [...all.slice(0, lines), ...wrap(`… cut, ${whole.length} characters in all; --json shows everything`, width)] : all;
}

/** On one line, for tables and headers: compact JSON. */
export function valueLine(value: unknown): string {
  return (typeof value === "string" ? value : (JSON.stringify(value) ?? "null")).slice(0, 1_000);
}

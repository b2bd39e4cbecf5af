/** Where in a file something went wrong, and how that is shown. */

/** Lines and columns from 1. */
export interface Place {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** A file that cannot be loaded as a module, for a reason of ours. */
export class ModuleProblem extends Error {
  override readonly name = "ModuleProblem";
  readonly place: Place;
  constructor(message: string, place: Place, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.place = place;
  }
}

export const placeText = ({ file, line, column }: Place): string =>
  [file, line, line === undefined ? undefined : column].filter((part) => part !== undefined).join(":");

const frameWidth = 160;

/** The lines around a place, the line itself and the column marked; empty when there is nothing to show. */
export function codeFrame(text: string | undefined, { line, column }: Place): string {
  const lines = text?.split(/\r?\n/) ?? [];
  if (line === undefined || lines[line - 1] === undefined) return "";
  const first = Math.max(1, line - 2);
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  const shown: string[] = [];
  for (let number = first; number <= last; number += 1) {
    const content = (lines[number - 1] ?? "").replace(/\t/g, " ");
    shown.push(`${number === line ? ">" : " "} ${String(number).padStart(width)} | ${content.slice(0, frameWidth)}`.trimEnd());
    if (number === line && column !== undefined && column <= frameWidth) shown.push(`  ${" ".repeat(width)} | ${" ".repeat(column - 1)}^`);
  }
  return shown.join("\n");
}

/** The first place in an error's stack that lies in one of these files. */
export function placeInStack(error: unknown, files: readonly string[]): Required<Place> | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  for (const frame of stack.split("\n")) {
    for (const file of files) {
      const at = frame.indexOf(`${file}:`);
      // A longer path may end in the same letters.
      const isWhole = at === 0 || /[\s(]$|file:\/\/$/.test(frame.slice(0, at));
      const [, line, column = "1"] = at < 0 || !isWhole ? [] : (/^(\d+)(?::(\d+))?/.exec(frame.slice(at + file.length + 1)) ?? []);
      if (line !== undefined) return { file, line: Number(line), column: Number(column) };
    }
  }
  return undefined;
}

/** What a terminal would show of what was written to it: the few sequences that Pawl and readline use, and a refusal of every other one. */
import { cellWidth, graphemes } from "../../src/text/cells.ts";

export interface Emulator {
  write(text: string): void;
  /** All lines from the first one on, scrolled-away ones included, without the spaces at their ends. */
  lines(): readonly string[];
  resize(columns: number): void;
}

const sequence = /^\u001b\[([?0-9;]*)([A-Za-z])/;

/** Lines never reflow, as in a plain xterm. Rows are not limited: what scrolls away stays readable here. */
export function emulator(columns: number, rows: number): Emulator {
  const screen: string[][] = [[]];
  let row = 0;
  let column = 0;
  let width = columns;
  const line = (): string[] => (screen[row] ??= []);
  const put = (grapheme: string): void => {
    const cells = Math.max(1, cellWidth(grapheme));
    if (column + cells > width) {
      row += 1;
      column = 0;
    }
    const cellsOfLine = line();
    while (cellsOfLine.length < column) cellsOfLine.push(" ");
    cellsOfLine.splice(column, cells, grapheme, ...Array.from({ length: cells - 1 }, () => ""));
    column += cells;
  };
  const control = (parameters: string, letter: string): void => {
    const count = Number(parameters) || 1;
    // The cursor cannot leave the window upwards.
    const top = Math.max(0, screen.length - rows);
    if (letter === "A") row = Math.max(top, row - count);
    else if (letter === "B") row += count;
    else if (letter === "C") column += count;
    else if (letter === "D") column = Math.max(0, column - count);
    else if (letter === "G") column = count - 1;
    else if (letter === "K") line().splice(column);
    else if (letter === "J") {
      line().splice(column);
      screen.splice(row + 1);
    } else if (letter !== "m" && !((letter === "h" || letter === "l") && parameters === "?2004")) {
      throw new Error(`the terminal got an unknown sequence: ESC [ ${parameters} ${letter}`);
    }
  };
  return {
    write(text) {
      for (let rest = text; rest !== "";) {
        const found = sequence.exec(rest);
        if (found) {
          control(found[1] ?? "", found[2] ?? "");
          rest = rest.slice(found[0].length);
          continue;
        }
        const [first = ""] = graphemes(rest.slice(0, 40));
        rest = rest.slice(first.length);
        if (first === "\r\n" || first === "\n") {
          row += 1;
          column = 0;
          line();
        } else if (first === "\r") column = 0;
        else if (first === "\b") column = Math.max(0, column - 1);
        else if (/[\u0000-\u001f\u007f-\u009f]/.test(first)) throw new Error(`the terminal got a raw control character: ${JSON.stringify(first)}`);
        else put(first);
      }
    },
    lines: () => screen.map((cells) => cells.join("").trimEnd()),
    resize(to) {
      width = to;
    },
  };
}

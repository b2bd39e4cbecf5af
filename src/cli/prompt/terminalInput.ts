/** Reads what a person types, a line at a time, from the terminal. Owns the raw mode while it asks. */
import { createInterface } from "node:readline";
import type { ReadStream } from "node:tty";
import type { Clock } from "../../runtime/clock.ts";
import type { Screen } from "../processOutput.ts";

/** What came of asking: a line or text, or why there is none. `left` tells Ctrl-C (`interrupt`) from Ctrl-D (`end`). */
export type Typed = { readonly kind: "text"; readonly text: string } | { readonly kind: "left"; readonly by: "interrupt" | "end" } | { readonly kind: "withdrawn" };

const typedAheadMs = 60;

/** Throws away what was typed before the question could be seen: a key pressed early must not approve anything. */
export async function discardTypedAhead(input: ReadStream, clock: Clock): Promise<void> {
  const ignore = (): void => {};
  input.setRawMode(true);
  input.on("data", ignore);
  input.resume();
  await new Promise<void>((done) => {
    clock.schedule(clock.now() + typedAheadMs, done);
  });
  input.off("data", ignore);
  input.pause();
  input.setRawMode(false);
}

interface Asking {
  readonly input: ReadStream;
  readonly output: Screen;
  /** Takes the question back, when somebody else has answered it. */
  readonly signal: AbortSignal;
}

/** One line. Ctrl-D leaves. */
export function readLine(asking: Asking): Promise<Typed> {
  return read(asking, { line: (text) => text, end: () => null });
}

/**
 * Several lines, joined by LF: an empty line that is typed ends them, one inside a paste belongs to the text
 * (bracketed paste tells them apart). Ctrl-D ends them too.
 */
export function readText(asking: Asking): Promise<Typed> {
  const lines: string[] = [];
  const whole = (): string => lines.join("\n");
  return read(asking, {
    line(text, pasted) {
      if (text === "" && !pasted) return whole();
      lines.push(text);
      return null;
    },
    end: whole,
  });
}

interface Reader {
  /** The finished text, or null to read on. */
  line(text: string, pasted: boolean): string | null;
  /** What Ctrl-D makes of it: the finished text, or null to leave. */
  end(): string | null;
}

const pasteMarksOn = "\u001b[?2004h";
const pasteMarksOff = "\u001b[?2004l";

function read({ input, output, signal }: Asking, reader: Reader): Promise<Typed> {
  return new Promise((resolve) => {
    const lines = createInterface({ input, output, terminal: true, historySize: 0, crlfDelay: Infinity, prompt: "> " });
    let pasting = false;
    let settled = false;
    const settle = (typed: Typed): void => {
      if (settled) return;
      settled = true;
      signal.removeEventListener("abort", withdraw);
      input.off("keypress", watchPaste);
      lines.close();
      output.write(typed.kind === "text" && !ended ? pasteMarksOff : `${pasteMarksOff}\n`);
      resolve(typed);
    };
    let ended = false;
    const withdraw = (): void => settle({ kind: "withdrawn" });
    const watchPaste = (_text: unknown, key: { readonly name?: string | undefined } | undefined): void => {
      if (key?.name === "paste-start") pasting = true;
      if (key?.name === "paste-end") pasting = false;
    };
    lines.on("line", (line) => {
      const text = reader.line(line, pasting);
      if (text === null) lines.prompt();
      else settle({ kind: "text", text });
    });
    lines.on("SIGINT", () => settle({ kind: "left", by: "interrupt" }));
    lines.on("close", () => {
      ended = true;
      const text = reader.end();
      settle(text === null ? { kind: "left", by: "end" } : { kind: "text", text });
    });
    input.on("keypress", watchPaste);
    signal.addEventListener("abort", withdraw);
    output.write(pasteMarksOn);
    if (signal.aborted) withdraw();
    else lines.prompt();
  });
}

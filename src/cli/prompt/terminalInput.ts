/** Reads what a person types during one question. The terminal is in raw mode from before the question is shown until it is settled,
 *  so that no key falls between two prompts. */
import { createInterface, type Interface } from "node:readline";
import type { Clock } from "../../runtime/clock.ts";
import type { Terminal } from "../environment.ts";

/** What came of asking: a text, or why there is none. `left` tells Ctrl-C (`interrupt`) from Ctrl-D (`end`). */
export type Typed =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "left"; readonly by: "interrupt" | "end" }
  | { readonly kind: "withdrawn" };

export interface TerminalInput {
  /** One line. Ctrl-D leaves. */
  readLine(): Promise<Typed>;
  /**
   * Several lines, joined by LF: an empty line that is typed ends them, one inside a paste belongs to the text
   * (bracketed paste tells them apart). Ctrl-D ends them too.
   */
  readText(): Promise<Typed>;
  /** Gives the terminal back. */
  close(): void;
}

const typedAheadMs = 60;
const ctrlC = "\u0003";
const pasteMarksOn = "\u001b[?2004h";
const pasteMarksOff = "\u001b[?2004l";

type Key = { readonly kind: "line"; readonly text: string; readonly pasted: boolean } | { readonly kind: "interrupt" | "end" | "withdrawn" };

/**
 * Takes the terminal for one question. What was typed before is thrown away, but for Ctrl-C: a key pressed before the question could be seen must not approve anything.
 * When `withdrawn` aborts, whoever reads is told so.
 */
export async function openTerminalInput({ input, output }: Terminal, clock: Clock, withdrawn: AbortSignal): Promise<TerminalInput> {
  const keys: Key[] = [];
  const ignore = (early: Uint8Array | string): void => {
    if (String(early).includes(ctrlC)) keys.push({ kind: "interrupt" });
  };
  input.setRawMode(true);
  input.on("data", ignore);
  input.resume();
  await new Promise<void>((done) => {
    clock.schedule(clock.now() + typedAheadMs, done);
  });
  input.off("data", ignore);

  let wake = (): void => {};
  let closed = false;
  let pasting = false;
  const add = (key: Key): void => {
    keys.push(key);
    wake();
  };
  const watchPaste = (_text: unknown, key: { readonly name?: string | undefined } | undefined): void => {
    if (key?.name === "paste-start") pasting = true;
    if (key?.name === "paste-end") pasting = false;
  };
  const withdraw = (): void => add({ kind: "withdrawn" });
  const open = (): Interface => {
    const opened = createInterface({ input, output, terminal: true, historySize: 0, crlfDelay: Infinity, prompt: "> " });
    opened.on("line", (text) => add({ kind: "line", text, pasted: pasting }));
    opened.on("SIGINT", () => add({ kind: "interrupt" }));
    // Back from Ctrl-Z: readline has paused its input, and the shell may have turned off the paste marks.
    opened.on("SIGCONT", () => {
      output.write(pasteMarksOn);
      opened.prompt(true);
    });
    // Ctrl-D closes readline; the question may go on.
    opened.on("close", () => {
      if (closed) return;
      lines = open();
      add({ kind: "end" });
    });
    return opened;
  };
  let lines = open();
  input.on("keypress", watchPaste);
  withdrawn.addEventListener("abort", withdraw);
  // Node gives back the terminal's mode itself, whatever ends the process, but not the paste marks.
  const restore = (): void => void output.write(pasteMarksOff);
  process.on("exit", restore);
  output.write(pasteMarksOn);
  if (withdrawn.aborted) withdraw();

  const next = async (): Promise<Key> => {
    for (;;) {
      const key = keys.shift();
      if (key) return key;
      await new Promise<void>((done) => (wake = done));
    }
  };
  /** `line` and `end` give the finished text, or null: to read on, or to leave. */
  const read = async (line: (text: string, pasted: boolean) => string | null, end: () => string | null): Promise<Typed> => {
    for (;;) {
      if (keys.length === 0) lines.prompt();
      const key = await next();
      if (key.kind !== "line") output.write("\n");
      if (key.kind === "withdrawn") return { kind: "withdrawn" };
      if (key.kind === "interrupt") return { kind: "left", by: "interrupt" };
      const text = key.kind === "line" ? line(key.text, key.pasted) : end();
      if (text !== null) return { kind: "text", text };
      if (key.kind === "end") return { kind: "left", by: "end" };
    }
  };
  return {
    readLine: () =>
      read(
        (text) => text,
        () => null,
      ),
    readText() {
      const typed: string[] = [];
      const whole = (): string => typed.join("\n");
      const add = (text: string, pasted: boolean): string | null => {
        if (text === "" && !pasted) return whole();
        typed.push(text);
        return null;
      };
      return read(add, whole);
    },
    close() {
      closed = true;
      withdrawn.removeEventListener("abort", withdraw);
      input.off("keypress", watchPaste);
      process.off("exit", restore);
      restore();
      lines.close();
    },
  };
}

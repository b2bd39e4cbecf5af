/** Steps that are functions run in this process and may print. What they print is caught here, so that it can neither steer the terminal
 *  nor spoil JSON on standard output, and shown as safe lines by whoever reports the run. */
import { visibleLine, withoutAnsi } from "../text/visible.ts";

/** A stream whose `write` can be taken over: standard output and error. */
export interface Writer {
  write: (...args: never[]) => boolean;
}

const longestLine = 4096;

/**
 * Sends whole safe lines to `line` in place of what is written to `streams`, until the returned function is called,
 * which gives the unfinished line too. Those who write for the command line itself must hold the original `write`.
 */
export function catchOutput(streams: readonly Writer[], line: (text: string) => void): () => void {
  const restores = streams.map((stream) => {
    const { write } = stream;
    const decoder = new TextDecoder();
    let open = "";
    const take = (text: string): void => {
      const parts = (open + text).split("\n");
      open = (parts.pop() ?? "").slice(-longestLine);
      for (const part of parts) line(safe(part));
    };
    stream.write = (...args: readonly unknown[]) => {
      const [chunk, ...rest] = args;
      take(chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : String(chunk));
      const done = rest.findLast((value) => typeof value === "function");
      if (done) queueMicrotask(() => done());
      return true;
    };
    return () => {
      stream.write = write;
      if (open !== "") line(safe(open));
    };
  });
  return () => restores.forEach((restore) => restore());
}

const safe = (text: string): string => visibleLine(withoutAnsi(text.replace(/\r$/, ""))).slice(0, longestLine);

/** The command line's own way to standard output and error: goes on when `catchOutput` takes over what workflow code writes there,
 *  and ends quietly when nobody reads any more. */
import { Writable } from "node:stream";
import { WriteStream } from "node:tty";

/** Standard output as a terminal. A stream of its own, so that readline and the painter do not pass through a `write` that was taken over. */
export class Screen extends Writable {
  readonly isTTY = true;
  readonly #stdout: WriteStream;
  readonly #out: (text: string) => void;

  constructor(stdout: WriteStream, out: (text: string) => void) {
    super({ decodeStrings: false });
    this.#stdout = stdout;
    this.#out = out;
    stdout.on("resize", () => this.emit("resize"));
  }

  get columns(): number {
    return this.#stdout.columns || 80;
  }

  get rows(): number {
    return this.#stdout.rows || 24;
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    this.#out(String(chunk));
    done();
  }
}

export interface ProcessOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Null when standard output is no terminal. */
  readonly screen: Screen | null;
  /** Resolves when everything written was handed to the operating system. */
  flush(): Promise<void>;
}

/** `onClosed` is called once, when a reader of standard output has gone (EPIPE, or EIO of a closed window). */
export function processOutput(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream, onClosed: () => void): ProcessOutput {
  const writeOut = stdout.write.bind(stdout);
  const writeErr = stderr.write.bind(stderr);
  let closed = false;
  stdout.on("error", () => {
    if (!closed) onClosed();
    closed = true;
  });
  // Where even standard error is gone nobody can be told.
  stderr.on("error", () => {});
  const out = (text: string): void => {
    if (!closed) writeOut(text);
  };
  return {
    out,
    err: (text) => void writeErr(text),
    screen: stdout instanceof WriteStream ? new Screen(stdout, out) : null,
    flush: async () => {
      await Promise.all([writeOut, writeErr].map((write) => new Promise<void>((done) => write("", () => done()))));
    },
  };
}

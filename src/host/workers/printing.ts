/** What author code prints in a worker, by the call that printed it: followed through whatever it awaits. */
import { AsyncLocalStorage } from "node:async_hooks";
import { BoundedOutput } from "../boundedOutput.ts";

interface Printer {
  readonly out: BoundedOutput;
  readonly err: BoundedOutput;
}

type Chunk = string | Uint8Array;

export class Printing {
  private readonly current = new AsyncLocalStorage<Printer>();

  constructor() {
    this.divert(process.stdout, ({ out }) => out);
    this.divert(process.stderr, ({ err }) => err);
  }

  /** Runs work; whole lines that it and what it began print go to `line`. */
  async of<T>(line: (text: string) => void, work: () => Promise<T>): Promise<T> {
    const printer: Printer = { out: new BoundedOutput(line, 0), err: new BoundedOutput(line, 0) };
    try {
      return await this.current.run(printer, work);
    } finally {
      printer.out.end();
      printer.err.end();
    }
  }

  /** What no call printed goes where it always went: the host reads that too. */
  private divert(stream: NodeJS.WriteStream, side: (printer: Printer) => BoundedOutput): void {
    const write = stream.write.bind(stream);
    const diverted = (chunk: Chunk, encoding?: BufferEncoding | ((error?: Error | null) => void), done?: (error?: Error | null) => void): boolean => {
      const printer = this.current.getStore();
      const callback = typeof encoding === "function" ? encoding : done;
      if (printer === undefined) return typeof encoding === "string" ? write(chunk, encoding, callback) : write(chunk, callback);
      side(printer).add(typeof chunk === "string" ? Buffer.from(chunk, typeof encoding === "string" ? encoding : "utf8") : chunk);
      if (callback) process.nextTick(callback);
      return true;
    };
    stream.write = diverted;
  }
}

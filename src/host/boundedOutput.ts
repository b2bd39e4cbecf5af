/** Collects one output stream of a command: decoded over chunk edges, bounded, with its lines told live. */
import { StringDecoder } from "node:string_decoder";
import { SteadyLines } from "./steadyLines.ts";

/** Most characters (UTF-16 units) that are kept of one stream, mark included. */
export const outputLimit = 1_000_000;
/** Most characters of a line that is told live. */
export const lineLimit = 500;
/** Characters at the end of the stream that are kept for a failure's message, beyond the limit too. */
const tailLimit = 2_000;

/** Cuts at a length without leaving half a surrogate pair at the end. */
export function cutAt(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

function lastOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const first = text.charCodeAt(text.length - length);
  return text.slice(text.length - (first >= 0xdc00 && first <= 0xdfff ? length - 1 : length));
}

export class BoundedOutput {
  readonly #decoder = new StringDecoder("utf8");
  readonly #lines: SteadyLines;
  readonly #limit: number;
  #kept: string[] = [];
  #keptLength = 0;
  #total = 0;
  #tail = "";
  #line = "";

  constructor(onLine: (line: string) => void, limit = outputLimit, now?: () => number) {
    this.#lines = new SteadyLines(onLine, now);
    this.#limit = limit;
  }

  /** True when characters were dropped. */
  get truncated(): boolean {
    return this.#total > this.#limit;
  }

  add(chunk: Uint8Array): void {
    this.#take(this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)));
  }

  /** Call once at the end: an unfinished character or line is told too. */
  end(): void {
    this.#take(this.#decoder.end());
    if (this.#line !== "") this.#lines.line(this.#takeLine());
    this.#lines.end();
  }

  /** What was kept; when characters were dropped it ends with a mark that says how many. */
  text(): string {
    const all = this.#kept.join("");
    if (!this.truncated) return all;
    const markFor = (kept: number): string => `\n[truncated: ${this.#total - kept} more characters]`;
    const head = cutAt(all, this.#limit - markFor(0).length);
    return head + markFor(head.length);
  }

  /** The end of the stream, even when it was truncated. */
  tail(): string {
    return lastOf(this.#tail, tailLimit);
  }

  #take(given: string): void {
    if (given === "") return;
    // What is stored holds no NUL: the result of a command is not lost for the sake of one.
    const text = given.replaceAll("\0", "\ufffd");
    this.#total += text.length;
    const room = this.#limit - this.#keptLength;
    if (room > 0) {
      const part = text.slice(0, room);
      this.#kept.push(part);
      this.#keptLength += part.length;
    }
    this.#tail = lastOf(this.#tail + lastOf(text, tailLimit), tailLimit);
    this.#split(text);
  }

  #split(text: string): void {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      if (this.#lines.isFull()) {
        from = this.#skip(text, from);
        break;
      }
      this.#collect(text.slice(from, at));
      this.#lines.line(this.#takeLine());
      from = at + 1;
    }
    this.#collect(text.slice(from));
  }

  /** Past every whole line from here on; only the last of them is read. */
  #skip(text: string, from: number): number {
    const end = text.lastIndexOf("\n");
    let count = 0;
    for (let at = text.indexOf("\n", from); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
    if (count > 1) this.#line = "";
    this.#collect(text.slice(count > 1 ? text.lastIndexOf("\n", end - 1) + 1 : from, end));
    this.#lines.skip(count, this.#takeLine());
    return end + 1;
  }

  /** One character more than is told, so that a cut can be seen. */
  #collect(part: string): void {
    if (this.#line.length <= lineLimit) this.#line += part.slice(0, lineLimit + 2);
  }

  #takeLine(): string {
    const line = this.#line.endsWith("\r") ? this.#line.slice(0, -1) : this.#line;
    this.#line = "";
    return line.length > lineLimit ? `${cutAt(line, lineLimit - 1)}…` : line;
  }
}

/** Lines out of bytes: UTF-8, ended by a newline, bounded. Pure; HOST-40. */
import { PawlError } from "../../errors.ts";
import { maxLineBytes } from "./limits.ts";

/** What the other side sent is no message of this protocol; the connection is closed for it, nothing else is. */
export const malformed = (what: string, path?: string): PawlError =>
  new PawlError("protocolBroken", `The other side sent ${what}. Its connection is closed; nothing was done for it.`, path === undefined ? {} : { path });

/** Gathers bytes until lines are whole. A newline's byte is part of no other character, so a character cut by a chunk's edge needs no care until then. */
export class LineDecoder {
  private readonly limit: number;
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  private failure: PawlError | null = null;

  constructor(limit = maxLineBytes) {
    this.limit = limit;
  }

  /** The lines that these bytes complete. After it threw it takes nothing more and holds nothing. @throws protocolBroken for a line that is too long or no UTF-8 */
  push(bytes: Uint8Array): readonly string[] {
    if (this.failure !== null) throw this.failure;
    const lines: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      this.hold(bytes.subarray(from, end));
      lines.push(this.take());
      from = end + 1;
    }
    this.hold(bytes.subarray(from));
    return lines;
  }

  /** Bytes of the line that is not whole yet. */
  get waiting(): number {
    return this.heldBytes;
  }

  private hold(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    if (this.heldBytes + bytes.byteLength > this.limit) this.fail(malformed(`a line of more than ${this.limit} bytes`));
    this.held.push(bytes);
    this.heldBytes += bytes.byteLength;
  }

  private take(): string {
    const whole = this.held.length === 1 ? this.held[0] : Buffer.concat(this.held);
    this.held = [];
    this.heldBytes = 0;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(whole);
    } catch {
      return this.fail(malformed("bytes that are no UTF-8"));
    }
  }

  private fail(error: PawlError): never {
    this.failure = error;
    this.held = [];
    this.heldBytes = 0;
    throw error;
  }
}

const newline = 10;

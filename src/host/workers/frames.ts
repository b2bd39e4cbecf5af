/** The channel between host and worker: messages by structured clone, each behind its length, over a socket that neither leaves to others. */
import type { Socket } from "node:net";
import { deserialize, serialize } from "node:v8";
import { maxValueBytes } from "../../workflow/execute.ts";

/** Bytes of one message at most: a text of the largest value, where each character takes two, and what stands around it. */
export const frameLimit = 2 * maxValueBytes + 1024 * 1024;

/** Where a worker finds its channel, and the stream whose end says that the host is gone. */
export const channelFd = 3;
export const lifelineFd = 4;

const headBytes = 4;
/** Below this a message is copied to be written at once. */
const copyLimit = 64 * 1024;

/** A message that is larger than the channel carries. */
export class FrameTooLarge extends Error {
  override readonly name = "FrameTooLarge";
  readonly bytes: number;
  constructor(bytes: number) {
    super(`A message of ${bytes} bytes is larger than the ${frameLimit} that pass between host and worker.`);
    this.bytes = bytes;
  }
}

export interface FrameHandlers {
  /** One message, not yet checked. A throw breaks the channel. */
  readonly message: (value: unknown) => void;
  /** The other side sent what is no message; nothing more is read. */
  readonly broken: (error: unknown) => void;
}

export class Frames {
  private readonly socket: Socket;
  private readonly handlers: FrameHandlers;
  private chunks: Buffer[] = [];
  private bytes = 0;
  /** Bytes that are needed before anything can be done. */
  private needed = headBytes;

  constructor(socket: Socket, handlers: FrameHandlers) {
    this.socket = socket;
    this.handlers = handlers;
    socket.on("data", (chunk: Buffer) => this.read(chunk));
    // The end of the other side is told by its process, or by the socket's own close.
    socket.on("error", () => undefined);
  }

  /** What is written and not yet taken by the system, in bytes. */
  get backlog(): number {
    return this.socket.writableLength;
  }

  /** Writes at once where the system takes it: what precedes an exit arrives. @throws FrameTooLarge; then nothing was sent */
  send(message: object): void {
    if (!this.socket.writable) return;
    const body = serialize(message);
    if (body.byteLength > frameLimit) throw new FrameTooLarge(body.byteLength);
    const head = Buffer.alloc(headBytes);
    head.writeUInt32BE(body.byteLength);
    if (body.byteLength < copyLimit) this.socket.write(Buffer.concat([head, body]));
    else {
      this.socket.write(head);
      this.socket.write(body);
    }
  }

  close(): void {
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.bytes += chunk.byteLength;
    try {
      while (this.bytes >= this.needed) this.next();
    } catch (error) {
      this.close();
      this.handlers.broken(error);
    }
  }

  private next(): void {
    const all = this.chunks.length === 1 && this.chunks[0] ? this.chunks[0] : Buffer.concat(this.chunks);
    const length = all.readUInt32BE();
    if (length > frameLimit) throw new FrameTooLarge(length);
    const end = headBytes + length;
    this.chunks = [all];
    if (all.byteLength < end) {
      this.needed = end;
      return;
    }
    const rest = all.subarray(end);
    this.chunks = rest.byteLength === 0 ? [] : [rest];
    this.bytes = rest.byteLength;
    this.needed = headBytes;
    this.handlers.message(deserialize(all.subarray(headBytes, end)));
  }
}

/** A connection whose bytes arrive when the schedule says so, in pieces of any length, until it is cut. Both ends see what a socket would show them. */
import type { PawlError } from "../../../src/errors.ts";
import type { Connection, ConnectionListener } from "../../../src/host/protocol/connection.ts";
import type { Life } from "./power.ts";
import { LineDecoder } from "../../../src/host/protocol/lines.ts";

const newline = 10;

/** One direction. */
export class Pipe {
  bytes: Uint8Array = new Uint8Array();
  /** Nothing more is sent. */
  isEnded = false;
  private readonly decoder = new LineDecoder();

  put(text: string): void {
    if (!this.isEnded) this.bytes = Buffer.concat([this.bytes, Buffer.from(text)]);
  }

  /** The lines that these bytes complete. @throws protocolBroken */
  take(count: number): readonly string[] {
    const piece = this.bytes.subarray(0, count);
    this.bytes = this.bytes.subarray(count);
    return this.decoder.push(piece);
  }

  /** Loses everything after the first `kept` bytes; returns how many lines were lost whole or in part. */
  cut(kept: number): number {
    const lost = this.bytes.subarray(kept).filter((byte) => byte === newline).length;
    this.bytes = this.bytes.subarray(0, kept);
    this.isEnded = true;
    return lost;
  }
}

/** What one side holds in its hand. */
export class End implements Connection {
  private hasDied = false;
  private listener: ConnectionListener | null = null;
  private isPaused = false;
  private isClosed = false;
  private readonly incoming: Pipe;
  private readonly outgoing: Pipe;
  private readonly life: Life;

  constructor(incoming: Pipe, outgoing: Pipe, life: Life) {
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.life = life;
  }

  readonly isCongested = false;

  /** The process is gone: nothing is said and nothing is heard. */
  get isDead(): boolean {
    return this.hasDied || !this.life.alive;
  }

  send(line: string): boolean {
    if (this.isDead || this.outgoing.isEnded) return false;
    this.outgoing.put(`${line}\n`);
    return true;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(): void {
    if (this.isDead) return;
    this.outgoing.isEnded = true;
    this.incoming.cut(0);
  }

  listen(listener: ConnectionListener): void {
    this.listener = listener;
  }

  /** Something can reach it. */
  get canHear(): boolean {
    return !this.isDead && !this.isClosed && !this.isPaused && this.listener !== null && (this.incoming.bytes.length > 0 || this.incoming.isEnded);
  }

  /** So many bytes arrive; without any left, the end of the connection does. */
  hear(count: number): void {
    const { listener } = this;
    if (listener === null) return;
    if (this.incoming.bytes.length === 0) {
      this.isClosed = true;
      this.outgoing.isEnded = true;
      listener.closed();
      return;
    }
    let lines: readonly string[];
    try {
      lines = this.incoming.take(count);
    } catch (error) {
      listener.fault(error as PawlError); // the decoder throws no other
      return;
    }
    for (const line of lines) listener.line(line);
  }

  /** Its process is gone: what it sent is under way, what it was sent is lost. */
  die(): void {
    this.hasDied = true;
    this.outgoing.isEnded = true;
    this.incoming.cut(0);
  }
}

export class Wire {
  readonly up = new Pipe();
  readonly down = new Pipe();
  readonly client: End;
  readonly server: End;
  readonly number: number;

  constructor(number: number, client: Life, server: Life) {
    this.number = number;
    this.client = new End(this.down, this.up, client);
    this.server = new End(this.up, this.down, server);
  }

  end(side: string): End | undefined {
    return side === "up" ? this.server : side === "down" ? this.client : undefined;
  }

  pipe(side: string): Pipe {
    return side === "up" ? this.up : this.down;
  }
}

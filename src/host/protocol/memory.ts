/** A connection without a socket: two ends in one process, lines delivered in order, each in a task of its own. */
import type { Connection, ConnectionListener } from "./connection.ts";

/** Lines on the way to an end that takes none, from which on the other end counts as congested. */
const congestedLines = 64;

class End implements Connection {
  private readonly queue: string[] = [];
  private listener: ConnectionListener | null = null;
  private peer: End | null = null;
  private paused = false;
  private closing = false;
  private closed = false;
  private pumping = false;

  join(peer: End): void {
    this.peer = peer;
  }

  send(line: string): boolean {
    if (this.closing || this.closed) return false;
    this.peer?.take(line);
    return !this.isCongested;
  }

  get isCongested(): boolean {
    return (this.peer?.queue.length ?? 0) > congestedLines;
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.pump();
  }

  listen(listener: ConnectionListener): void {
    this.listener = listener;
    this.pump();
  }

  close(): void {
    if (this.closing) return;
    this.closing = true;
    this.pump();
    this.peer?.pump();
  }

  private take(line: string): void {
    this.queue.push(line);
    this.pump();
  }

  private pump(): void {
    if (this.pumping || this.listener === null) return;
    this.pumping = true;
    setImmediate(() => {
      this.pumping = false;
      this.step();
    });
  }

  private step(): void {
    const { listener, peer } = this;
    if (listener === null || this.closed) return;
    const line = this.paused ? undefined : this.queue.shift();
    if (line !== undefined && !this.closing) listener.line(line);
    if (this.queue.length === 0 && line !== undefined) peer?.listener?.drain();
    if (this.closing || (peer?.closing === true && this.queue.length === 0)) {
      this.closed = true;
      this.closing = true;
      listener.closed();
      peer?.pump();
      return;
    }
    if (this.queue.length > 0 && !this.paused) this.pump();
  }
}

export function memoryPair(): readonly [Connection, Connection] {
  const one = new End();
  const other = new End();
  one.join(other);
  other.join(one);
  return [one, other];
}

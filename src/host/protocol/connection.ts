/** What host and client see of a connection: a socket, or a pair in memory for tests and the simulator. */
import type { PawlError } from "../../errors.ts";

export interface Connection {
  /** Sends one line. False when the other side is slow: what can wait should wait for `onDrain`. Nothing once it is closed. */
  send(line: string): boolean;
  /** True while much that was sent has not been taken yet. */
  readonly isCongested: boolean;
  /** Takes no more lines until `resume`. */
  pause(): void;
  resume(): void;
  /** Sends what is under way and closes. Idempotent. */
  close(): void;
  /** Exactly one listener each; to be set in the tick in which the connection is handed over. */
  listen(listener: ConnectionListener): void;
}

export interface ConnectionListener {
  line(line: string): void;
  /** Everything that was sent has been taken. */
  drain(): void;
  /** What came is no line of this protocol; nothing more is taken from this connection. */
  fault(error: PawlError): void;
  /** Once, whoever closed it. */
  closed(): void;
}

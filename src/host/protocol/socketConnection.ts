/** A connection over a socket. */
import type { Socket } from "node:net";
import { isPawlError, messageOf, PawlError } from "../../errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { Connection, ConnectionListener } from "./connection.ts";
import { congestedBytes } from "./limits.ts";
import { LineDecoder } from "./lines.ts";

const hardCloseMs = 1_000;

export function socketConnection(socket: Socket): Connection {
  const decoder = new LineDecoder();
  const queue: string[] = [];
  let listener: ConnectionListener | null = null;
  let paused = false;
  let failed = false;
  let cancelHardClose = (): void => {};

  const deliver = (): void => {
    while (!paused && listener !== null && !failed) {
      const line = queue.shift();
      if (line === undefined) break;
      listener.line(line);
    }
    if (paused || failed || queue.length > 0) socket.pause();
    else socket.resume();
  };
  socket.on("data", (bytes: Buffer) => {
    try {
      queue.push(...decoder.push(bytes));
      deliver();
    } catch (error) {
      failed = true;
      socket.pause();
      listener?.fault(isPawlError(error) ? error : new PawlError("internal", messageOf(error), { cause: error }));
    }
  });
  socket.on("drain", () => listener?.drain());
  // A connection that breaks is told by its close.
  socket.on("error", () => {});
  socket.on("close", () => {
    cancelHardClose();
    listener?.closed();
  });

  return {
    send(line) {
      if (socket.destroyed || socket.writableEnded) return false;
      socket.write(`${line}\n`);
      return socket.writableLength <= congestedBytes;
    },
    get isCongested() {
      return socket.writableLength > congestedBytes;
    },
    pause() {
      paused = true;
      socket.pause();
    },
    resume() {
      paused = false;
      deliver();
    },
    close() {
      if (socket.destroyed) return;
      cancelHardClose();
      // Whoever reads nothing any more cannot keep a closed connection open.
      cancelHardClose = systemClock.schedule(systemClock.now() + hardCloseMs, () => void socket.destroy());
      socket.destroySoon();
      // What still comes must be taken, or the other side's end would never be seen.
      socket.resume();
    },
    listen(added) {
      listener = added;
      deliver();
    },
  };
}

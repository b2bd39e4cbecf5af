/** Listens on the socket of a state directory that this process owns. HOST-51, HOST-52. */
import { chmodSync, lstatSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { checkSocketDirectory, socketPath } from "../protocol/address.ts";
import type { Connection } from "../protocol/connection.ts";
import { socketConnection } from "../protocol/socketConnection.ts";
import { messageOf, PawlError } from "../../errors.ts";

export interface Listening {
  readonly path: string;
  /** The socket is still the one that was made, where it was made. */
  isInPlace(): boolean;
  /** Takes no more connections and removes the socket. */
  close(): void;
}

/** @throws storageFailed when no socket can be made there */
export async function listen(home: string, accept: (connection: Connection) => void): Promise<Listening> {
  const path = socketPath(home);
  checkSocketDirectory(path, true);
  // The lock says that no other host lives: a socket that is here is left of one that was killed.
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isSocket())
    throw new PawlError("storageFailed", `The host cannot listen at ${path}: something else stands there, which is no socket. Move it away, then try again.`, {
      subject: path,
    });
  rmSync(path, { force: true });
  const server = createServer((socket) => accept(socketConnection(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(
        new PawlError("storageFailed", `The host cannot listen at ${path} (${messageOf(cause)}). Use another state directory: PAWL_HOME=/another/directory`, {
          subject: path,
          cause,
        }),
      ),
    );
    // Made private in the same call: between making and changing a mode somebody could come in.
    const before = process.umask(0o177);
    try {
      server.listen(path, resolve);
    } finally {
      process.umask(before);
    }
  });
  chmodSync(path, 0o600);
  // One connection that fails is its own affair.
  server.on("error", () => {});
  const made = lstatSync(path).ino;
  const isInPlace = (): boolean => statSync(path, { throwIfNoEntry: false })?.ino === made;
  return {
    path,
    isInPlace,
    close() {
      server.close();
      if (isInPlace()) rmSync(path, { force: true });
    },
  };
}

/** Where a host listens: in its state directory, or, where that path is too long for a socket, under a short one that anybody finds the same way. */
import { chmodSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../digest.ts";
import { PawlError } from "../../errors.ts";

export const socketFileName = "host.sock";

/** The system takes 107 bytes (macOS 103). */
const longestPath = 100;

/** Not the TMPDIR of the environment: host and client may have different ones. */
const shortParent = "/tmp";

/** The socket's path for this state directory (absolute; need not exist). */
export function socketPath(home: string): string {
  const real = realHome(home);
  const path = join(real, socketFileName);
  return Buffer.byteLength(path) <= longestPath ? path : join(shortDirectory(), `${sha256Hex(real).slice(0, 24)}.sock`);
}

const shortDirectory = (): string => `${shortParent}/pawl-${process.getuid?.() ?? 0}`;

/** Two names of one directory are one host's. */
function realHome(home: string): string {
  try {
    return realpathSync(home);
  } catch {
    return home; // it is not there yet; whoever makes it looks again
  }
}

/**
 * Makes sure that nobody else can put a socket where this path is, or take part in what is said there.
 * `make`: makes the short directory when it is needed. @throws storageFailed when it is not this user's alone
 */
export function checkSocketDirectory(path: string, make: boolean): void {
  const directory = shortDirectory();
  if (!path.startsWith(`${directory}/`)) return;
  if (make) {
    try {
      mkdirSync(directory, { mode: 0o700 });
      chmodSync(directory, 0o700);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw notPrivate(directory, error);
    }
  }
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory() || (found.mode & 0o077) !== 0 || found.uid !== (process.getuid?.() ?? found.uid)) throw notPrivate(directory);
}

const notPrivate = (directory: string, cause?: unknown): PawlError =>
  new PawlError(
    "storageFailed",
    `${directory}, where hosts of state directories with long paths listen, is not yours alone, or cannot be made. Have it removed, or use a state directory with a shorter path: PAWL_HOME=/another/directory`,
    { subject: directory, cause },
  );

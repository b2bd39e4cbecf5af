/** Makes a directory and those above it, private to this user. */
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Node's own recursive way never returns where the file system has no such directory to make, as below /proc. @throws what the system refuses with */
export function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(path);
  if (above !== path) makeDirectory(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else was faster.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

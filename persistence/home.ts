/** The state directory itself: that it is one, whose it is, and whether what stands in it can be taken for new. */
import { chmodSync, existsSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { backupDirectory } from "./backup.ts";
import { PawlError } from "../src/errors.ts";
import { shellWord } from "../src/text/shellWord.ts";
import { damaged, fileError } from "./refusals.ts";

/** Makes the directory (0700) when it is missing. @throws storageFailed when others may write in one that was there */
export function makeHome(home: string): void {
  try {
    makeDirectory(home);
  } catch (error) {
    throw fileError(error, home);
  }
  if (isOpenToWriters(home))
    throw new PawlError(
      "storageFailed",
      `State directory ${home} can be written by other users, who could change or replace what is stored. Nothing was changed. Make it yours alone: chmod 700 ${shellWord(home)}. To use another one: PAWL_HOME=/another/directory`,
      { subject: home },
    );
}

/** Not mkdir's own `recursive`: on a read-only file system that says "no such file" instead of the truth. */
function makeDirectory(path: string): void {
  // A directory that was there keeps its mode: it may be more than ours.
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (!existsSync(dirname(path))) makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    throw error;
  }
  chmodSync(path, 0o700); // whatever the umask took away
}

/** For a reader, to whom a missing directory is an empty one. @throws storageFailed, storageReadOnly for what is there and no directory */
export function checkHome(home: string): void {
  try {
    if (statSync(home).isDirectory()) return;
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    // A link to nowhere is something, too: a disk that is not mounted, for one.
    if (isMissing && lstatSync(home, { throwIfNoEntry: false }) === undefined) return;
    throw fileError(error, home);
  }
  throw new PawlError("storageFailed", `The state directory ${home} is not a directory. Use another one: PAWL_HOME=/another/directory`, { subject: home });
}

/** A process that dies as it makes a database leaves an empty file, but nothing of what comes later. @throws storageDamaged */
export function checkEmpty(path: string): void {
  if (sizeOf(path) !== 0) return;
  const trace = ["sources", backupDirectory, `${basename(path)}-wal`].find((name) => (sizeOf(join(dirname(path), name)) ?? 0) > 0);
  if (trace !== undefined) throw damaged(path, `it is empty, but ${trace} beside it shows that something was stored`);
}

/** Whatever a directory has for a size is more than nothing. Null when there is none, or none that can be looked at: opening says why. */
function sizeOf(path: string): number | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? null : found.isDirectory() ? 1 : found.size;
  } catch {
    return null;
  }
}

/** Makes files private that others may write, a copied database for one; its log takes its mode. */
export function makePrivate(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      if (isOpenToWriters(path)) chmodSync(path, 0o600);
    } catch (error) {
      throw fileError(error, path);
    }
  }
}

/** Windows has no such modes. */
const isOpenToWriters = (path: string): boolean => process.platform !== "win32" && ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o022) !== 0;

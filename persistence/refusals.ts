/** What storage says when it must refuse: SQLite's and the file system's codes turned into errors that name the file and the way out. */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { isPawlError, messageOf, PawlError } from "../src/errors.ts";
import { shellWord } from "../src/text/shellWord.ts";

/** How to keep what is there and go on without it. */
export function startAfresh(databasePath: string): string {
  const home = dirname(databasePath);
  let aside = `${home}.aside`;
  for (let n = 2; existsSync(aside); n += 1) aside = `${home}.aside-${n}`;
  return `Nothing was changed. To keep it and start with a fresh one: mv ${shellWord(home)} ${shellWord(aside)} (or copy it first: cp -a ${shellWord(home)} ${shellWord(aside)}). To use another state directory instead: PAWL_HOME=/another/directory`;
}

export const damaged = (path: string, what: string, cause?: unknown): PawlError =>
  new PawlError("storageDamaged", `Database ${path}: ${what}. If you have a backup, put it back. ${startAfresh(path)}`, { subject: path, cause });

export const foreign = (path: string, what: string): PawlError =>
  new PawlError("storageForeign", `Database ${path} is not Pawl's: ${what}. ${startAfresh(path)}`, { subject: path });

export const newer = (path: string, found: number, known: number): PawlError =>
  new PawlError("storageNewer", `Database ${path} has schema ${found}; this Pawl knows schemas up to ${known}. Upgrade Pawl. ${startAfresh(path)}`, {
    subject: path,
  });

export const readOnly = (path: string, cause?: unknown): PawlError =>
  new PawlError(
    "storageReadOnly",
    `Pawl cannot read and write ${path}: ${reasonOf(cause)}. Make it readable and writable for this user (check: ls -ld ${shellWord(path)}), or use another state directory: PAWL_HOME=/another/directory`,
    { subject: path, cause },
  );

export const full = (path: string, cause?: unknown): PawlError =>
  new PawlError(
    "storageFull",
    `No space left for ${path}: nothing of this step was written. Free space on its disk (check: df -h ${shellWord(dirname(path))}) and try again`,
    { subject: path, cause },
  );

export const failed = (path: string, what: string, cause?: unknown): PawlError =>
  new PawlError("storageFailed", `Database ${path}: ${what}`, { subject: path, cause });

const reasonOf = (cause: unknown): string => (cause === undefined ? "it is read-only" : messageOf(cause));

/** SQLite's own code of an error (`SQLITE_FULL`, `SQLITE_CONSTRAINT_UNIQUE`), or nothing. */
export const sqliteCode = (error: unknown): string | undefined => (error instanceof Database.SqliteError ? error.code : undefined);

/** Errors of SQLite as Pawl's, about the file at `path`; whatever is not SQLite's comes back as it is. */
export function storageError(error: unknown, path: string): unknown {
  const code = sqliteCode(error);
  if (code === undefined || isPawlError(error)) return error;
  // Growing the shared-memory file is the one place where SQLite reports a full disk as an I/O error.
  if (code === "SQLITE_FULL" || code === "SQLITE_IOERR_SHMSIZE") return full(path, error);
  if (code.startsWith("SQLITE_CORRUPT")) return damaged(path, `it is damaged (${messageOf(error)})`, error);
  if (code === "SQLITE_NOTADB") return damaged(path, "it is not an SQLite database, or its header is damaged", error);
  if (code.startsWith("SQLITE_READONLY")) return readOnly(path, error);
  if (code.startsWith("SQLITE_CANTOPEN") || code === "SQLITE_PERM" || code === "SQLITE_AUTH")
    return withoutAccess(path) ?? failed(path, `it cannot be opened (${messageOf(error)}); check the path and the disk`, error);
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED"))
    return failed(path, "another program holds it locked; nothing was written. Close that program (a database browser, an sqlite3 shell) and try again", error);
  // Bad SQL or a misused statement is a bug, and no disk is to blame.
  if (code === "SQLITE_ERROR" || code === "SQLITE_MISUSE" || code === "SQLITE_RANGE") return error;
  return failed(
    path,
    `the disk or the operating system refused (${code}: ${messageOf(error)}); nothing of this step is known to be written. Check the disk, then start Pawl again`,
    error,
  );
}

/** `readOnly` when this user lacks a right on the file or its directory. Asks by path only: it never opens the file. */
function withoutAccess(path: string): PawlError | undefined {
  for (const place of [dirname(path), path]) {
    try {
      if (existsSync(place)) accessSync(place, constants.R_OK | constants.W_OK);
    } catch (cause) {
      return readOnly(place, cause);
    }
  }
  return undefined;
}

/** Errors of the file system while a state directory or file is made. */
export function fileError(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return readOnly(path, error);
  if (code === "ENOSPC" || code === "EDQUOT") return full(path, error);
  if (code === "ENOTDIR" || code === "EEXIST" || code === "ENOENT" || code === "ELOOP" || code === "ENAMETOOLONG")
    return new PawlError(
      "storageFailed",
      `The state directory ${path} cannot be used (${messageOf(error)}). Move what stands there out of the way, or use another one: PAWL_HOME=/another/directory`,
      { subject: path, cause: error },
    );
  return error;
}

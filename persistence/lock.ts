/** Who owns a state directory: an exclusive lock on a small SQLite file, held as long as the owner lives.
 *  The kernel frees it when the process dies, however it dies, and no reuse of a pid can fake it.
 *  owner.json beside it is only for people: it says who to look for, it proves nothing. */
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import BetterSqlite, { type Database } from "better-sqlite3";
import { PawlError } from "../src/errors.ts";
import { createPrivateFile } from "./database.ts";
import { shellWord } from "../src/text/shellWord.ts";
import { fileError, sqliteCode, storageError } from "./refusals.ts";

export const lockFileName = "pawl.lock";
export const ownerFileName = "owner.json";

/** How the owner introduces itself. `since` is an ISO time; `command` has no arguments: they may hold workflow input. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly command: string;
}

export interface OwnerLock {
  readonly owner: Owner;
  /** Gives the directory free. Idempotent. */
  release(): void;
}

/** By this name a host daemon introduces itself. */
export const hostCommand = "pawl host";

/** A starting owner may still be writing owner.json, a leaving one may still be closing: neither deserves a refusal. */
const patienceMs = 250;

/**
 * Takes ownership of the state directory `home`, which must exist.
 * @throws PawlError ownedElsewhere with the owner's pid; storageReadOnly, storageFull, storageDamaged.
 */
export function acquireLock(home: string, command: string = basename(process.argv[1] ?? "node")): OwnerLock {
  const path = join(home, lockFileName);
  createPrivateFile(path);
  const db = lockFile(path, home);
  const owner: Owner = { pid: process.pid, host: hostname(), since: new Date().toISOString(), command };
  try {
    introduce(home, owner);
  } catch (error) {
    db.close();
    throw fileError(error, join(home, ownerFileName));
  }
  return {
    owner,
    release() {
      if (!db.open) return;
      // Another process may own it by now, if somebody deleted the lock file.
      if (isSame(readOwner(home), owner)) rmSync(join(home, ownerFileName), { force: true });
      db.close();
    },
  };
}

function lockFile(path: string, home: string): Database {
  let db: Database | undefined;
  try {
    db = new BetterSqlite(path, { timeout: patienceMs });
    // Not WAL: there an exclusive transaction lets others in. In memory: no journal file for a kill to leave behind.
    db.pragma("journal_mode = memory");
    // Stays open for the owner's whole life; nothing is ever written in it.
    db.exec("begin exclusive");
    return db;
  } catch (error) {
    db?.close();
    const code = sqliteCode(error) ?? "";
    if (code.startsWith("SQLITE_BUSY")) throw ownedElsewhere(home, readOwner(home));
    if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) throw notALock(path, error);
    throw storageError(error, path);
  }
}

const notALock = (path: string, cause: unknown): PawlError =>
  new PawlError("storageDamaged", `Lock file ${path} is not what Pawl made. It holds no data: when no Pawl runs, delete it with: rm ${shellWord(path)}`, {
    subject: path,
    cause,
  });

function ownedElsewhere(home: string, owner: Owner | null): PawlError {
  const who = owner === null ? "another process that has not said who it is" : `process ${owner.pid} (${owner.command} on ${owner.host}, since ${owner.since})`;
  const how =
    owner === null
      ? "Wait until it ends"
      : owner.command === hostCommand
        ? "Stop it, which leaves its runs safe: `pawl host stop`"
        : `Wait until it ends, or end it with: kill ${owner.pid}`;
  return new PawlError(
    "ownedElsewhere",
    `State directory ${home} is owned by ${who}. ${how}. Until then it can be read, but not changed. To work apart from it: PAWL_HOME=/another/directory`,
    { subject: home },
  );
}

/** What the latest owner wrote about itself; it may have died since. Null when there is nothing readable. */
export function readOwner(home: string): Owner | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(home, ownerFileName), "utf8"));
    return isOwner(value) ? value : null;
  } catch {
    // The refusal then says that the owner is unknown, which is all anybody can do about it.
    return null;
  }
}

const isSame = (found: Owner | null, owner: Owner): boolean => found?.pid === owner.pid && found.since === owner.since && found.host === owner.host;

const isOwner = (value: unknown): value is Owner =>
  typeof value === "object" &&
  value !== null &&
  "pid" in value &&
  typeof value.pid === "number" &&
  "host" in value &&
  typeof value.host === "string" &&
  "since" in value &&
  typeof value.since === "string" &&
  "command" in value &&
  typeof value.command === "string";

function introduce(home: string, owner: Owner): void {
  const path = join(home, ownerFileName);
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Opens a database file: refuses what is not ours before anything is written, then sets and proves the connection's pragmas. */
import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import BetterSqlite, { type Database } from "better-sqlite3";
import { damaged, failed, fileError, foreign, sqliteCode, storageError } from "./refusals.ts";
import { createSchema, identify } from "./schema.ts";

export type DatabaseMode = "owner" | "reader";

export interface DatabaseOptions {
  readonly mode: DatabaseMode;
  /** How long a statement waits for another connection's lock, in ms; 5,000 when left out. */
  readonly busyTimeoutMs?: number;
}

/** Files up to this size are checked page by page at every open; larger ones only on demand, because opening must stay quick. */
const quickCheckLimitBytes = 64 * 1024 * 1024;

/** Pragma, value to set, value that must be read back. */
type Pragma = readonly [name: string, set: string, expected: string | number];

const everywhere: readonly Pragma[] = [
  ["foreign_keys", "on", 1],
  ["trusted_schema", "off", 0],
  ["cell_size_check", "on", 1],
  // Sorting and savepoints must not write run data into the system's temporary directory.
  ["temp_store", "memory", 2],
  // Without these macOS acknowledges a commit that is still in the drive's cache.
  ["fullfsync", "on", 1],
  ["checkpoint_fullfsync", "on", 1],
];

const onWrite: readonly Pragma[] = [
  // After journal_mode: this build of SQLite lowers it to NORMAL in WAL mode.
  ["synchronous", "full", 2],
  ["wal_autocheckpoint", "1000", 1000],
  ["journal_size_limit", String(quickCheckLimitBytes), quickCheckLimitBytes],
];

/**
 * Opens the database at `path` (absolute, or ":memory:" as owner); an owner makes it when it is missing or empty.
 * Returns null to a reader when nothing was ever stored there.
 * @throws PawlError storageForeign, storageNewer, storageDamaged, storageReadOnly, storageFull, storageFailed; the file is untouched.
 */
export function openDatabase(path: string, options: DatabaseOptions & { readonly mode: "owner" }): Database;
export function openDatabase(path: string, options: DatabaseOptions): Database | null;
export function openDatabase(path: string, options: DatabaseOptions): Database | null {
  const timeout = options.busyTimeoutMs ?? 5000;
  try {
    if (options.mode === "reader") return openReader(path, timeout);
    if (path !== ":memory:") prepareFile(path, timeout);
    return guarded(new BetterSqlite(path, { timeout }), (db) => {
      configureOwner(db, path, timeout);
      createSchema(db, path);
      return db;
    });
  } catch (error) {
    throw storageError(error, path);
  }
}

function openReader(path: string, timeout: number): Database | null {
  const size = sizeOf(path);
  if (size === null || size === 0) return null;
  return guarded(new BetterSqlite(path, { readonly: true, timeout }), (db) => {
    configure(db, path, timeout, [...everywhere, ["query_only", "on", 1]]);
    if (identify(db, path) === "ours") return db;
    db.close();
    return null;
  });
}

/** Makes a missing file private to this user; looks at an existing one through a read-only connection, which cannot change it. */
function prepareFile(path: string, timeout: number): void {
  const size = sizeOf(path);
  if (size === null) createPrivateFile(path);
  if (size === null || size === 0) return;
  try {
    const probe = new BetterSqlite(path, { readonly: true, timeout });
    guarded(probe, () => {
      if (identify(probe, path) === "ours") quickCheck(probe, path);
    });
    probe.close();
  } catch (error) {
    // A writer died while it made the file: the journal beside it can only be played back by a connection that may write.
    if (sqliteCode(error) !== "SQLITE_READONLY_ROLLBACK") throw error;
  }
}

/** Size in bytes, null when there is none. Asks by path: opening and closing the file here would drop SQLite's locks on it. */
function sizeOf(path: string): number | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return null;
    if (!found.isFile()) throw foreign(path, "it is not a file");
    return found.size;
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Makes an empty file with mode 0600, if there is none. A file that is new cannot carry locks yet, so closing it drops none. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
    chmodSync(path, 0o600); // whatever the umask took away
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw fileError(error, path);
  }
}

function configureOwner(db: Database, path: string, timeout: number): void {
  // Before the first page is written, or pruning could never give space back; afterwards it would only be a needless write.
  if (db.pragma("page_count", { simple: true }) === 0) db.pragma("auto_vacuum = incremental");
  const expected = path === ":memory:" ? "memory" : "wal";
  const mode = patiently(timeout, () => db.pragma("journal_mode = wal", { simple: true }));
  if (mode !== expected)
    throw failed(
      path,
      `its file system cannot hold a write-ahead log (journal mode stays ${String(mode)}). Use a directory on a local disk: PAWL_HOME=/another/directory`,
    );
  configure(db, path, timeout, [...everywhere, ...onWrite]);
  prove(db, path, [
    ["journal_mode", "", expected],
    ["auto_vacuum", "", 2],
    ["query_only", "", 0],
  ]);
}

function configure(db: Database, path: string, timeout: number, pragmas: readonly Pragma[]): void {
  for (const [name, value] of pragmas) db.pragma(`${name} = ${value}`);
  prove(db, path, [["busy_timeout", "", timeout], ...pragmas]);
}

function prove(db: Database, path: string, pragmas: readonly Pragma[]): void {
  for (const [name, , expected] of pragmas) {
    const actual = db.pragma(name, { simple: true });
    if (actual !== expected)
      throw failed(path, `the SQLite library did not take "${name}" (wanted ${expected}, has ${String(actual)}). Reinstall Pawl's dependencies: npm ci`);
  }
}

/** Switching to WAL answers "busy" at once, whatever the timeout, when several connections do it at the same moment. */
function patiently<T>(timeoutMs: number, work: () => T): T {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; ; waited += 10) {
    try {
      return work();
    } catch (error) {
      if (waited >= timeoutMs || !sqliteCode(error)?.startsWith("SQLITE_BUSY")) throw error;
      Atomics.wait(pause, 0, 0, 10);
    }
  }
}

function quickCheck(db: Database, path: string): void {
  const pages = Number(db.pragma("page_count", { simple: true })) * Number(db.pragma("page_size", { simple: true }));
  if (pages > quickCheckLimitBytes) return;
  const found = db.pragma("quick_check(1)", { simple: true });
  if (found !== "ok") throw damaged(path, `its check failed (${String(found)})`);
}

/** Closes the connection when the work on it fails. */
function guarded<T>(db: Database, work: (db: Database) => T): T {
  try {
    return work(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

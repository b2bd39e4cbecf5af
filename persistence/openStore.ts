/** Opens the store of a state directory: as its one owner, or to look at it beside the owner. */
import { dirname, isAbsolute, join } from "node:path";
import { PawlError } from "../src/errors.ts";
import type { CommitHooks } from "./commit.ts";
import { openDatabase, type DatabaseMode } from "./database.ts";
import { claim } from "./fence.ts";
import { checkEmpty, checkHome, makeHome, makePrivate } from "./home.ts";
import { acquireLock, lockFileName, type Owner } from "./lock.ts";
import { memoryStore } from "./memoryStore.ts";
import { storageError } from "./refusals.ts";
import { sqliteStore, type SqliteStore } from "./sqliteStore.ts";

export const databaseFileName = "pawl.db";

export interface OpenStoreOptions {
  /** State directory, absolute. An owner makes it (0700) when it is missing. */
  readonly home: string;
  readonly mode: DatabaseMode;
  /** How the owner introduces itself to the one it keeps out; no arguments, no input. The script's name when left out. */
  readonly command?: string;
  /** Crash points, for tests. */
  readonly hooks?: CommitHooks;
}

export interface OpenedStore {
  readonly store: SqliteStore;
  /** Path of the database file. */
  readonly path: string;
  /** Null for a reader. */
  readonly owner: Owner | null;
  /** Closes the store and gives the directory free. Idempotent. */
  release(): Promise<void>;
}

/**
 * Opens the store in `home`. A reader of a directory in which nothing was ever stored gets an empty store and leaves no trace.
 * @throws PawlError ownedElsewhere, storageForeign, storageNewer, storageDamaged, storageReadOnly, storageFull, storageFailed; what was there is untouched.
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  const { home, mode } = options;
  if (!isAbsolute(home)) throw new PawlError("invalidInput", `The state directory must be an absolute path, not ${JSON.stringify(home)}`, { path: "home" });
  const path = join(home, databaseFileName);
  if (mode === "reader") {
    checkHome(home);
    checkEmpty(path);
    const db = openDatabase(path, { mode });
    const store = db === null ? memoryStore() : sqliteStore(db);
    return { store, path, owner: null, release: () => store.close() };
  }
  makeHome(home);
  const lock = acquireLock(home, options.command);
  try {
    const store = ownedStore(path, options.hooks);
    return {
      store,
      path,
      owner: lock.owner,
      async release() {
        await store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function ownedStore(path: string, hooks: CommitHooks | undefined): SqliteStore {
  checkEmpty(path);
  const db = openDatabase(path, { mode: "owner" });
  try {
    makePrivate([path, `${path}-wal`, `${path}-shm`, join(dirname(path), lockFileName)]);
    return sqliteStore(db, hooks, claim(db));
  } catch (error) {
    db.close();
    throw storageError(error, path);
  }
}

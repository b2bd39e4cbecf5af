/** The Store on one SQLite connection. Every read is one short statement run to its end: no cursor stays open over an await,
 *  so that the write-ahead log can always be folded back. */
import type { Database } from "better-sqlite3";
import { PawlError } from "../src/errors.ts";
import { groupWriter, selectMeta, type CommitHooks } from "./commit.ts";
import { createPrivateFile } from "./database.ts";
import { exportRoot } from "./exportRoot.ts";
import { fenceOf, type Fence } from "./fence.ts";
import { inspector, type DatabaseFacts, type Orphan } from "./inspect.ts";
import { queryReader } from "./pages.ts";
import { pruner, type Pruned, type Pruner, type PruneRequest } from "./prune.ts";
import { storageError } from "./refusals.ts";
import type { Commit, CommitResult, Store } from "./store.ts";
import { actorOf, selectActor, selectChildren, type ActorColumns } from "./tables/actors.ts";
import { blobReader } from "./tables/blobs.ts";
import { effectReader } from "./tables/effects.ts";
import { inboxReader } from "./tables/inbox.ts";
import { journalReader } from "./tables/journal.ts";
import { timerReader } from "./tables/timers.ts";

/** What the SQLite store can do beside the seam. */
export interface SqliteStore extends Store {
  /** Writes a consistent copy to `target`, which must not exist or be empty; other connections go on meanwhile. */
  backup(target: string): Promise<void>;
  /** Checks every page, index and reference. Empty when all is well, else one line for each fault, at most 100. */
  check(): Promise<readonly string[]>;
  /** Writes one root actor with all that belongs to it into a database of its own. `blobs`: those that it names outside of the columns. */
  exportRoot(target: string, root: string, blobs: readonly string[]): Promise<void>;
  facts(): Promise<DatabaseFacts>;
  /** The next blob by hash and whether its bytes have that hash; null at the end. */
  nextBlob(after: string | null): Promise<{ readonly hash: string; readonly bytes: number; readonly sound: boolean } | null>;
  hasBlob(hash: string): Promise<boolean>;
  /** Blobs that no column names. */
  unreferencedBlobs(): Promise<readonly { readonly hash: string; readonly bytes: number }[]>;
  /** Rows that point at nothing, at most 100 of each kind. */
  orphans(): Promise<readonly Orphan[]>;
  /** Removes a finished root actor with all that belongs to it; null when it is not finished or has unsettled effects. Owner only. */
  prune(request: PruneRequest): Promise<Pruned | null>;
  /** Forgets the ids of events whose actors were pruned 30 days before `at`; how many actors that were. Owner only. */
  forgetPruned(at: number, isKept: PruneRequest["isKept"]): Promise<number>;
  /** Gives free pages back to the file system. Owner only. */
  shrink(): Promise<void>;
}

/** Makes a store of an open, prepared connection; closing the store closes the connection. */
export function sqliteStore(db: Database, hooks: CommitHooks = {}, fence: Fence = fenceOf(db)): SqliteStore {
  const path = db.name;
  const write = db.readonly ? refuseToWrite(path) : groupWriter(db, path, hooks, fence);
  const actor = db.prepare<[string], ActorColumns>(selectActor);
  const children = db.prepare<[string], ActorColumns>(selectChildren);
  const timers = timerReader(db);
  const effects = effectReader(db);
  const inbox = inboxReader(db);
  const blob = blobReader(db);
  const journal = journalReader(db);
  const query = queryReader(db);
  const meta = db.prepare<[], { lastAt: number }>(selectMeta);
  const inspect = inspector(db);
  const pruning = (): Pruner => {
    if (db.readonly) throw forReading(path);
    return pruner(db, fence);
  };

  // Async only in its form: a refusal is a rejected promise, never a throw at the call.
  const answer = async <T>(work: () => T): Promise<T> => {
    if (!db.open) throw new PawlError("closed", `Store ${path} is closed; open it again to go on`, { subject: path });
    try {
      return work();
    } catch (error) {
      throw storageError(error, path);
    }
  };

  return {
    load: (ids) => answer(() => found(ids, (id) => actor.get(id)).map(actorOf)),
    commit: (commits) => answer(() => write(commits)),
    due: (until, limit) => answer(() => timers.due(until, limit)),
    nextDue: () => answer(() => timers.next()),
    timers: (id) => answer(() => timers.ofActor(id)),
    openEffects: (limit, cursor = "") => answer(() => effects.open(cursor, limit)),
    effects: (keys) => answer(() => found(keys, effects.byKey)),
    visits: (visits) => answer(() => found(visits, effects.byVisit)),
    children: (id) => answer(() => children.all(id).map(actorOf)),
    inbox: (id, eventId) => answer(() => inbox(id, eventId)),
    blob: (hash) => answer(() => blob(hash)),
    journal: (id, fromRevision, limit) => answer(() => journal(id, fromRevision, limit)),
    query: (projection, filter, page = {}) => answer(() => query(projection, filter, page)),
    lastAt: () => answer(() => meta.get()?.lastAt ?? 0),
    backup: (target) =>
      answer(() => {
        createPrivateFile(target);
        // It would refuse to write even the copy; a reader's connection itself cannot write its own file.
        if (db.readonly) db.pragma("query_only = off");
        try {
          db.prepare<[string]>("vacuum into ?").run(target);
        } finally {
          if (db.readonly) db.pragma("query_only = on");
        }
      }),
    check: () => answer(() => faultsOf(db)),
    exportRoot: (target, root, blobs) => answer(() => exportRoot(db, target, root, blobs)),
    facts: () => answer(() => inspect.facts()),
    nextBlob: (after) => answer(() => inspect.nextBlob(after) ?? null),
    hasBlob: (hash) => answer(() => inspect.hasBlob(hash)),
    unreferencedBlobs: () => answer(() => inspect.unreferencedBlobs()),
    orphans: () => answer(() => inspect.orphans()),
    prune: (request) => answer(() => pruning().prune(request)),
    forgetPruned: (at, isKept) => answer(() => pruning().forget(at, isKept)),
    shrink: () => answer(() => pruning().shrink()),
    close: async () => {
      db.close();
    },
  };
}

/** One row for each id that has one, in the order of the ids. */
function found<Row>(ids: readonly string[], find: (id: string) => Row | undefined): Row[] {
  const rows: Row[] = [];
  for (const id of ids) {
    const row = find(id);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

function refuseToWrite(path: string): (commits: readonly Commit[]) => CommitResult[] {
  return () => {
    throw forReading(path);
  };
}

const forReading = (path: string): PawlError =>
  new PawlError("refused", `Store ${path} was opened for reading; open it as its owner to change anything`, { subject: path });

function faultsOf(db: Database): string[] {
  const pages = db.prepare<[], { fault: string }>("select integrity_check as fault from pragma_integrity_check where integrity_check <> 'ok' limit 100").all();
  const references = db
    .prepare<[], { fault: string }>(
      `select "table" || ' row ' || coalesce(rowid, '?') || ' names a missing row of ' || "parent" as fault from pragma_foreign_key_check limit 100`,
    )
    .all();
  return [...pages, ...references].map(({ fault }) => fault).slice(0, 100);
}

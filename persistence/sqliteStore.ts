/** The Store on one SQLite connection. Every read is one short statement run to its end: no cursor stays open over an await,
 *  so that the write-ahead log can always be folded back. */
import type { Database } from "better-sqlite3";
import { PawlError } from "../src/errors.ts";
import { groupWriter, selectMeta, type CommitHooks } from "./commit.ts";
import { createPrivateFile } from "./database.ts";
import { queryReader } from "./pages.ts";
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
}

/** Makes a store of an open, prepared connection; closing the store closes the connection. */
export function sqliteStore(db: Database, hooks: CommitHooks = {}): SqliteStore {
  const path = db.name;
  const write = db.readonly ? refuseToWrite(path) : groupWriter(db, path, hooks);
  const actor = db.prepare<[string], ActorColumns>(selectActor);
  const children = db.prepare<[string], ActorColumns>(selectChildren);
  const timers = timerReader(db);
  const effects = effectReader(db);
  const inbox = inboxReader(db);
  const blob = blobReader(db);
  const journal = journalReader(db);
  const query = queryReader(db);
  const meta = db.prepare<[], { lastAt: number }>(selectMeta);

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
        db.prepare<[string]>("vacuum into ?").run(target);
      }),
    check: () => answer(() => faultsOf(db)),
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
    throw new PawlError("refused", `Store ${path} was opened for reading; open it as its owner to change anything`, { subject: path });
  };
}

function faultsOf(db: Database): string[] {
  const pages = db.prepare<[], { fault: string }>("select integrity_check as fault from pragma_integrity_check where integrity_check <> 'ok' limit 100").all();
  const references = db
    .prepare<[], { fault: string }>(
      `select "table" || ' row ' || coalesce(rowid, '?') || ' names a missing row of ' || "parent" as fault from pragma_foreign_key_check limit 100`,
    )
    .all();
  return [...pages, ...references].map(({ fault }) => fault).slice(0, 100);
}

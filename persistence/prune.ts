/** Takes what belongs to one root actor out of the database: the second place that writes, and only into what is finished.
 *  The answers given to its events stay for a while: a repeated id must not be taken for a new one. */
import { createHash } from "node:crypto";
import type { Database } from "better-sqlite3";
import { selectMeta, updateMeta } from "./commit.ts";
import type { Fence } from "./fence.ts";
import { hashBytes, hashText } from "./values.ts";

/** How long the ids of events are kept after their actor is gone: 30 days, in ms. */
export const keptIdsMs = 30 * 24 * 60 * 60_000;

/** The id under which the inbox remembers that an actor was pruned, and when. */
export const prunedEventId = "pawl.pruned";

export interface PruneRequest {
  /** Id of the root actor, which must be finished, as all below it. */
  readonly root: string;
  /** Blobs that it alone names outside of the columns (its graph, its sources), which may go with it. */
  readonly blobs: readonly string[];
  /** Whether another place than a column still names a blob. */
  readonly isKept: (hash: string) => boolean;
  /** Epoch ms. */
  readonly at: number;
}

/** What went. */
export interface Pruned {
  readonly actors: number;
  readonly journal: number;
  readonly effects: number;
  readonly blobs: number;
  readonly bytes: number;
}

export interface Pruner {
  /** One transaction. Null: it is not finished, or not there; nothing was changed. */
  prune(request: PruneRequest): Pruned | null;
  /** Forgets the ids of what was pruned 30 days before `at` or earlier. */
  forget(at: number, isKept: PruneRequest["isKept"]): number;
  /** Gives free pages back to the file system, and folds the log into the file. */
  shrink(): void;
}

const tree = "select id from actors where root = :root";
/** The ids of a tree are its root's and those below it, whether their actors are there or not. */
const inTree = "(actor = :root or (actor > :root || '/' and actor < :root || '0'))";

export function pruner(db: Database, fence: Fence): Pruner {
  const open = db.prepare<{ root: string }, { found: number }>(`select 1 as found from actors where root = :root and status in ('active', 'faulted') limit 1`);
  const unsettled = db.prepare<{ root: string }, { found: number }>(
    `select 1 as found from effects where root = :root and state in ('planned', 'attempting', 'ambiguous') limit 1`,
  );
  const exists = db.prepare<{ root: string }, { found: number }>("select 1 as found from actors where id = :root");
  const candidates = db.prepare<{ root: string }, { hash: Buffer | null }>(
    `select payload_blob as hash from journal where actor in (${tree}) and payload_blob is not null
     union select input_blob from effects where root = :root union select output_blob from effects where root = :root
     union select input_blob from runs where id = :root`,
  );
  const meta = db.prepare<[], { lastAt: number; lastSeq: number }>(selectMeta);
  const saveMeta = db.prepare<[number, number]>(updateMeta);
  const deletes = {
    timers: db.prepare<{ root: string }>(`delete from timers where actor in (${tree})`),
    journal: db.prepare<{ root: string }>(`delete from journal where actor in (${tree})`),
    effects: db.prepare<{ root: string }>("delete from effects where root = :root"),
    decisions: db.prepare<{ root: string }>("delete from decisions where run = :root"),
    updates: db.prepare<{ root: string }>("delete from updates where run = :root"),
    runs: db.prepare<{ root: string }>("delete from runs where id = :root"),
    actors: db.prepare<{ root: string }>("delete from actors where root = :root"),
  };
  const remember = db.prepare<{ root: string; eventId: string; fingerprint: Buffer; at: number }>(
    `insert into inbox (actor, event_id, fingerprint, receipt, event_json, event_blob, at_ms) values (:root, :eventId, :fingerprint, '{"status":"refused","code":"pruned"}', null, null, :at)
     on conflict (actor, event_id) do update set at_ms = excluded.at_ms`,
  );
  const remembered = db.prepare<{ eventId: string; until: number }, { root: string }>(
    "select actor as root from inbox where event_id = :eventId and at_ms <= :until",
  );
  const inboxBlobs = db.prepare<{ root: string }, { hash: Buffer }>(`select event_blob as hash from inbox where ${inTree} and event_blob is not null`);
  const deleteInbox = db.prepare<{ root: string }>(`delete from inbox where ${inTree}`);
  const sizeOf = db.prepare<[Buffer], { bytes: number }>(
    `select length(bytes) as bytes from blobs b where hash = ? and not exists (select 1 from journal where payload_blob = b.hash)
       and not exists (select 1 from effects where input_blob = b.hash) and not exists (select 1 from effects where output_blob = b.hash)
       and not exists (select 1 from inbox where event_blob = b.hash) and not exists (select 1 from runs where input_blob = b.hash)`,
  );
  const deleteBlob = db.prepare<[Buffer]>("delete from blobs where hash = ?");

  /** Of these, those that nothing names any more. */
  const dropBlobs = (hashes: Iterable<string>, isKept: PruneRequest["isKept"]): { blobs: number; bytes: number } => {
    let [blobs, bytes] = [0, 0];
    for (const hash of new Set(hashes)) {
      if (isKept(hash)) continue;
      const key = hashBytes(hash);
      const found = sizeOf.get(key);
      if (found === undefined) continue;
      deleteBlob.run(key);
      blobs += 1;
      bytes += found.bytes;
    }
    return { blobs, bytes };
  };

  const prune = ({ root, blobs, isKept, at }: PruneRequest): Pruned | null => {
    fence.check();
    const of = { root };
    if (exists.get(of) === undefined || open.get(of) !== undefined || unsettled.get(of) !== undefined) return null;
    const hashes = candidates.all(of).flatMap(({ hash }) => (hash === null ? [] : [hashText(hash)]));
    // The journal's last row may go: how far the database has come is not forgotten with it.
    const { lastAt, lastSeq } = meta.get() ?? { lastAt: 0, lastSeq: 0 };
    saveMeta.run(lastAt, lastSeq);
    deletes.timers.run(of);
    const journal = deletes.journal.run(of).changes;
    const effects = deletes.effects.run(of).changes;
    deletes.decisions.run(of);
    deletes.updates.run(of);
    deletes.runs.run(of);
    const actors = deletes.actors.run(of).changes;
    remember.run({ ...of, eventId: prunedEventId, fingerprint: createHash("sha256").update(root).digest(), at });
    return { actors, journal, effects, ...dropBlobs([...hashes, ...blobs], isKept) };
  };

  const forget = (at: number, isKept: PruneRequest["isKept"]): number => {
    fence.check();
    const roots = remembered.all({ eventId: prunedEventId, until: at - keptIdsMs });
    for (const of of roots) {
      const hashes = inboxBlobs.all(of).map(({ hash }) => hashText(hash));
      deleteInbox.run(of);
      dropBlobs(hashes, isKept);
    }
    return roots.length;
  };

  return {
    prune: (request) => db.transaction(prune).immediate(request),
    forget: (at, isKept) => db.transaction(forget).immediate(at, isKept),
    shrink() {
      fence.check();
      db.pragma("incremental_vacuum");
      db.pragma("wal_checkpoint(truncate)");
    },
  };
}

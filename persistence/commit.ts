/** The one write path. A group of commits is one transaction; each entry stands or falls alone.
 *  Called by the stores only; everything here is synchronous, so nothing can come between the checks and the writes. */
import type { Database } from "better-sqlite3";
import { fenceOf, type Fence } from "./fence.ts";
import { storageError } from "./refusals.ts";
import type { Commit, CommitResult, RowWrite } from "./store.ts";
import { actorWriter, selectRevision } from "./tables/actors.ts";
import { blobWriter } from "./tables/blobs.ts";
import { decisionWriter } from "./tables/decisions.ts";
import { effectWriter } from "./tables/effects.ts";
import { inboxWriter } from "./tables/inbox.ts";
import { journalWriter } from "./tables/journal.ts";
import { runWriter } from "./tables/runs.ts";
import { timerCheck, timerWriter } from "./tables/timers.ts";
import { updateWriter } from "./tables/updates.ts";
import { violation, violationReader } from "./violations.ts";

/** Points at which a crash test ends the process. `number` counts this store's written transactions from 1. */
export interface CommitHooks {
  /** Everything is written, nothing is durable. */
  readonly beforeCommit?: (number: number) => void;
  /** Everything is durable, nobody was told. */
  readonly afterCommit?: (number: number) => void;
}

/** How far the database has come: what the last journal row says, or the one row of meta where that says more. */
export const selectMeta = `select max(last_at_ms, coalesce(journal.at_ms, 0)) as lastAt, max(last_seq, coalesce(journal.seq, 0)) as lastSeq
  from meta left join journal on journal.seq = (select max(seq) from journal) where meta.id = 1`;
/** Only where the journal does not say it: a page less in each commit. */
export const updateMeta = "update meta set last_at_ms = ?, last_seq = ? where id = 1";

/** What became of a group inside the open transaction. */
interface Outcome {
  readonly results: CommitResult[];
  readonly written: number;
}

type Refusal = Exclude<CommitResult, { status: "committed" }>;

const conflict = (thing: string): Refusal => ({ status: "conflict", thing });

/**
 * Makes the function that writes groups into this database.
 * It throws PawlError storageFull, storageReadOnly, storageDamaged or storageFailed, and ownedElsewhere as `fence` does, with nothing written.
 */
export function groupWriter(db: Database, path: string, hooks: CommitHooks = {}, fence: Fence = fenceOf(db)): (commits: readonly Commit[]) => CommitResult[] {
  const begin = db.prepare("begin immediate");
  const commit = db.prepare("commit");
  const rollback = db.prepare("rollback");
  const savepoint = db.prepare("savepoint entry");
  const release = db.prepare("release entry");
  const rollbackEntry = db.prepare("rollback to entry");
  const meta = db.prepare<[], { lastAt: number; lastSeq: number }>(selectMeta);
  const saveMeta = db.prepare<[number, number]>(updateMeta);
  const writeEntry = entryWriter(db);
  const violationOf = violationReader(db);
  let number = 0;
  let broken: unknown;

  const guarded = (entry: Commit, lastSeq: number): Refusal | undefined => {
    try {
      return writeEntry(entry, lastSeq);
    } catch (error) {
      // SQLite ends the whole transaction by itself on a full disk and the like: then there is no entry left to undo.
      const refusal = db.inTransaction ? violationOf(error) : undefined;
      if (refusal === undefined) throw error;
      return refusal;
    }
  };

  const writeGroup = (commits: readonly Commit[], isolate: boolean): Outcome => {
    let { lastAt, lastSeq } = meta.get() ?? { lastAt: 0, lastSeq: 0 };
    let journalled = lastAt;
    const results: CommitResult[] = [];
    let written = 0;
    for (const entry of commits) {
      if (isolate) savepoint.run();
      const refusal = guarded(entry, lastSeq);
      if (refusal !== undefined && isolate) rollbackEntry.run();
      if (isolate) release.run();
      results.push(refusal ?? { status: "committed", seqs: entry.journal.map((_, index) => lastSeq + 1 + index) });
      if (refusal === undefined) {
        lastAt = Math.max(lastAt, entry.at);
        lastSeq += entry.journal.length;
        journalled = entry.journal.at(-1)?.at ?? journalled;
        written += 1;
      } else if (!isolate) break;
    }
    if (lastAt > journalled) saveMeta.run(lastAt, lastSeq);
    return { results, written };
  };

  /** Leaves the transaction open, holding what was accepted. */
  const writeAccepted = (commits: readonly Commit[]): Outcome => {
    const together = writeGroup(commits, false);
    if (together.written === commits.length || commits.length === 1) return together;
    // A refusal is rare, and savepoints cost a fifth of a group's time: only now does each entry get its own.
    rollback.run();
    begin.run();
    return writeGroup(commits, true);
  };

  return (commits) => {
    if (commits.length === 0) return [];
    if (broken !== undefined) throw broken;
    let outcome;
    try {
      begin.run();
      fence.check();
      outcome = writeAccepted(commits);
      if (outcome.written > 0) {
        hooks.beforeCommit?.(number + 1);
        commit.run();
      } else rollback.run();
    } catch (error) {
      if (db.inTransaction) rollback.run();
      const reported = storageError(error, path);
      // After a failed flush nobody knows what the disk holds, and a second flush would say "fine": only opening again reads the truth.
      if (error instanceof Error && "code" in error && (error.code === "SQLITE_IOERR_FSYNC" || error.code === "SQLITE_IOERR_DIR_FSYNC")) broken = reported;
      throw reported;
    }
    if (outcome.written > 0) {
      number += 1;
      hooks.afterCommit?.(number);
    }
    return outcome.results;
  };
}

/** Writes one entry whose first journal row follows `lastSeq`. Throws SQLite's errors; the caller undoes a refused or thrown entry. */
function entryWriter(db: Database): (entry: Commit, lastSeq: number) => Refusal | undefined {
  const revisionOf = db.prepare<[string], { revision: number }>(selectRevision);
  const timerStands = timerCheck(db);
  const writeActor = actorWriter(db);
  const writeJournal = journalWriter(db);
  const writeTimer = timerWriter(db);
  const writeEffect = effectWriter(db);
  const writeInbox = inboxWriter(db);
  const writeBlob = blobWriter(db);
  const writeRun = runWriter(db);
  const writeDecision = decisionWriter(db);
  const writeUpdate = updateWriter(db);

  const checkExpectations = (entry: Commit): Refusal | undefined => {
    const writes = new Set(entry.actors.map(({ id }) => id));
    for (const [actor, expected] of Object.entries(entry.expects)) {
      // An actor that is written is checked by its own statement.
      if (!writes.has(actor) && (revisionOf.get(actor)?.revision ?? 0) !== expected) return conflict(`actor ${actor} is not at revision ${expected}`);
    }
    const gone = entry.requiresTimers.find((timer) => !timerStands(timer));
    return gone && conflict(`timer ${gone.key} of ${gone.actor} is gone`);
  };

  const writeActors = (entry: Commit): Refusal | undefined => {
    // New ones last: one may take the key or the system id of one that ends here.
    for (const actor of inOrder(entry.actors, (actor) => Number(entry.expects[actor.id] === 0))) {
      const expected = entry.expects[actor.id];
      if (expected === undefined) return violation("written_actor_is_expected", `actor ${actor.id} is written without an expected revision`);
      if (actor.revision < expected) return violation("revision_never_falls", `actor ${actor.id} would fall from revision ${expected} to ${actor.revision}`);
      if (!writeActor(actor, expected)) return conflict(`actor ${actor.id} is not at revision ${expected}`);
    }
    return undefined;
  };

  const writeJournalRows = (entry: Commit, lastSeq: number): void => {
    for (const [index, row] of entry.journal.entries()) {
      const { cause } = row;
      // A cause that comes later, or that is out of the entry, breaks cause_comes_first.
      const causeSeq = cause === null ? null : "seq" in cause ? cause.seq : lastSeq + 1 + cause.index;
      writeJournal(row, lastSeq + 1 + index, causeSeq);
    }
  };

  const writeRows = (entry: Commit): void => {
    // What gives a unique thing free (a session, a code) goes before what takes it.
    for (const write of inOrder(entry.rows, takes)) {
      if (write.table === "runs") writeRun(write.row);
      else if (write.table === "decisions") writeDecision(write.row);
      else writeUpdate(write.row);
    }
  };

  return (entry, lastSeq) => {
    // Checked here, since the highest one is written for the whole group.
    if (!Number.isSafeInteger(entry.at)) return violation("value_has_its_type", `at is ${entry.at}, not whole milliseconds`);
    const wrongBlob = entry.blobs.find((blob) => !writeBlob(blob));
    if (wrongBlob) return violation("blob_has_its_hash", `blob ${wrongBlob.hash}: its bytes have another hash`);
    const refusal = checkExpectations(entry) ?? writeActors(entry);
    if (refusal) return refusal;
    writeJournalRows(entry, lastSeq);
    for (const timer of entry.timers) writeTimer(timer);
    for (const effect of entry.effects)
      if (!writeEffect(effect))
        return conflict(`effect ${effect.record.key} is not ${effect.expect ? `${effect.expect.state}, attempt ${effect.expect.attempt}` : "new"}`);
    for (const record of entry.inbox) if (!writeInbox(record)) return conflict(`event ${record.eventId} was answered by ${record.actor} before`);
    writeRows(entry);
    return undefined;
  };
}

/** 1 for a row that may hold a unique thing. */
function takes(write: RowWrite): number {
  if (write.table === "updates") return 0;
  return write.table === "runs" ? Number(write.row.reserves) : Number(write.row.state === "open");
}

/** The items by rank, in their own order within a rank. */
function inOrder<T>(items: readonly T[], rank: (item: T) => number): readonly T[] {
  return items.length < 2 ? items : [...items].sort((a, b) => rank(a) - rank(b));
}

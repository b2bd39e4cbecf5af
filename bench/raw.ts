/** The bound: the same rows, written by the same statements on the same tables, without a machine, a check or a queue in between. */
import { openDatabase } from "../persistence/database.ts";
import type { Commit } from "../persistence/store.ts";
import { actorWriter } from "../persistence/tables/actors.ts";
import { blobWriter } from "../persistence/tables/blobs.ts";
import { decisionWriter } from "../persistence/tables/decisions.ts";
import { effectWriter } from "../persistence/tables/effects.ts";
import { inboxWriter } from "../persistence/tables/inbox.ts";
import { journalWriter } from "../persistence/tables/journal.ts";
import { runWriter } from "../persistence/tables/runs.ts";
import { timerWriter } from "../persistence/tables/timers.ts";

export type Synchronous = "full" | "normal";

/** Writes what Pawl wrote, `group` commits to a transaction; returns ms. */
export function writeRaw(path: string, commits: readonly Commit[], group: number, synchronous: Synchronous): number {
  const db = openDatabase(path, { mode: "owner" });
  db.pragma(`synchronous = ${synchronous}`);
  const begin = db.prepare("begin immediate");
  const end = db.prepare("commit");
  const actor = actorWriter(db);
  const journal = journalWriter(db);
  const timer = timerWriter(db);
  const effect = effectWriter(db);
  const inbox = inboxWriter(db);
  const blob = blobWriter(db);
  const run = runWriter(db);
  const decision = decisionWriter(db);
  let seq = 0;
  const started = performance.now();
  for (let at = 0; at < commits.length; at += group) {
    begin.run();
    for (const commit of commits.slice(at, at + group)) {
      const first = seq;
      for (const item of commit.blobs) blob(item);
      for (const record of commit.actors) actor(record, commit.expects[record.id] ?? 0);
      for (const entry of commit.journal) {
        seq += 1;
        journal(entry, seq, entry.cause === null ? null : "seq" in entry.cause ? null : first + 1 + entry.cause.index);
      }
      for (const op of commit.timers) timer(op);
      for (const write of commit.effects) effect(write);
      for (const record of commit.inbox) inbox(record);
      for (const row of commit.rows) {
        if (row.table === "runs") run(row.row);
        else if (row.table === "decisions") decision(row.row);
      }
    }
    end.run();
  }
  const ms = performance.now() - started;
  db.close();
  return ms;
}

/** Rows of timers: what is to be sent to whom, and when. */
import type { Database } from "better-sqlite3";
import type { Commit, TimerRecord } from "../store.ts";

const columns = `actor, key, due_at_ms as dueAt, to_actor as "to", event, revision`;

export const selectDueTimers = `select ${columns} from timers where due_at_ms <= ? order by due_at_ms, actor, key limit ?`;

export const selectNextDue = "select min(due_at_ms) as dueAt from timers";

export const selectTimersOfActor = `select ${columns} from timers where actor = ? order by key`;

export const selectTimerRevision = "select revision from timers where actor = ? and key = ?";

export const upsertTimer = `insert into timers (actor, key, due_at_ms, to_actor, event, revision) values (:actor, :key, :dueAt, :to, :event, :revision)
  on conflict (actor, key) do update set due_at_ms = excluded.due_at_ms, to_actor = excluded.to_actor, event = excluded.event, revision = excluded.revision`;

export const deleteTimer = "delete from timers where actor = ? and key = ?";

export function timerWriter(db: Database): (write: Commit["timers"][number]) => void {
  const upsert = db.prepare<[TimerRecord]>(upsertTimer);
  const remove = db.prepare<[string, string]>(deleteTimer);
  return (write) => {
    if (write.op === "set") upsert.run(write.timer);
    else remove.run(write.actor, write.key);
  };
}

/** Tells whether the timer still stands as it was armed. */
export function timerCheck(db: Database): (timer: Commit["requiresTimers"][number]) => boolean {
  const select = db.prepare<[string, string], { revision: number }>(selectTimerRevision);
  return ({ actor, key, revision }) => select.get(actor, key)?.revision === revision;
}

export interface TimerReader {
  due(until: number, limit: number): TimerRecord[];
  next(): number | null;
  ofActor(actor: string): TimerRecord[];
}

export function timerReader(db: Database): TimerReader {
  const due = db.prepare<[number, number], TimerRecord>(selectDueTimers);
  const next = db.prepare<[], { dueAt: number | null }>(selectNextDue);
  const ofActor = db.prepare<[string], TimerRecord>(selectTimersOfActor);
  return { due: (until, limit) => due.all(until, limit), next: () => next.get()?.dueAt ?? null, ofActor: (actor) => ofActor.all(actor) };
}

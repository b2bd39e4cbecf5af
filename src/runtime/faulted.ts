/** Mending a faulted actor: the event that its machine could not take, and those that came after it, are delivered again in their order. */
import type { ActorRecord, JournalRow, Store } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import { Cascade, type CascadeEnv, type EventObjectLike, type Faults } from "./cascade.ts";
import type { Draft } from "./draft.ts";
import type { Fault, Receipt } from "./runtime.ts";
import { noteStanding } from "./stopTree.ts";
import { valueOf } from "./values.ts";

/** Types of the journal rows that an actor gets while it is faulted. */
const faultRows: readonly string[] = ["pawl.faulted", "pawl.kept"];
const pageSize = 500;
const childMended = "pawl.childMended";

/** The actor was written by a neighbour of the same group: its journal is not readable yet. */
export class NotYetReadable extends Error {}

/** `applied` when it goes on; `refused` with `faulted` when its machine threw again, and with its status when it is not faulted. @throws unknownActor, restoreRefused */
export async function retryFault(env: CascadeEnv, store: Pick<Store, "journal" | "blob">, draft: Draft, faults: Faults, id: string): Promise<Receipt> {
  const held = await draft.actor(id);
  if (!held) throw new PawlError("unknownActor", `There is no actor "${id}". Nothing was tried again.`, { subject: id });
  const { record } = held;
  if (record.status !== "faulted") return { status: "refused", actor: id, revision: record.revision, code: record.status };
  await env.definitionOf(record);
  const events = await keptRows(store, record);
  const mended: ActorRecord = { ...record, revision: record.revision + 1, status: "active", updatedAt: draft.at };
  draft.putActor({ record: mended, hydrated: null }, record.revision);
  const event = { type: "pawl.retried", id: `${draft.eventId}:retried` };
  draft.changes.push({ kind: "actor", view: noteStanding(draft, mended, event, null), event, at: draft.at });
  const flow = new Cascade(draft, env, faults);
  await tellMended(env, draft, flow, mended);
  for (const { event: kept } of events) await flow.sendInternal(id, kept);
  const after = (await draft.actor(id))?.record ?? mended;
  return after.status === "faulted"
    ? { status: "refused", actor: id, revision: after.revision, code: "faulted" }
    : { status: "applied", actor: id, revision: after.revision };
}

/** The nearest actor above that has an answer to it hears that it goes on, before anything that follows from that. */
async function tellMended(env: CascadeEnv, draft: Draft, flow: Cascade, record: ActorRecord): Promise<void> {
  for (let below = record; below.parent !== null;) {
    const above = (await draft.actor(below.parent))?.record;
    if (!above) return;
    if ((await env.definitionOf(above)).machine.events.includes(childMended))
      return flow.sendInternal(above.id, { type: childMended, child: below.childKey, actor: record.id });
    below = above;
  }
}

/** Why a faulted actor stands still, and what it has not taken. */
export async function faultOf(store: Pick<Store, "journal" | "blob">, record: ActorRecord): Promise<Fault> {
  const kept = await keptRows(store, record);
  const latest = kept.findLast((row) => row.message !== undefined);
  return { message: latest?.message ?? "Its machine threw.", events: kept.map(({ event }) => event) };
}

/** What the actor has not taken, oldest first. */
async function keptRows(store: Pick<Store, "journal" | "blob">, record: ActorRecord): Promise<readonly Kept[]> {
  const rows: JournalRow[] = [];
  for (let until = record.revision; until > 0;) {
    const from = Math.max(1, until - pageSize + 1);
    const page = (await store.journal(record.id, from, pageSize)).filter((row) => row.revision <= until);
    if (page.at(-1)?.revision !== until) throw new NotYetReadable();
    const begin = page.findLastIndex((row) => !faultRows.includes(row.type));
    rows.unshift(...page.slice(begin + 1));
    if (begin >= 0) break;
    until = from - 1;
  }
  return Promise.all(rows.map(async (row) => keptIn(row.payload && (await valueOf(store, row.payload)))));
}

interface Kept {
  readonly event: EventObjectLike;
  /** Only of the one that the machine threw at. */
  readonly message?: string;
}

function keptIn(payload: unknown): Kept {
  if (typeof payload === "object" && payload !== null && "event" in payload) return payload as Kept; // as the cascade journals it
  throw new PawlError("storageDamaged", "A journal row of a faulted actor does not hold its event. Restore a backup of the state directory.");
}

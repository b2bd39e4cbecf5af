/** Stops a root actor and all below it: status `stopped`, effects dropped, timers cleared. Needs no machine, so that an actor whose machine
 *  is gone, or that is faulted, can be stopped too. */
import type { ActorRecord, JournalEntry } from "../../persistence/store.ts";
import { isPawlError, PawlError } from "../errors.ts";
import { readBack } from "../json.ts";
import type { CascadeEnv } from "./cascade.ts";
import type { ActorView } from "./definition.ts";
import type { Draft } from "./draft.ts";
import { effectStep, isOpen } from "./effectRow.ts";
import { journalEntry } from "./journalEntry.ts";
import type { Receipt } from "./runtime.ts";

/** `ignored` with its status for one that has ended already. @throws unknownActor; refused for a child */
export async function stopRoot(env: CascadeEnv, draft: Draft, id: string): Promise<Receipt> {
  const held = await draft.actor(id);
  if (!held) throw new PawlError("unknownActor", `There is no actor "${id}". Nothing was stopped.`, { subject: id });
  const { record } = held;
  if (record.parent !== null)
    throw new PawlError(
      "refused",
      `Actor "${id}" is a child of "${record.parent}", which would wait for it for ever. Stop "${record.root}", or send an event that makes its parent leave it.`,
      {
        subject: id,
      },
    );
  if (!isUnfinished(record)) return { status: "ignored", actor: id, revision: record.revision, code: record.status };
  await stopTree(env, draft, record);
  return { status: "applied", actor: id, revision: record.revision + 1 };
}

async function stopTree(env: CascadeEnv, draft: Draft, record: ActorRecord): Promise<void> {
  for (const child of await draft.unfinishedChildren(record.id)) await stopTree(env, draft, child);
  for (const effect of await draft.openEffectsOf(record.id)) {
    const next = effectStep(effect, { type: "effect.dropped" });
    if (next)
      draft.putEffect(
        {
          ...effect,
          ...next,
          updatedAt: draft.at,
          notBefore: isOpen(next.state) ? effect.notBefore : null,
          ambiguousSince: next.state === "ambiguous" ? draft.at : null,
        },
        effect,
      );
  }
  await writeStopped(env, draft, record, `${draft.eventId}:${record.id}`);
}

/** The actor itself, without what is below it: its timers, its row, its place in the journal. */
export async function writeStopped(env: CascadeEnv, draft: Draft, record: ActorRecord, eventId: string): Promise<void> {
  for (const key of await draft.timerKeys(record.id)) draft.putTimer({ op: "clear", actor: record.id, key });
  const stopped: ActorRecord = { ...record, revision: record.revision + 1, status: "stopped", updatedAt: draft.at };
  draft.putActor({ record: stopped, hydrated: null }, record.revision);
  const event = { type: "xstate.stop", id: eventId };
  const view = noteStanding(draft, stopped, event, null);
  draft.changes.push({ kind: "actor", view, event, at: draft.at });
  for (const row of await projected(env, view)) draft.rows.set(`${row.table}\n${row.row.id}`, row);
}

/** Index rows of the stopped actor, while a machine that knows them is there. */
async function projected(env: CascadeEnv, view: ActorView) {
  try {
    const definition = await env.definitionOf(view.record);
    return definition.version === view.record.machineVersion ? (definition.project?.(view) ?? []) : [];
  } catch (error) {
    // Without its machine nothing is known of its rows, and stopping must still work.
    if (isPawlError(error) && error.kind === "environment") return [];
    throw error;
  }
}

export const isUnfinished = ({ status }: ActorRecord): boolean => status === "active" || status === "faulted";

/** Journals an event that left the snapshot as it was. `record` has the revision after it. */
export function noteStanding(
  draft: Draft,
  record: ActorRecord,
  event: { readonly type: string; readonly id: string },
  payload: Readonly<Record<string, unknown>> | null,
  cause: JournalEntry["cause"] = null,
): ActorView {
  const { value, context, output, error } = readBack<{ value: unknown; context: unknown; output?: unknown; error?: unknown }>(record.snapshot);
  const row = { eventId: event.id, type: event.type, payload: payload && draft.store(payload, `event "${event.type}"`), at: draft.at, cause };
  draft.journal.push(journalEntry(record, row, { value: JSON.stringify(value), context: JSON.stringify(context) }, false));
  return { record, value, context, output, error };
}

/** Writes the migration of one actor into the draft of the dispatch that meets it: one journal row with a base of its own, since what lies
 *  before it was stepped by another machine. Timers and effects go on as they are. */
import type { ActorRecord, JournalEntry } from "../../persistence/store.ts";
import { jsonText } from "../json.ts";
import { viewOf, type Definition } from "./definition.ts";
import type { Draft } from "./draft.ts";
import { journalEntry, placeholder } from "./journalEntry.ts";
import { planMigration } from "./migrate.ts";
import type { ChildLink, Hydrated, SpawnRecord, Stepper } from "./step.ts";

/** An actor that can step on its definition. */
export interface Ready {
  readonly definition: Definition;
  readonly record: ActorRecord;
  readonly hydrated: Hydrated;
}

export interface MigrationEnv {
  readonly stepper: (definition: Definition) => Stepper;
  /** @throws restoreRefused naming what does not fit. */
  readonly hydrate: (definition: Definition, record: ActorRecord) => Hydrated;
  /** Before the first migration of this runtime: the state directory is backed up. */
  readonly beforeMigration: () => Promise<void>;
}

/** How the dispatch stops and starts the children that the new machine has no more, or has besides. */
export interface Hands {
  stop(link: ChildLink): Promise<void>;
  start(spawns: readonly SpawnRecord[], record: ActorRecord, cause: JournalEntry["cause"]): Promise<void>;
}

/** @throws restoreRefused */
export async function migrateActor(draft: Draft, env: MigrationEnv, hands: Hands, before: ActorRecord, definition: Definition): Promise<Ready> {
  await env.beforeMigration();
  const plan = planMigration(definition, before, await draft.timersOf(before.id));
  const stepper = env.stepper(definition);
  const record: ActorRecord = {
    ...before,
    revision: before.revision + 1,
    machineVersion: definition.version,
    definitionDigest: definition.digest,
    snapshot: plan.snapshot,
    updatedAt: draft.at,
  };
  const hydrated = env.hydrate(definition, record);
  const versions = { from: before.machineVersion, to: definition.version };
  const event = { type: "pawl.migrated", ...versions, at: draft.at, id: `${draft.eventId}/migrated` };
  const cause = { index: draft.journal.length };
  draft.journal.push(placeholder);
  draft.putActor({ record, hydrated }, before.revision);
  for (const link of plan.stop) await hands.stop(link);
  const children = stepper.children(hydrated);
  const spawns = plan.start.flatMap(({ key, src, systemId, input }): SpawnRecord[] => {
    const link = children.find((child) => child.key === key)?.link;
    return link ? [{ kind: "spawn", key, src, systemId, link, input: stepper.evaluate(input, hydrated, event) }] : [];
  });
  await hands.start(spawns, record, cause);
  for (const { actor, key } of plan.cleared) draft.putTimer({ op: "clear", actor, key });
  const timerOf = (key: string) => ({ key, event: jsonText({ type: key }, "timer"), revision: record.revision });
  for (const { from, to } of plan.carried) draft.putTimer({ op: "set", timer: { ...from, ...timerOf(to.key) } });
  for (const { key, delay } of plan.armed)
    draft.putTimer({ op: "set", timer: { ...timerOf(key), actor: record.id, dueAt: draft.at + stepper.delay(delay, hydrated, event), to: record.id } });
  const text = stepper.persist(hydrated);
  const stored: ActorRecord = { ...record, snapshot: text.snapshot };
  draft.putActor({ record: stored, hydrated }, before.revision);
  const row = { eventId: event.id, type: event.type, payload: draft.store(versions, `event "${event.type}"`), at: draft.at, cause: null };
  draft.journal[cause.index] = journalEntry(stored, row, text, true);
  const view = viewOf(stored, hydrated.snapshot);
  for (const projected of definition.project?.(view) ?? []) draft.rows.set(`${projected.table}\n${projected.row.id}`, projected);
  draft.changes.push({ kind: "actor", view, event: { type: event.type, id: event.id }, at: draft.at });
  return { definition, record: stored, hydrated };
}

/** The journal row of an applied event. */
import { sha256Hex } from "../digest.ts";
import type { ActorRecord, JournalEntry } from "../../persistence/store.ts";

/** A full snapshot stands in the journal at the first revision and at every one that this divides. */
const baseEvery = 100;

/** Takes a place in the journal before the row can be written. */
export const placeholder: JournalEntry = {
  actor: "",
  revision: 0,
  eventId: "",
  type: "",
  payload: null,
  at: 0,
  cause: null,
  machineVersion: "",
  definitionDigest: "",
  stateValue: "",
  contextHash: "",
  snapshot: null,
};

/** `record` as it is after the event; `stateValue` and `context` are JSON texts. `isBase`: whatever the revision, the snapshot goes in. */
export function journalEntry(
  record: ActorRecord,
  event: Pick<JournalEntry, "eventId" | "type" | "payload" | "at" | "cause">,
  texts: { readonly value: string; readonly context: string },
  isBase = record.revision === 1 || record.revision % baseEvery === 0,
): JournalEntry {
  return {
    ...event,
    actor: record.id,
    revision: record.revision,
    machineVersion: record.machineVersion,
    definitionDigest: record.definitionDigest,
    stateValue: texts.value,
    contextHash: sha256Hex(texts.context),
    snapshot: isBase ? record.snapshot : null,
  };
}

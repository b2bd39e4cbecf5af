/** Rows of the journal: every applied event, in the order of the whole database. */
import type { Database } from "better-sqlite3";
import type { JournalEntry, JournalRow } from "../store.ts";
import { blobOf, hashBytes, hashText, jsonOf, sharedHashBytes, sizeOfBlob, storedValue } from "../values.ts";

interface JournalColumns {
  readonly seq: number;
  readonly actor: string;
  readonly revision: number;
  readonly eventId: string;
  readonly type: string;
  readonly payloadJson: string | null;
  readonly payloadBlob: Buffer | null;
  readonly at: number;
  readonly causeSeq: number | null;
  readonly machineVersion: string;
  readonly definitionDigest: Buffer;
  readonly stateValue: string;
  readonly contextHash: Buffer;
  readonly snapshot: string | null;
}

export const selectJournal = `select seq, actor, revision, event_id as eventId, type, payload_json as payloadJson, payload_blob as payloadBlob,
    ${sizeOfBlob("payload_blob")} as payloadBytes, at_ms as at, cause_seq as causeSeq, machine_version as machineVersion,
    definition_digest as definitionDigest, state_value as stateValue, context_hash as contextHash, snapshot
  from journal where actor = ? and revision >= ? order by revision limit ?`;

export const insertJournal = `insert into journal (seq, actor, revision, event_id, type, payload_json, payload_blob, at_ms, cause_seq, machine_version, definition_digest, state_value, context_hash, snapshot)
  values (:seq, :actor, :revision, :eventId, :type, :payloadJson, :payloadBlob, :at, :causeSeq, :machineVersion, :definitionDigest, :stateValue, :contextHash, :snapshot)`;

/** Appends one entry under `seq`; `causeSeq` is the seq of what caused it. */
export function journalWriter(db: Database): (entry: JournalEntry, seq: number, causeSeq: number | null) => void {
  const insert = db.prepare<[JournalColumns]>(insertJournal);
  return (entry, seq, causeSeq) => {
    insert.run({
      seq,
      actor: entry.actor,
      revision: entry.revision,
      eventId: entry.eventId,
      type: entry.type,
      payloadJson: jsonOf(entry.payload),
      payloadBlob: blobOf(entry.payload),
      at: entry.at,
      causeSeq,
      machineVersion: entry.machineVersion,
      definitionDigest: sharedHashBytes(entry.definitionDigest),
      stateValue: entry.stateValue,
      contextHash: hashBytes(entry.contextHash),
      snapshot: entry.snapshot,
    });
  };
}

export function journalReader(db: Database): (actor: string, fromRevision: number, limit: number) => JournalRow[] {
  const select = db.prepare<[string, number, number], JournalColumns & { payloadBytes: number | null }>(selectJournal);
  return (actor, fromRevision, limit) =>
    select.all(actor, fromRevision, limit).map(({ payloadJson, payloadBlob, payloadBytes, ...row }) => ({
      ...row,
      payload: storedValue(payloadJson, payloadBlob, payloadBytes),
      definitionDigest: hashText(row.definitionDigest),
      contextHash: hashText(row.contextHash),
    }));
}

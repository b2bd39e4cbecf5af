/** Rows of the inbox: what an event from outside was answered with. */
import type { Database } from "better-sqlite3";
import type { InboxRecord } from "../store.ts";
import { blobOf, hashBytes, hashText, jsonOf, sizeOfBlob, storedValue } from "../values.ts";

interface InboxColumns {
  readonly actor: string;
  readonly eventId: string;
  readonly fingerprint: Buffer;
  readonly receipt: string;
  readonly eventJson: string | null;
  readonly eventBlob: Buffer | null;
  readonly at: number;
}

export const selectInbox = `select actor, event_id as eventId, fingerprint, receipt, event_json as eventJson, event_blob as eventBlob,
    ${sizeOfBlob("event_blob")} as eventBytes, at_ms as at
  from inbox where actor = ? and event_id = ?`;

export const insertInbox = `insert into inbox (actor, event_id, fingerprint, receipt, event_json, event_blob, at_ms)
  values (:actor, :eventId, :fingerprint, :receipt, :eventJson, :eventBlob, :at)
  on conflict (actor, event_id) do nothing`;

/** Keeps an answer; false when this event was answered before. */
export function inboxWriter(db: Database): (record: InboxRecord) => boolean {
  const insert = db.prepare<[InboxColumns]>(insertInbox);
  return ({ actor, eventId, fingerprint, receipt, event, at }) =>
    insert.run({ actor, eventId, fingerprint: hashBytes(fingerprint), receipt, eventJson: jsonOf(event), eventBlob: blobOf(event), at }).changes === 1;
}

export function inboxReader(db: Database): (actor: string, eventId: string) => InboxRecord | null {
  const select = db.prepare<[string, string], InboxColumns & { eventBytes: number | null }>(selectInbox);
  return (actor, eventId) => {
    const row = select.get(actor, eventId);
    if (row === undefined) return null;
    const { eventJson, eventBlob, eventBytes, ...rest } = row;
    return { ...rest, fingerprint: hashText(row.fingerprint), event: storedValue(eventJson, eventBlob, eventBytes) };
  };
}

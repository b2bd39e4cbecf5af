/** Rows of blobs: large values, each stored once under the hash of its content. */
import { sha256Hex } from "../../src/digest.ts";
import type { Database } from "better-sqlite3";
import type { BlobWrite } from "../store.ts";
import { hashBytes } from "../values.ts";

export const selectBlob = "select bytes from blobs where hash = ?";

export const insertBlob = "insert into blobs (hash, bytes) values (?, ?) on conflict (hash) do nothing";

/** Stores a blob unless it is there; false when the bytes have another hash than they are said to have. */
export function blobWriter(db: Database): (blob: BlobWrite) => boolean {
  const insert = db.prepare<[Buffer, Uint8Array]>(insertBlob);
  return ({ hash, bytes }) => {
    // The first writer of a hash wins for good: a wrong one would be every later reader's value.
    if (sha256Hex(bytes) !== hash) return false;
    insert.run(hashBytes(hash), bytes);
    return true;
  };
}

export function blobReader(db: Database): (hash: string) => Uint8Array | null {
  const select = db.prepare<[Buffer], { bytes: Buffer }>(selectBlob);
  return (hash) => {
    const bytes = select.get(hashBytes(hash))?.bytes;
    return bytes === undefined ? null : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

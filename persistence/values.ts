/** How values stand in columns: hashes as 32 bytes, a stored value as JSON text or as the hash of its blob. */
import type { StoredValue } from "./store.ts";

/** The bytes of a hash in hex; what is no SHA-256 gets another length, which every hash column refuses. */
export const hashBytes = (hex: string): Buffer => (hex.length === 64 ? Buffer.from(hex, "hex") : Buffer.alloc(0));

/** The same for a hash that most rows share: a definition's. */
export function sharedHashBytes(hex: string): Buffer {
  if (shared?.hex !== hex) shared = { hex, bytes: hashBytes(hex) };
  return shared.bytes;
}

let shared: { readonly hex: string; readonly bytes: Buffer } | undefined;

export const hashText = (bytes: Buffer): string => bytes.toString("hex");

export const jsonOf = (value: StoredValue | null): string | null => (value !== null && "json" in value ? value.json : null);

export const blobOf = (value: StoredValue | null): Buffer | null => (value !== null && "blob" in value ? hashBytes(value.blob) : null);

/** SQL for a blob's size: SQLite reads it from the row's header, not from the bytes. */
export const sizeOfBlob = (column: string): string => `(select length(bytes) from blobs where hash = ${column})`;

export function storedValue(json: string | null, blob: Buffer | null, bytes: number | null): StoredValue | null {
  if (json !== null) return { json };
  return blob === null ? null : { blob: hashText(blob), bytes: bytes ?? 0 };
}

/** A value that the schema never leaves out. */
export function requiredValue(json: string | null, blob: Buffer | null, bytes: number | null): StoredValue {
  return storedValue(json, blob, bytes) ?? { json: "null" };
}

export const flag = (value: boolean): 0 | 1 => (value ? 1 : 0);

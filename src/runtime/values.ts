/** Stored values as values: small ones stand in their row, large ones are blobs. */
import type { Store, StoredValue } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";

/** @throws storageDamaged when its blob is gone */
export async function valueOf(store: Pick<Store, "blob">, stored: StoredValue): Promise<unknown> {
  if ("json" in stored) return JSON.parse(stored.json);
  const bytes = await store.blob(stored.blob);
  if (!bytes)
    throw new PawlError(
      "storageDamaged",
      `The value ${stored.blob} (${stored.bytes} bytes) is missing in the database. Restore a backup of the state directory.`,
      { subject: stored.blob },
    );
  return JSON.parse(Buffer.from(bytes).toString("utf8"));
}

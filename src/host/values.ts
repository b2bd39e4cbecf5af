/** Stored values as values: small ones stand in their row, large ones are blobs. */
import type { Store, StoredValue } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";

type BlobReader = Pick<Store, "blob">;

/** The bytes of a blob. @throws storageDamaged when the store does not have it. */
export async function readBlob(store: BlobReader, hash: string): Promise<Uint8Array> {
  const bytes = await store.blob(hash);
  if (bytes === null)
    throw new PawlError(
      "storageDamaged",
      `The stored value ${hash} is missing from the database, though a row names it. Restore a backup of the state directory, or start the run again.`,
      { subject: hash },
    );
  return bytes;
}

/** The value itself; null for none. */
export async function readValue(store: BlobReader, stored: StoredValue | null): Promise<unknown> {
  if (stored === null) return null;
  if ("json" in stored) return JSON.parse(stored.json);
  return JSON.parse(Buffer.from(await readBlob(store, stored.blob)).toString("utf8"));
}

/** All rows of a query, page by page. */
export async function* everyPage<T>(
  next: (cursor: string | undefined) => Promise<{ readonly items: readonly T[]; readonly cursor: string | null }>,
): AsyncGenerator<readonly T[]> {
  for (let cursor: string | undefined; ;) {
    const page = await next(cursor);
    yield page.items;
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "../../persistence/index.ts";

/** Works with a store in a directory that is removed afterwards. */
export async function onDisk<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), "pawl-walk-"));
  const opened = await openStore({ home, mode: "owner" });
  try {
    return await work(opened.store);
  } finally {
    await opened.release();
    rmSync(home, { recursive: true, force: true });
  }
}

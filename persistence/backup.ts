/** The copy that is made before stored actors are taken to newer machines. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SqliteStore } from "./sqliteStore.ts";

export const backupDirectory = "backups";

/** Writes `backups/before-migration-<time>.db` below the state directory and returns its path. `at`: epoch ms. */
export async function backUp(store: Pick<SqliteStore, "backup">, home: string, at: number): Promise<string> {
  const directory = join(home, backupDirectory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `before-migration-${new Date(at).toISOString().replaceAll(/[:.]/g, "-")}.db`);
  await store.backup(path);
  return path;
}

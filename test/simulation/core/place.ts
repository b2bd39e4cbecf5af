/** Directories of simulated processes: in memory where the system has such a place, since nothing here is about how long a disk takes. */
import type { Database } from "better-sqlite3";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../persistence/database.ts";
import { databaseFileName } from "../../../persistence/openStore.ts";

const memory = "/dev/shm";

export const newDirectory = (): string => mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), "pawl-simulated-"));

/** A connection for looking into a state directory, beside its owner. */
export function readerOf(home: string): Database {
  const db = openDatabase(join(home, databaseFileName), { mode: "reader" });
  if (db === null) throw new Error(`nothing was ever stored in ${home}`);
  return db;
}

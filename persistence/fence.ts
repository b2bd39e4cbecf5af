/** Keeps a process that lost a state directory from writing there. Its lock can be deleted under it, and the next process then takes the directory over:
 *  each owner raises a number in the database as it opens, and writes only while that number is its own. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { PawlError } from "../src/errors.ts";

export interface Fence {
  /** The number of this owner. */
  readonly generation: number;
  /** To be asked inside of each transaction that writes. @throws ownedElsewhere, or storageDamaged when the file is gone; for ever after the first time */
  check(): void;
}

export const selectGeneration = "select owner_generation as generation from meta where id = 1";

type Generation = { generation: number };

/** Makes this connection the one that writes, in a transaction of its own. */
export function claim(db: Database): Fence {
  const row = db.prepare<[], Generation>("update meta set owner_generation = owner_generation + 1 where id = 1 returning owner_generation as generation").get();
  return fence(db, row?.generation ?? 0, inPlace(db.name));
}

/** Writes as whoever owns it now. For databases that are never taken over: those in memory, and copies. */
export const fenceOf = (db: Database): Fence => fence(db, db.prepare<[], Generation>(selectGeneration).get()?.generation ?? 0);

/** For so long a look at the file's place holds, in ms. Whoever takes the file away loses what is in it; a look in each commit would not change that. */
const lookHoldsMs = 10;

/** Whether the file that was opened still stands at its path. */
function inPlace(path: string): () => boolean {
  const opened = fileAt(path);
  let looked = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - looked < lookHoldsMs) return true;
    looked = now;
    return fileAt(path) === opened;
  };
}

function fileAt(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

function fence(db: Database, generation: number, isInPlace: () => boolean = () => true): Fence {
  const select = db.prepare<[], Generation>(selectGeneration);
  let refusal: PawlError | undefined;
  return {
    generation,
    check() {
      if (refusal === undefined && !isInPlace()) refusal = gone(db.name);
      if (refusal === undefined && select.get()?.generation !== generation) refusal = takenOver(db.name);
      if (refusal !== undefined) throw refusal;
    },
  };
}

const gone = (path: string): PawlError =>
  new PawlError(
    "storageDamaged",
    `Database ${path} was deleted, moved or replaced while this process had it open: what is committed would not be found again. This process writes nothing more. End it, put the file back (or a backup of it), and start Pawl again`,
    { subject: path },
  );

const takenOver = (path: string): PawlError =>
  new PawlError(
    "ownedElsewhere",
    `Another process took the state directory ${dirname(path)} over: its lock file was removed while this process owned it. This process writes nothing more there. End it, and never delete pawl.lock while a Pawl runs`,
    { subject: dirname(path) },
  );

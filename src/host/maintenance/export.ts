/** `pawl export`: a copy of the whole state, or of one run, as a database that opens like any other; taken beside an owner too. */
import { existsSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { openStore, type OpenedStore } from "../../../persistence/openStore.ts";
import { isPawlError, PawlError } from "../../errors.ts";
import { findRun } from "../lookup.ts";
import { RunReferences } from "./references.ts";

export interface ExportOptions {
  /** State directory, absolute. */
  readonly home: string;
  /** Id of one run, or a unique ending of it; the whole state when left out. */
  readonly run?: string;
  /** The file to make, absolute. */
  readonly to: string;
}

export interface ExportReport {
  readonly path: string;
  readonly bytes: number;
  /** Full id of the one run; null for the whole state. */
  readonly run: string | null;
}

/** @throws unknownRun; refused when the file exists or nothing is stored; storageFull and storageReadOnly about the copy */
export async function exportState({ home, run, to }: ExportOptions): Promise<ExportReport> {
  if (existsSync(to))
    throw new PawlError("refused", `${to} exists already, and an export overwrites nothing. Give another file, or remove it first.`, { subject: to });
  if (!existsSync(dirname(to)))
    throw new PawlError("refused", `There is no directory ${dirname(to)} to put the export into. Make it first: mkdir -p ${dirname(to)}`, { subject: to });
  const opened = await openStore({ home, mode: "reader" });
  try {
    if (!existsSync(opened.path)) throw new PawlError("refused", `State directory ${home} holds nothing yet: there is nothing to export.`, { subject: home });
    const id = run === undefined ? null : await exportRun(opened, run, to);
    if (id === null) await opened.store.backup(to);
    return { path: to, bytes: statSync(to).size, run: id };
  } catch (error) {
    // Half a copy must not be taken for one.
    if (!isPawlError(error) || error.code !== "unknownRun") for (const part of ["", "-wal", "-shm", "-journal"]) rmSync(`${to}${part}`, { force: true });
    throw error;
  } finally {
    await opened.release();
  }
}

async function exportRun({ store }: OpenedStore, run: string, to: string): Promise<string> {
  const row = await findRun(store, run);
  await store.exportRoot(to, row.id, await new RunReferences(store).of(row));
  return row.id;
}

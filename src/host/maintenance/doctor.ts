/** `pawl doctor`: looks at a whole state directory, beside an owner too, and changes nothing. */
import { existsSync } from "node:fs";
import { readOwner } from "../../../persistence/lock.ts";
import { openStore } from "../../../persistence/openStore.ts";
import { systemClock, type Clock } from "../../runtime/clock.ts";
import { hostRegistry } from "../catalog.ts";
import { lookingBack } from "./authorCode.ts";
import { findRun } from "../lookup.ts";
import { Reader } from "../reader.ts";
import { verdictOf, type Check, type DoctorReport, type Finding } from "./report.ts";
import { checkReplay, checkRestore, checkRuns } from "./runChecks.ts";
import { checkBlobs, checkChannels, checkDirectory, checkIndex, checkIntegrity, checkRows } from "./storedChecks.ts";

export interface DoctorOptions {
  /** State directory, absolute. */
  readonly home: string;
  /** Derive journals again: of this run (id or unique ending), or of all when empty. Absent: not asked. */
  readonly replay?: string;
  readonly clock?: Clock;
}

/** @throws storageDamaged, storageForeign, storageNewer when the database cannot even be opened; unknownRun */
export async function examine({ home, replay, clock = systemClock }: DoctorOptions): Promise<DoctorReport> {
  const owner = livingOwner(home);
  const opened = await openStore({ home, mode: "reader" });
  const back = lookingBack(opened.store, home);
  try {
    const { store, path } = opened;
    if (!existsSync(path)) return { home, owner, checks: [], verdict: "ok" };
    const registry = hostRegistry(store, back.machine);
    const run = replay === undefined || replay === "" ? null : await findRun(store, replay);
    const looks: readonly (() => Promise<Check>)[] =
      replay === undefined
        ? [
            () => checkDirectory(store, home, path),
            () => checkChannels(home),
            () => checkIntegrity(store),
            () => checkRows(store),
            () => checkIndex(store, registry),
            () => checkBlobs(store),
            () => checkRestore(store, registry),
            () => checkRuns(new Reader(store), store, owner !== null, clock.now()),
          ]
        : [() => checkReplay(store, registry, run)];
    const checks: Check[] = [];
    for (const look of looks) checks.push(await settled(look, owner !== null));
    return { home, owner, checks, verdict: verdictOf(checks) };
  } finally {
    await back.close();
    await opened.release();
  }
}

/** Beside a living owner things move while they are looked at: only what is found twice is there. */
async function settled(look: () => Promise<Check>, isMoving: boolean): Promise<Check> {
  const check = await look();
  if (!isMoving || check.findings.length === 0) return check;
  const again = await look();
  const seen = new Set(again.findings.map(nameOf));
  return { ...again, findings: check.findings.filter((found) => seen.has(nameOf(found))) };
}

const nameOf = ({ severity, subject, what }: Finding): string => JSON.stringify([severity, subject, what]);

/** Whether the process that last owned the directory still lives; its number says no more than that. */
function livingOwner(home: string): number | null {
  const pid = readOwner(home)?.pid;
  if (pid === undefined) return null;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    // Another user's process lives too.
    return error instanceof Error && "code" in error && error.code === "EPERM" ? pid : null;
  }
}

/** `pawl reset --backup`: puts a state directory aside, whole and untouched, so that the next command begins with an empty one. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { acquireLock, ownerFileName } from "../../../persistence/lock.ts";
import { PawlError, messageOf } from "../../errors.ts";

export interface ResetReport {
  /** Where it stands now; null when there was none. */
  readonly movedTo: string | null;
}

/** Looks at nothing inside: a damaged database is put aside like a sound one. @throws ownedElsewhere, storageFailed */
export function resetState(home: string): ResetReport {
  if (!existsSync(home)) return { movedTo: null };
  const lock = acquireLock(home, "pawl reset");
  try {
    const aside = freeName(home);
    try {
      renameSync(home, aside);
    } catch (cause) {
      throw new PawlError(
        "storageFailed",
        `${home} could not be moved to ${aside} (${messageOf(cause)}); nothing was changed. If it is a mounted file system or its parent is read-only, move its contents yourself, or use another one: PAWL_HOME=/another/directory`,
        { subject: home, cause },
      );
    }
    rmSync(join(aside, ownerFileName), { force: true });
    return { movedTo: aside };
  } finally {
    lock.release();
  }
}

function freeName(home: string): string {
  let aside = `${home}.aside`;
  for (let n = 2; existsSync(aside); n += 1) aside = `${home}.aside-${n}`;
  return aside;
}

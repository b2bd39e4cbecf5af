/** Waits until an owner has given its state directory free. */
import { readOwner } from "../../../persistence/lock.ts";
import type { Clock } from "../../runtime/clock.ts";
import { pause } from "../processes.ts";

const patienceMs = 6_000;
const pollMs = 25;

/** False when the process `pid` still owns `home` after some seconds. */
export async function ownerGone(home: string, pid: number, clock: Clock): Promise<boolean> {
  for (const until = clock.now() + patienceMs; clock.now() < until; await pause(pollMs)) if (readOwner(home)?.pid !== pid) return true;
  return false;
}

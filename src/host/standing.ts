/** What of a state directory is still to happen: whether its host has something to stay for. */
import type { RunState, Store } from "../../persistence/store.ts";
import { everyPage } from "./values.ts";

export interface Standing {
  /** Runs that are not final. */
  readonly open: number;
  /** Those of them that go on by themselves. */
  readonly moving: number;
  /** A decision waits for an answer. */
  readonly asks: boolean;
  /** A timer is to fire. */
  readonly waits: boolean;
}

const moving: readonly RunState[] = ["queued", "starting", "running", "pausing"];
const resting: readonly RunState[] = ["paused", "held", "waiting", "ambiguous", "blocked"];

export async function standingOf(store: Pick<Store, "query" | "nextDue">): Promise<Standing> {
  const movingRuns = await count(store, moving);
  return {
    moving: movingRuns,
    open: movingRuns + (await count(store, resting)),
    asks: (await store.query("decisions", { state: ["open"] }, { limit: 1 })).items.length > 0,
    waits: (await store.nextDue()) !== null,
  };
}

async function count(store: Pick<Store, "query">, state: readonly RunState[]): Promise<number> {
  let runs = 0;
  for await (const rows of everyPage((cursor) => store.query("runs", { state }, { limit: 500, cursor }))) runs += rows.length;
  return runs;
}

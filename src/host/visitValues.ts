/** The value that an accepted visit gave, wherever it is kept: in an effect's row, in its actor's output, or with another visit that the output names. */
import type { Store } from "../../persistence/store.ts";
import { nodeEnd, readView } from "./snapshots.ts";
import { readBlob } from "./values.ts";

/** As JSON text; null when the visit gave none. */
export async function jsonOfVisit(store: Pick<Store, "visits" | "load" | "blob">, visit: string): Promise<string | null> {
  for (let id = visit; ;) {
    const [effect] = await store.visits([id]);
    if (effect !== undefined) {
      const { output } = effect;
      if (output === null) return null;
      return "json" in output ? output.json : Buffer.from(await readBlob(store, output.blob)).toString("utf8");
    }
    const view = await readView(store, id);
    const end = view === null ? null : nodeEnd(view);
    if (end?.kind !== "accepted") return null;
    if (end.from === null) return JSON.stringify(end.value);
    // An inner visit is never an outer one: this ends.
    id = end.from;
  }
}

/** The value itself; null when the visit gave none. */
export async function valueOfVisit(store: Pick<Store, "visits" | "load" | "blob">, visit: string): Promise<unknown> {
  const json = await jsonOfVisit(store, visit);
  return json === null ? null : JSON.parse(json);
}

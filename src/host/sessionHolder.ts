/** Which run has a session. */
import type { RunRow, Store } from "../../persistence/store.ts";
import { everyPage } from "./values.ts";

/** The run that has this session now. */
export async function holderOf(store: Pick<Store, "query">, session: string): Promise<RunRow | undefined> {
  for await (const rows of everyPage((cursor) => store.query("runs", { session }, { limit: 500, cursor }))) {
    const holder = rows.find((row) => row.reserves);
    if (holder) return holder;
  }
  return undefined;
}

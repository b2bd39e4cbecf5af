import type { Store } from "../../persistence/store.ts";
import { everyPage } from "./values.ts";

/** Codes of all open decisions: a new one must differ. */
export async function openCodes(store: Pick<Store, "query">): Promise<readonly string[]> {
  const codes: string[] = [];
  for await (const rows of everyPage((cursor) => store.query("decisions", { state: ["open"] }, { limit: 500, cursor })))
    codes.push(...rows.map(({ code }) => code));
  return codes;
}

/** Finds a run by what a person typed: its id, or an end of it that fits one run only. */
import type { RunRow, Store } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import { everyPage } from "./values.ts";

/** The shortest ending that is looked for; what is shorter fits by accident. */
const shortestEnding = 4;
const shown = 3;

function commonEnding(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}

/**
 * The row of a run by its full id or a unique ending of it, case forgiven.
 * @throws unknownRun naming the closest ids, or those that an ambiguous ending fits.
 */
export async function findRun(store: Pick<Store, "query">, typed: string): Promise<RunRow> {
  const [exact] = (await store.query("runs", { id: typed }, { limit: 1 })).items;
  if (exact !== undefined) return exact;
  const ending = typed.trim().toUpperCase().replace(/^R_/, "");
  const fitting: RunRow[] = [];
  let nearest: { readonly id: string; readonly common: number }[] = [];
  // Newest last: of equally near ids the newer ones are the likelier.
  for await (const rows of everyPage((cursor) => store.query("runs", {}, { limit: 500, cursor }))) {
    for (const row of rows) if (ending.length >= shortestEnding && row.id.toUpperCase().endsWith(ending)) fitting.push(row);
    nearest = [...nearest, ...rows.map(({ id }) => ({ id, common: commonEnding(id.toUpperCase(), ending) }))]
      .toSorted((a, b) => a.common - b.common)
      .slice(-shown);
  }
  const [only, ...others] = fitting;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined)
    throw new PawlError("unknownRun", `"${typed}" fits ${fitting.length} runs: ${list(fitting.map(({ id }) => id))}. Type more of the id.`, { subject: typed });
  const closest = nearest.map(({ id }) => id).reverse();
  throw new PawlError(
    "unknownRun",
    closest.length === 0
      ? `There is no run "${typed}": this state directory has no runs. Start one with: \`pawl run FILE\``
      : `There is no run "${typed}". The closest: ${list(closest)}. The last ${shortestEnding} or more characters of an id are enough. List all with: \`pawl runs\``,
    { subject: typed },
  );
}

function list(ids: readonly string[]): string {
  return ids.length > shown ? `${ids.slice(-shown).join(", ")} and ${ids.length - shown} more` : ids.join(", ");
}

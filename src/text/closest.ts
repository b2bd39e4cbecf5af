/** Names that were probably meant. */

/** "Did you mean …?" with the closest of `names`, else the list of them (bounded), else "There are none.". */
export function closestTo(wrong: string, names: readonly string[]): string {
  const close = closestNames(wrong, names);
  if (close.length > 0) return `Did you mean ${close.map((name) => `"${name}"`).join(" or ")}?`;
  if (names.length === 0) return "There are none.";
  const shown = names.slice(0, 12).map((name) => `"${name}"`);
  return `There are: ${shown.join(", ")}${names.length > shown.length ? ` and ${names.length - shown.length} more` : ""}.`;
}

/** At most three names within a third of their length in edits (one edit for short ones), closest first, then in their order. */
export function closestNames(wrong: string, names: readonly string[]): readonly string[] {
  return names
    .map((name, order) => ({ name, order, distance: edits(wrong.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= allowedEdits(Math.max(name.length, wrong.length)))
    .sort((a, b) => a.distance - b.distance || a.order - b.order)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** A name of one letter is no misspelling of another. */
const allowedEdits = (length: number): number => (length < 2 ? 0 : Math.max(1, Math.floor(length / 3)));

/** Insertions, deletions, replacements and swaps of neighbours that make `a` into `b`. */
function edits(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1), swapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY));
    }
  }
  return at(a.length, b.length);
}

/** ` Did you mean x?`, ` Did you mean one of x, y?`, or nothing: to be put behind a sentence. */
export function didYouMean(wrong: string, names: readonly string[]): string {
  const near = closestNames(wrong, names);
  if (near.length === 0) return "";
  return near.length === 1 ? ` Did you mean ${near[0]}?` : ` Did you mean one of ${near.join(", ")}?`;
}

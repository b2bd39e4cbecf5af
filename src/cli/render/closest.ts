/** The known words nearest to a mistyped one. */

/** Up to three of `known`, nearest first, that are at most a third of the word (two letters at least) away; case does not count. */
export function closest(word: string, known: readonly string[]): readonly string[] {
  const limit = Math.max(2, Math.ceil(word.length / 3));
  const typed = word.toLowerCase();
  return known
    .map((candidate) => ({ candidate, distance: editDistance(typed, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= limit && distance < Math.max(candidate.length, word.length))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Letters to insert, delete, replace or swap with their neighbour. */
function editDistance(from: string, to: string): number {
  const a = [...from];
  const b = [...to];
  let beforeLast: number[] = [];
  let last = b.map((_, j) => j).concat(b.length);
  for (const [i, letter] of a.entries()) {
    const row = [i + 1];
    for (const [j, other] of b.entries()) {
      const costs = [at(last, j + 1) + 1, at(row, j) + 1, at(last, j) + (letter === other ? 0 : 1)];
      if (i > 0 && j > 0 && letter === b[j - 1] && a[i - 1] === other) costs.push(at(beforeLast, j - 1) + 1);
      row.push(Math.min(...costs));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;

/** `Did you mean x?`, `Did you mean one of x, y?` with a space in front, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = closest(word, known);
  if (near.length === 0) return "";
  return near.length === 1 ? ` Did you mean ${near[0]}?` : ` Did you mean one of ${near.join(", ")}?`;
}

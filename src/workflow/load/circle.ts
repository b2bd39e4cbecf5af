/** Files that import each other in a circle. */
import type { CapturedFile } from "./modules.ts";

/** The shortest way from a file over its imports back to itself, the file first and last; null when there is none. */
export function circleOf(file: string, files: ReadonlyMap<string, Pick<CapturedFile, "imports">>): readonly string[] | null {
  const seen = new Set<string>();
  for (let ways = [[file]]; ways.length > 0;) {
    const longer: string[][] = [];
    for (const way of ways)
      for (const next of new Set(Object.values(files.get(way.at(-1) ?? "")?.imports ?? {}))) {
        if (next === file) return [...way, next];
        if (seen.has(next)) continue;
        seen.add(next);
        longer.push([...way, next]);
      }
    ways = longer;
  }
  return null;
}

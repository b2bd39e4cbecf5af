/** What a kind of race came to, for whoever reads the log. */
import { writeSync } from "node:fs";

export function report(kind: string, numbers: { readonly [what: string]: number }): void {
  const said = Object.entries(numbers).map(([what, count]) => `${count} ${what}`);
  writeSync(1, `races of ${kind}: ${said.join(", ")}\n`);
}

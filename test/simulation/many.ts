/** The long simulation of CI: the same seeds each time, as far as its time allows, so that a change is judged and not the day's luck.
 *  `PAWL_SIMULATE_SEED`, `PAWL_SIMULATE_SEEDS` and `PAWL_SIMULATE_MS` choose others: that is how new faults are looked for. */
import { expect } from "vitest";
import { scenarioOf } from "./scenarios.ts";
import { runSeeds, speedOf } from "./seeds.ts";

const from = Number(process.env["PAWL_SIMULATE_SEED"] ?? 2000);
const budgetMs = Number(process.env["PAWL_SIMULATE_MS"] ?? 300_000);

export async function manySeedsHold(name: string, usual: number): Promise<void> {
  const count = Number(process.env["PAWL_SIMULATE_SEEDS"] ?? usual);
  const summary = await runSeeds({ scenario: scenarioOf(name), from, count, steps: 600, budgetMs });
  console.log(`${name}: ${speedOf(summary)}`);
  expect(summary.failures.map(({ report }) => report).join("\n\n")).toBe("");
  expect(summary.events, speedOf(summary)).toBeGreaterThan(summary.seeds * 20);
  expect(summary.seeds).toBeGreaterThan(2);
}

/** The long simulation of CI: as many seeds of one scenario as fit into its time. `PAWL_SIMULATE_SEED` and `PAWL_SIMULATE_MS` choose other seeds and another time. */
import { expect } from "vitest";
import { scenarioOf } from "./scenarios.ts";
import { runSeeds, speedOf } from "./seeds.ts";

const from = Number(process.env["PAWL_SIMULATE_SEED"] ?? 10_000);
const budgetMs = Number(process.env["PAWL_SIMULATE_MS"] ?? 300_000);

export async function manySeedsHold(name: string): Promise<void> {
  const summary = await runSeeds({ scenario: scenarioOf(name), from, count: 1_000_000, steps: 600, budgetMs });
  console.log(`${name}: ${speedOf(summary)}`);
  expect(summary.failures.map(({ report }) => report).join("\n\n")).toBe("");
  expect(summary.events, speedOf(summary)).toBeGreaterThan(summary.seeds * 20);
  expect(summary.seeds).toBeGreaterThan(2);
}

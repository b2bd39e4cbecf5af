/** The long simulation of CI. `PAWL_SIMULATE_SEED` and `PAWL_SIMULATE_MS` choose other seeds and another time for each scenario. */
import { expect, test } from "vitest";
import { scenarios } from "./scenarios.ts";
import { runSeeds, speedOf } from "./seeds.ts";

const from = Number(process.env["PAWL_SIMULATE_SEED"] ?? 10_000);
const budgetMs = Number(process.env["PAWL_SIMULATE_MS"] ?? 180_000);

test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
  "SIM-1, SIM-2, SIM-3, SIM-4, SIM-5, SIM-6, SIM-7, SIM-8, SIM-9, SIM-10, SIM-11, SIM-12, SIM-13 every rule holds over many seeds of %s",
  async (name, scenario) => {
    const summary = await runSeeds({ scenario, from, count: 1_000_000, steps: 600, budgetMs });
    console.log(`${name}: ${speedOf(summary)}`);
    expect(summary.failures.map(({ report }) => report).join("\n\n")).toBe("");
    expect(summary.seeds).toBeGreaterThan(50);
  },
);

/** The share of the simulation that every run of the tests takes: a few seconds of seeds, and the schedules that once failed. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { simulate } from "./core/simulate.ts";
import { scenarioOf, scenarios } from "./scenarios.ts";
import { runSeeds, speedOf } from "./seeds.ts";

/** A schedule that once broke a rule. */
interface Once {
  readonly scenario: string;
  readonly seed: number;
  readonly schedule: readonly string[];
  /** What was wrong. */
  readonly was: string;
}

const corpus: readonly Once[] = JSON.parse(readFileSync(new URL("corpus.json", import.meta.url), "utf8"));

describe("schedules that once failed", () => {
  test.each(corpus.map((once) => [once.was, once] as const))("SIM-17 %s", async (_was, { scenario, seed, schedule }) => {
    const { violation, trace, schedule: performed } = await simulate({ scenario: scenarioOf(scenario), seed, steps: schedule.length, schedule });
    expect(violation, trace.join("\n")).toBeNull();
    // What can no longer happen would prove nothing.
    expect(performed).toEqual(schedule);
  });
});

describe("a few seconds of seeds", () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    "SIM-1, SIM-2, SIM-3, SIM-4, SIM-5, SIM-6, SIM-7, SIM-8, SIM-9, SIM-10, SIM-11, SIM-12, SIM-13, SIM-14, SIM-19, SIM-20, SIM-21, SIM-22, SIM-23, SIM-24 case 53, case 54: every rule holds at every step of %s",
    async (_name, scenario) => {
      const summary = await runSeeds({ scenario, from: 1, count: 400, steps: 300, budgetMs: 4000 });
      expect(summary.failures.join("\n\n")).toBe("");
      // A simulation in which nothing happens proves nothing.
      expect(summary.rows, speedOf(summary)).toBeGreaterThan(summary.seeds * 20);
      expect(summary.seeds).toBeGreaterThan(0);
    },
    60_000,
  );
});

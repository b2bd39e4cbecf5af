/** `npm run simulate -- [--scenario authors] [--seed 1] [--seeds 100] [--steps 500] [--trace]`: runs seeds on every processor until one fails, or repeats one. */
import { parseArgs } from "node:util";
import { faultsText } from "./core/faults.ts";
import { simulate } from "./core/simulate.ts";
import { batchesOf, runFleet } from "./fleet.ts";
import { scenarioOf, scenarios } from "./scenarios.ts";
import { runSeeds, speedOf } from "./seeds.ts";

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      scenario: { type: "string" },
      seed: { type: "string" },
      seeds: { type: "string" },
      steps: { type: "string", default: "500" },
      trace: { type: "boolean", default: false },
    },
  });
  const wanted = values.scenario === undefined ? scenarios : [scenarioOf(values.scenario)];
  const steps = numberOf("--steps", values.steps);
  const from = numberOf("--seed", values.seed ?? "1");
  const count = numberOf("--seeds", values.seeds ?? (values.seed === undefined ? "100" : "1"));
  for (const scenario of wanted) {
    if (values.trace) console.log((await simulate({ scenario, seed: from, steps })).trace.join("\n"));
    const summary =
      count === 1 ? await runSeeds({ scenario, from, count, steps }) : (await runFleet({ batches: batchesOf(scenario.name, from, count), steps })).all;
    for (const report of summary.failures) console.error(`${report}\n`);
    console.log(`${scenario.name}: ${speedOf(summary)}\n  faults: ${faultsText(summary.faults)}`);
    if (summary.failures.length > 0) process.exitCode = 1;
  }
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new RangeError(`${name} is a whole number above 0, not "${text}".`);
  return number;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
});

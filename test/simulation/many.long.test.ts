/** The long simulation of CI: the same seeds each time, so that a change is judged and not the day's luck.
 *  `PAWL_SIMULATE_SEED`, `PAWL_SIMULATE_SEEDS` and `PAWL_SIMULATE_MS` choose others: that is how new faults are looked for. */
import { beforeAll, describe, expect, test } from "vitest";
import { faultKinds, faultsText } from "./core/faults.ts";
import { batchesOf, runFleet } from "./fleet.ts";
import { speedOf, type Summary } from "./seeds.ts";

/** What CI owes, by scenario; a local run may ask for less, in the same shares. */
const counts = { hosts: 1_500, clients: 900, authors: 7_600 } as const;
const owed = Object.values(counts).reduce((sum, count) => sum + count, 0);
const seeds = Number(process.env["PAWL_SIMULATE_SEEDS"] ?? owed);
const from = Number(process.env["PAWL_SIMULATE_SEED"] ?? 2000);
const budgetMs = Number(process.env["PAWL_SIMULATE_MS"] ?? 3_000_000);
const steps = 200;
/** How often each kind of fault must have happened. */
const often = Math.floor((100 * Math.min(seeds, owed)) / owed);

let all: Summary;

beforeAll(async () => {
  const batches = Object.entries(counts).flatMap(([scenario, count]) => batchesOf(scenario, from, Math.round((seeds * count) / owed)));
  const done = await runFleet({ batches, steps, budgetMs });
  ({ all } = done);
  for (const [scenario, summary] of done.sums) console.log(`${scenario} (${summary.seconds.toFixed(0)} s of one processor): ${speedOf(summary)}`);
  console.log(`all: ${speedOf(all)}\nfaults: ${faultsText(all.faults)}`);
}, budgetMs + 300_000);

describe("many seeds of author machines, of workflows on a host, and of clients of a host", () => {
  test("SIM-1, SIM-2, SIM-3, SIM-4, SIM-5, SIM-6, SIM-7, SIM-8, SIM-9, SIM-10, SIM-11, SIM-12, SIM-13, SIM-19, SIM-20, SIM-21, SIM-22, SIM-23, SIM-24, SIM-25 every rule holds", () => {
    expect(all.failures.join("\n\n")).toBe("");
  });

  test(`SIM-18 ${seeds} schedules of at least ${steps} events were performed`, () => {
    expect(all.seeds).toBeGreaterThanOrEqual(seeds);
    expect(all.shortest).toBeGreaterThanOrEqual(steps);
  });

  test.each(faultKinds.map((kind) => [kind]))(`SIM-18 it happened at least ${often} times: %s`, (kind) => {
    expect(all.faults[kind] ?? 0).toBeGreaterThanOrEqual(often);
  });
});

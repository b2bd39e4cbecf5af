/** One process of a fleet: `node shard.ts <scenario> <from> <count> <steps>` runs seeds and writes what they did as one line of JSON. */
import { scenarioOf } from "./scenarios.ts";
import { runSeeds } from "./seeds.ts";

const [name = "", from, count, steps] = process.argv.slice(2);
const summary = await runSeeds({ scenario: scenarioOf(name), from: Number(from), count: Number(count), steps: Number(steps) });
// What a seed that failed left behind must not keep the process.
process.stdout.write(`${JSON.stringify(summary)}\n`, () => process.exit(0));

/** `npm run bench [-- name …] [--rounds n] [--quick]`: every benchmark in turn, round after round in one run, medians at the end.
 *  What is not measured: power loss, other machines' disks, memory of author code. Ratios count; absolute figures are this machine's. */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { inCompany, recovery, stepByStep } from "./actors.ts";
import { hostCommands } from "./host.ts";
import { median } from "./kit.ts";
import { concurrent, growth, probe, rawBounds, sequential } from "./workflows.ts";

/** Named figures of one round. */
export type Figures = { readonly [name: string]: number };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "3" }, quick: { type: "boolean", default: false } },
});
const scale = (full: number, quick: number): number => (values.quick ? quick : full);

const benches: { readonly [name: string]: () => Promise<Figures> } = {
  step: () => stepByStep(scale(3000, 300)),
  company: () => inCompany(scale(20_000, 2000)),
  raw: () => rawBounds(scale(200, 20)),
  w1: () => sequential(scale(200, 20)),
  w2: () => concurrent(scale(200, 20)),
  w5: () => growth(values.quick ? [10, 100, 1000] : [10, 100, 1000, 10_000]),
  p: () => probe(scale(10, 2)),
  host: () => hostCommands(scale(7, 3)),
  recovery: async () => ({
    ...(await recovery(1000, scale(10_000, 1000))),
    ...(await recovery(10_000, scale(10_000, 1000))),
    ...(await recovery(scale(100_000, 20_000), scale(10_000, 1000))),
  }),
};

const unknown = positionals.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(`There is no benchmark ${unknown.join(", ")}. There are: ${Object.keys(benches).join(", ")}.\n`);
  process.exit(2);
}
const chosen = Object.entries(benches).filter(([name]) => positionals.length === 0 || positionals.includes(name));
const rounds = Math.max(1, Number(values.rounds));
const collected = new Map<string, number[]>();
for (let round = 1; round <= rounds; round += 1) {
  for (const [name, run] of chosen) {
    process.stderr.write(`round ${round} of ${rounds}: ${name}\n`);
    for (const [figure, value] of Object.entries(await run())) collected.set(figure, [...(collected.get(figure) ?? []), value]);
  }
}
const m = (name: string): number => median(collected.get(name) ?? []);
const rows = [...collected].map(([name, all]) => [name, round(median(all)), `${round(Math.min(...all))} to ${round(Math.max(...all))}`]);
if (collected.has("W1 steps/s") && collected.has("raw FULL, one commit a step, steps/s"))
  rows.push(["W1 / raw FULL, aim 0.7", round(m("W1 steps/s") / m("raw FULL, one commit a step, steps/s")), ""]);
if (collected.has("W2 steps/s") && collected.has("raw FULL, groups of 64, steps/s"))
  rows.push(["W2 / raw FULL in groups, aim 0.26", round(m("W2 steps/s") / m("raw FULL, groups of 64, steps/s")), ""]);
if (collected.has("W5 ms a step at 10000")) rows.push(["W5 step at 10,000 / at 10, aim 1.2", round(m("W5 ms a step at 10000") / m("W5 ms a step at 10")), ""]);
process.stdout.write(
  `Node ${process.version}, ${cpus().length} processors (${cpus()[0]?.model ?? "unknown"}), ${rounds} rounds, medians.\n\n| figure | median | range |\n| --- | --- | --- |\n${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`,
);

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(3);
}

/** Runs many seeds of a scenario and counts what they did. */
import { addFaults, type FaultCounts } from "./core/faults.ts";
import { reportOf } from "./core/report.ts";
import { shrink } from "./core/shrink.ts";
import { simulate, type Plan, type Scenario } from "./core/simulate.ts";

export interface Many {
  readonly scenario: Scenario;
  readonly from: number;
  readonly count: number;
  readonly steps: number;
  /** No new seed begins after this many milliseconds. */
  readonly budgetMs?: number;
}

/** Plain data: a child process hands it to its parent. */
export interface Summary {
  /** Seeds whose schedule was performed to its end. */
  readonly seeds: number;
  /** Ops in all, calm ones included. */
  readonly ops: number;
  /** Ops of the shortest schedule, calm ones not counted. */
  readonly shortest: number;
  /** Journal rows written. */
  readonly rows: number;
  readonly faults: FaultCounts;
  readonly seconds: number;
  /** Of the last seed's trace. */
  readonly hash: string;
  /** Reports of the seeds that failed: at the first one it stops. */
  readonly failures: readonly string[];
}

export const nothing: Summary = { seeds: 0, ops: 0, shortest: Infinity, rows: 0, faults: {}, seconds: 0, hash: "", failures: [] };

/** `seconds` of both, as if one after the other. */
export const together = (one: Summary, other: Summary): Summary => ({
  seeds: one.seeds + other.seeds,
  ops: one.ops + other.ops,
  shortest: Math.min(one.shortest, other.shortest),
  rows: one.rows + other.rows,
  faults: addFaults(one.faults, other.faults),
  seconds: one.seconds + other.seconds,
  hash: other.hash === "" ? one.hash : other.hash,
  failures: [...one.failures, ...other.failures],
});

const isRow = (line: string): boolean => /^ {2}\d+ /.test(line);

export async function runSeeds({ scenario, from, count, steps, budgetMs = Infinity }: Many): Promise<Summary> {
  const begun = performance.now();
  let sum = nothing;
  for (let seed = from; seed < from + count && sum.failures.length === 0 && performance.now() - begun < budgetMs; seed += 1) {
    const plan: Plan = { scenario, seed, steps };
    const outcome = await simulate(plan);
    const { ops, schedule, faults, trace, hash, violation } = outcome;
    const failures = violation === null ? [] : [reportOf(plan, outcome, await shrink(plan, outcome))];
    sum = together(sum, { seeds: 1, ops, shortest: schedule.length, rows: trace.filter(isRow).length, faults, seconds: 0, hash, failures });
  }
  return { ...sum, seconds: (performance.now() - begun) / 1000 };
}

/** `1200 seeds of at least 200 ops, 300000 ops, 60000 journal rows in 60 s: 20 seeds/s`. */
export function speedOf({ seeds, rows, ops, shortest, seconds }: Summary): string {
  const rate = (seeds / Math.max(seconds, 0.001)).toFixed(1);
  return `${seeds} seeds of at least ${seeds === 0 ? 0 : shortest} ops, ${ops} ops with the calm ones, ${rows} journal rows in ${seconds.toFixed(1)} s: ${rate} seeds/s`;
}

/** Runs many seeds of a scenario and counts what they did. */
import { reportOf } from "./core/report.ts";
import { shrink } from "./core/shrink.ts";
import { simulate, type Outcome, type Plan, type Scenario } from "./core/simulate.ts";

export interface Many {
  readonly scenario: Scenario;
  readonly from: number;
  readonly count: number;
  readonly steps: number;
  /** No new seed begins after this many milliseconds. */
  readonly budgetMs?: number;
  readonly sabotage?: Plan["sabotage"];
  /** Stops at the first seed that fails, and shrinks it; true unless set. */
  readonly stopAtFirst?: boolean;
}

export interface Summary {
  readonly seeds: number;
  readonly ops: number;
  /** Journal rows written. */
  readonly events: number;
  readonly seconds: number;
  /** Reports of the seeds that failed. */
  readonly failures: readonly { readonly outcome: Outcome; readonly shortest: Outcome; readonly report: string }[];
}

const isEvent = (line: string): boolean => /^ {2}\d+ /.test(line);

export async function runSeeds({ scenario, from, count, steps, budgetMs = Infinity, sabotage, stopAtFirst = true }: Many): Promise<Summary> {
  const begun = performance.now();
  const failures: { outcome: Outcome; shortest: Outcome; report: string }[] = [];
  let [seeds, ops, events] = [0, 0, 0];
  for (let seed = from; seed < from + count && performance.now() - begun < budgetMs; seed += 1) {
    const plan: Plan = { scenario, seed, steps, ...(sabotage ? { sabotage } : {}) };
    const outcome = await simulate(plan);
    seeds += 1;
    ops += outcome.ops;
    events += outcome.trace.filter(isEvent).length;
    if (outcome.violation === null) continue;
    const shortest = await shrink(plan, outcome);
    failures.push({ outcome, shortest, report: reportOf(plan, outcome, shortest) });
    if (stopAtFirst) break;
  }
  return { seeds, ops, events, seconds: (performance.now() - begun) / 1000, failures };
}

/** `1,200 seeds in 60 s: 20 seeds/s, 2,000 events/s`. */
export function speedOf({ seeds, events, ops, seconds }: Summary): string {
  const perSecond = (count: number): string => (count / Math.max(seconds, 0.001)).toFixed(1);
  return `${seeds} seeds, ${ops} ops, ${events} events in ${seconds.toFixed(1)} s: ${perSecond(seeds)} seeds/s, ${perSecond(events)} events/s`;
}

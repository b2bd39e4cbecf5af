/** What is said of a seed that failed: the rule, the one command that repeats it, the shortest schedule found, and what happened in it. */
import type { Outcome, Plan } from "./simulate.ts";

const shownLines = 120;

/** The command that does exactly the same again. */
export const commandOf = ({ scenario, seed, steps }: Plan): string => `npm run simulate -- --scenario ${scenario.name} --seed ${seed} --steps ${steps}`;

/** `shortest` fails by the same rule as `failed`. */
export function reportOf(plan: Plan, failed: Outcome, shortest: Outcome): string {
  const { violation, schedule, trace } = shortest;
  const shown = trace.slice(-shownLines);
  return [
    `${failed.violation?.rule ?? ""} does not hold (${plan.scenario.name}, seed ${failed.seed}): ${failed.violation?.message ?? ""}`,
    `Repeat it: ${commandOf(plan)}`,
    "",
    `The shortest schedule found that breaks it, ${schedule.length} of ${failed.schedule.length} ops${violation?.message === failed.violation?.message ? "" : ` (${violation?.message ?? ""})`}:`,
    ...schedule.map((op) => `  ${op}`),
    "",
    `What happened${shown.length < trace.length ? ` (the last ${shown.length} of ${trace.length} lines)` : ""}:`,
    ...shown.map((line) => `  ${line}`),
  ].join("\n");
}

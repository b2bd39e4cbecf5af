/** Makes a failing schedule shorter while it still fails by the same rule (delta debugging). */
import { simulate, type Outcome, type Plan } from "./simulate.ts";

/** The shortest failing outcome found within `tries` runs. */
export async function shrink(plan: Plan, failed: Outcome, tries = 400): Promise<Outcome> {
  let best = failed;
  let left = tries;
  const attempt = async (schedule: readonly string[]): Promise<boolean> => {
    if (left <= 0) return false;
    left -= 1;
    const outcome = await simulate({ ...plan, schedule });
    if (outcome.violation?.rule !== failed.violation?.rule || outcome.schedule.length >= best.schedule.length) return false;
    best = outcome;
    return true;
  };
  // What comes after the op that broke the rule was never performed; what could not happen falls out by itself.
  for (let size = Math.ceil(best.schedule.length / 2); size >= 1 && left > 0;) {
    let progress = false;
    for (let from = Math.max(0, best.schedule.length - size); left > 0; from -= size) {
      const start = Math.max(0, from);
      if (await attempt([...best.schedule.slice(0, start), ...best.schedule.slice(start + size)])) progress = true;
      if (start === 0) break;
    }
    if (!progress) size = Math.floor(size / 2);
    else size = Math.min(size, Math.max(1, Math.ceil(best.schedule.length / 2)));
  }
  return best;
}

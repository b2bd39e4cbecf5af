/** Runs one seed, or one recorded schedule: a stormy time in which anything may happen, then calm weather in which everything must come to its end. */
import type { FaultCounts } from "./faults.ts";
import { randomOf, type Random } from "./random.ts";
import { turn } from "./hold.ts";
import { Violation, World, type Choice } from "./world.ts";

/** A world of one kind: its parts, its rules, and how it is taken down. */
export interface Scenario {
  readonly name: string;
  /** Before the first world of a process: what is slow only once must not make the first seed another than it would be later. */
  prepare?(): Promise<void>;
  /** Puts parts and rules into the world. `random` decides what kind of day it is: sizes, odds, profiles. */
  build(world: World, random: Random): Promise<{ close(): Promise<void> }>;
}

export interface Plan {
  readonly scenario: Scenario;
  readonly seed: number;
  /** Ops of the stormy time: so many events has the schedule, the calm ones after it not counted. */
  readonly steps: number;
  /** The ops themselves instead: what of them can happen, happens. */
  readonly schedule?: readonly string[];
  /** Called when the world stands and before anything happens; returns what undoes it. */
  readonly sabotage?: () => () => void;
}

export interface Outcome {
  readonly seed: number;
  /** Null when every rule held. */
  readonly violation: { readonly rule: string; readonly message: string } | null;
  /** Ops of the stormy time. */
  readonly schedule: readonly string[];
  readonly trace: readonly string[];
  readonly hash: string;
  /** Ops in all, calm ones included. */
  readonly ops: number;
  readonly faults: FaultCounts;
}

/** Ops after which a world that does not come to rest never will. */
const calmLimit = 6000;

export async function simulate({ scenario, seed, steps, schedule, sabotage }: Plan): Promise<Outcome> {
  await scenario.prepare?.();
  const world = new World();
  const onStray = (error: unknown): void => world.stray(error);
  process.on("unhandledRejection", onStray);
  const undo = sabotage?.();
  let stormy: readonly string[] = [];
  let violation: Outcome["violation"] = null;
  let built: { close(): Promise<void> } | undefined;
  try {
    built = await scenario.build(world, randomOf(seed, "day"));
    try {
      await storm(world, randomOf(seed, "storm"), steps, schedule);
      stormy = [...world.schedule];
      await calm(world);
      await turn();
      await world.checkAll();
      await world.checkEnd();
    } catch (error) {
      if (stormy.length === 0) stormy = [...world.schedule];
      violation =
        error instanceof Violation
          ? { rule: error.rule, message: error.message }
          : { rule: "SIM-14", message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  } finally {
    await built?.close();
    undo?.();
    world.held.release();
    // An unhandled rejection is told after the turn in which it happened.
    await turn();
    process.off("unhandledRejection", onStray);
  }
  return { seed, violation, schedule: stormy, trace: world.trace, hash: world.hash(), ops: world.schedule.length, faults: world.faults };
}

async function storm(world: World, random: Random, steps: number, schedule: readonly string[] | undefined): Promise<void> {
  if (schedule) {
    for (const op of schedule) await world.step(op);
    return;
  }
  // What was drawn may turn out not to be possible: it does not count.
  for (let draws = 0; world.schedule.length < steps && draws < 2 * steps; draws += 1) {
    const op = drawn(world.choices(random), random);
    if (op === null) return;
    await world.step(op);
  }
}

async function calm(world: World): Promise<void> {
  world.calm = true;
  world.trace.push("-- calm");
  for (let ops = 0; ; ops += 1) {
    const need = world.need();
    if (need === null) return;
    if (ops === calmLimit) throw new Violation("SIM-13", `after ${calmLimit} calm ops the world still needs "${need}"`);
    if (!(await world.step(need))) throw new Violation("SIM-13", `the world needs "${need}", which cannot happen`);
  }
}

function drawn(choices: readonly Choice[], random: Random): string | null {
  const total = choices.reduce((sum, { weight }) => sum + weight, 0);
  let left = random.next() * total;
  for (const { op, weight } of choices) {
    left -= weight;
    if (left < 0) return op;
  }
  return choices.at(-1)?.op ?? null;
}

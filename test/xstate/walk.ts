/** Seeded random walks: the same events, timers and results for live XState, for a runtime that stays alive, and for one that is lost after each. */
import { isDeepStrictEqual } from "node:util";
import type { Store } from "../../persistence/index.ts";
import { DurableWorld } from "./durable.ts";
import { LiveWorld } from "./live.ts";
import type { Outcome, Subject } from "./machines/subject.ts";
import type { Deed, SeenActor, World } from "./observed.ts";
import { seeded, type Random } from "./random.ts";

type Op =
  | { readonly do: "start" }
  | { readonly do: "send"; readonly path: string; readonly event: { readonly type: string } }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "settle"; readonly nth: number; readonly outcome: Outcome };

export interface Walked {
  /** Events, timers and results, the start included. */
  readonly ops: number;
  /** States that live actors were in, by machine. */
  readonly visited: ReadonlySet<string>;
}

export interface WalkOptions {
  readonly length: number;
  /** Where the runtime that is lost stores. In memory when left out. */
  readonly store?: Store;
  /** Two runtimes more, which have none of the machines themselves. */
  readonly elsewhere?: "later" | "atOnce";
}

/** @throws an error that says what differed, after which operations, and the command that repeats it */
export async function walk(subject: Subject, seed: number, { length, store, elsewhere }: WalkOptions): Promise<Walked> {
  const random = seeded(seed);
  const live = new LiveWorld(subject);
  const durable = [
    ["alive", new DurableWorld(subject, { restarts: false })],
    ["restored", new DurableWorld(subject, { restarts: true, ...(store ? { store } : {}) })],
    ...(elsewhere
      ? ([
          ["stepped elsewhere", new DurableWorld(subject, { restarts: false, elsewhere })],
          ["stepped elsewhere and restored", new DurableWorld(subject, { restarts: true, elsewhere })],
        ] as const)
      : []),
  ] as const;
  const worlds: readonly World[] = [live, ...durable.map(([, world]) => world)];
  const ops: Op[] = [];
  const promises = new Promises(subject);
  const visited = new Set<string>();
  try {
    for (let op: Op | null = { do: "start" }; op !== null && ops.length < length;) {
      ops.push(op);
      for (const world of worlds) await perform(world, op);
      // There is nothing more to compare.
      if (live.hasParted) break;
      const told = await look(live);
      for (const [name, world] of durable) compare(told, await look(world), name, ops.length);
      for (const actor of told.actors) visited.add(`${actor.machine} ${JSON.stringify(actor.value)}`);
      promises.note(op, told.deeds);
      op = told.actors[0]?.status === "active" ? choose(random, subject, told, promises) : null;
    }
    for (const [name, world] of durable) {
      const different = await world.replayed();
      if (different.length > 0) throw new Error(`replaying the journals of the ${name} runtime gives something else: ${different.join("; ")}`);
    }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${subject.machine.id}, seed ${seed}, after ${ops.length} operations: ${text}\n\n${ops.map((op) => JSON.stringify(op)).join("\n")}\n\nRepeat it: PAWL_WALK=${subject.machine.id}:${seed}:${length} npm run test:walk`,
      { cause: error },
    );
  } finally {
    for (const world of worlds) await world.close();
  }
  return { ops: ops.length, visited };
}

interface Look {
  readonly actors: readonly SeenActor[];
  readonly timers: readonly number[];
  readonly deeds: readonly Deed[];
}

const look = async (world: World): Promise<Look> => ({ actors: await world.tree(), timers: await world.timers(), deeds: world.deeds() });

async function perform(world: World, op: Op): Promise<void> {
  if (op.do === "start") await world.start();
  if (op.do === "send") await world.send(op.path, op.event);
  if (op.do === "advance") await world.advance(op.ms);
  if (op.do === "settle") await world.settle(op.nth, op.outcome);
}

function compare(live: Look, other: Look, name: string, ops: number): void {
  const differ = (what: string, a: unknown, b: unknown): void => {
    if (!isDeepStrictEqual(a, b)) throw new Error(`the ${name} runtime has other ${what}\nlive:    ${JSON.stringify(a)}\n${name}: ${JSON.stringify(b)}`);
  };
  const byPath = ({ actors }: Look): readonly SeenActor[] => actors.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map((actor) => stripped(actor, ops));
  differ("actors", byPath(live), byPath(other));
  differ("timers", live.timers, other.timers);
  // What is told at the commit (emitted, logged, volatile) comes before what the commit starts: each kind has its own order.
  for (const kinds of [["promise", "effect"], ["emitted"], ["log"], ["volatile"]]) {
    const of = ({ deeds }: Look): readonly Deed[] => deeds.filter(({ kind }) => kinds.includes(kind));
    differ(kinds.join(" and "), of(live), of(other));
  }
}

/** A machine that failed to start, or was refused, has no row of its own, and so no name or state. A live actor that is stopped forgets its children. */
function stripped(actor: SeenActor, ops: number): SeenActor {
  if (actor.status === "error" && (actor.value === undefined || ops === 1)) return { path: actor.path, machine: "", status: "error", children: [] };
  return actor.status === "stopped" ? { ...actor, children: [] } : actor;
}

/** The promises started so far, by number. */
class Promises {
  private readonly subject: Subject;
  private readonly sources: string[] = [];
  private readonly pending = new Set<number>();

  constructor(subject: Subject) {
    this.subject = subject;
  }

  note(op: Op, deeds: readonly Deed[]): void {
    if (op.do === "settle") this.pending.delete(op.nth);
    for (const deed of deeds) {
      if (deed.kind !== "promise") continue;
      this.pending.add(this.sources.length);
      this.sources.push(deed.source);
    }
  }

  /** An end for one that has not ended, mostly a late one. */
  choose(random: Random): Op | null {
    const waiting = [...this.pending];
    const nth = random.next() < 0.7 ? waiting.at(-1) : random.pick(waiting);
    const outcome = nth === undefined ? undefined : random.pick(this.subject.outcomes?.[this.sources[nth] ?? ""] ?? []);
    return nth === undefined || !outcome ? null : { do: "settle", nth, outcome };
  }
}

function choose(random: Random, subject: Subject, { actors, timers }: Look, promises: Promises): Op | null {
  const dice = random.next();
  const next = timers[0];
  if (dice < 0.3) {
    const op = promises.choose(random);
    if (op) return op;
  }
  // Two timers at one moment fire in an order that is not promised: such a walk ends here.
  if (dice < 0.55 && next !== undefined) {
    if (random.next() < 0.3 && next > 1) return { do: "advance", ms: 1 + random.below(next - 1) };
    return timers[1] === next ? null : { do: "advance", ms: next };
  }
  const active = actors.filter(({ status, machine }) => status === "active" && (subject.events[machine]?.length ?? 0) > 0);
  const actor = random.next() < 0.5 ? active[0] : random.pick(active);
  const event = actor && random.pick(subject.events[actor.machine] ?? []);
  if (actor && event) return { do: "send", path: actor.path, event };
  const settle = promises.choose(random);
  if (settle) return settle;
  if (next === undefined) return null;
  return timers[1] === next ? null : { do: "advance", ms: next };
}

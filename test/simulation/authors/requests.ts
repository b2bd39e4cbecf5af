/** What clients of author machines ask for. */
import type { Random } from "../core/random.ts";
import type { Propose } from "../parts/clients.ts";
import type { Replay } from "../rules/replay.ts";

type Event = { readonly type: string; readonly [key: string]: unknown };

const maxRoots = 4;
const machines = ["counter", "saga", "teller", "family", "alarm", "fetcher"] as const;

const eventsOf: { readonly [machine: string]: (random: Random) => Event } = {
  counter: (random) => {
    if (random.chance(0.02)) return { type: "close" };
    if (random.chance(0.05)) return { type: "boom" };
    if (random.chance(0.2)) return { type: "toggle" };
    // Now and then more than a row keeps inline.
    return { type: "add", by: random.below(9) + 1, ...(random.chance(0.1) ? { pad: "x".repeat(5000 + random.below(3)) } : {}) };
  },
  saga: (random) => ({ type: random.chance(0.3) ? "giveUp" : "hurry" }),
  teller: (random) => ({ type: random.chance(0.15) ? "skip" : "nothing" }),
  family: (random) => {
    switch (random.below(9)) {
      case 0:
        return { type: "adopt" };
      case 1:
        return { type: "dismiss" };
      case 2:
        return { type: "later", ms: random.pick([0, 10, 5000]) };
      case 3:
        return { type: "tell", event: { type: "nap", ms: random.pick([5, 700]) } };
      case 4:
        return random.chance(0.3) ? { type: "tell", event: random.chance(0.5) ? { type: "leave" } : { type: "fail" } } : { type: "never" };
      case 5:
        return random.chance(0.1) ? { type: "end" } : { type: "chain", hops: 1 };
      default:
        return { type: "chain", hops: random.below(12) + 1 };
    }
  },
  alarm: (random) => (random.chance(0.25) ? { type: "cancel" } : { type: "set", ms: random.pick([1, 20, 300, 4000, 90_000, 2_592_000_000]) }),
  fetcher: (random) => ({ type: random.chance(0.05) ? "poison" : random.chance(0.05) ? "stop" : "again" }),
  member: (random) => random.pick<Event>([{ type: "ping", hops: 3 }, { type: "nap", ms: 40 }, { type: "leave" }, { type: "nothing" }]),
};

/** Starts trees of the kinds that this day is about, and sends to what there is. */
export function proposer(day: Random, replay: Replay): Propose {
  const kinds = day.chance(0.5) ? machines : [day.pick(machines), day.pick(machines)];
  return (random, id, requests) => {
    const actors = [...replay.actors.values()];
    const living = actors.filter(({ status }) => status === "active");
    const roots = living.filter(({ parent }) => parent === null).length;
    const started = requests.filter(({ content, heard }) => content.kind === "start" && heard.length === 0).length;
    if (roots + started < maxRoots && random.chance(roots + started === 0 ? 1 : 0.2)) {
      const machine = random.pick(kinds);
      return { kind: "start", to: `${machine}-${id}`, machine, input: {} };
    }
    if (actors.length === 0) return null;
    // Mostly to who lives, for what is over takes nothing.
    const actor = random.pick(living.length > 0 && random.chance(0.93) ? living : actors);
    const event = eventsOf[actor.definition.id]?.(random);
    return event === undefined
      ? null
      : { kind: "send", to: actor.id, event, ...(random.chance(0.06) ? { expects: Math.max(1, actor.revision - random.below(2)) } : {}) };
  };
}

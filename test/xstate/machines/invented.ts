/** Machines that a seed invents: three levels of actors that do everything to each other, in any order. What nobody would write on purpose
 *  shows what nobody thought of. Every message carries how many hops are left to it, so that each cascade ends. */
import { enqueueActions, log, setup, type AnyActorRef, type AnyEventObject, type AnyStateMachine, type MachineContext } from "xstate";
import { seeded, type Random } from "../random.ts";
import { awaited, does, traced, type Subject } from "./subject.ts";

interface Context extends MachineContext {
  readonly name: string;
  readonly seen: readonly string[];
  readonly n: number;
  readonly last: AnyActorRef | null;
}

interface Input {
  readonly name: string;
  readonly hops: number;
}

const messages = ["e0", "e1", "e2", "e3"] as const;
const states = ["a", "b", "c", "d"] as const;

/** Timers and results come one at a time; the ends of children come in the midst of a cascade, and start nothing further. */
function hopsOf(event: AnyEventObject): number {
  if (typeof event["hops"] === "number") return event["hops"];
  if (event.type === "xstate.init") return (event["input"] as Input | undefined)?.hops ?? 0;
  return event.type.startsWith("xstate.after.") || /^xstate\.(done|error)\.actor\.p/.test(event.type) ? 2 : 0;
}

interface Act {
  readonly what: string;
  readonly label: string;
  readonly message: string;
  readonly ms: number;
}

const everywhere = ["note", "note", "effect", "trace", "emit", "log", "remember", "raise", "toSelf", "toLast", "toNamed", "later", "laterToLast", "again"];
const withParent = ["toParent", "toParent", "toParent", "laterToParent"];
const withChildren = ["toChild", "toChild", "spawn", "spawn", "stopSpawned", "spawnAndStop", "spawnAndSend", "stopInvoked"];

function randomAct(random: Random, level: number, label: string): Act {
  const pool = [...everywhere, ...(level > 0 ? withParent : []), ...(level < 2 ? withChildren : [])];
  return { what: random.pick(pool) ?? "note", label, message: random.pick(messages) ?? "e0", ms: 101 + 2 * random.below(5000) };
}

/** What enqueueActions hands over, as far as machines that nobody's types know use it. */
interface Hands {
  readonly context: Context;
  readonly event: AnyEventObject;
  readonly self: AnyActorRef;
  readonly system: { get(systemId: string): AnyActorRef | undefined };
  readonly enqueue: ((action: unknown) => void) & {
    readonly assign: (change: object) => void;
    readonly cancel: (id: string) => void;
    readonly raise: (event: object, options?: object) => void;
    readonly sendTo: (target: unknown, event: object, options?: object) => void;
    readonly sendParent: (event: object, options?: object) => void;
    readonly spawnChild: (source: string, options: object) => void;
    readonly stopChild: (id: string) => void;
    readonly emit: (event: object) => void;
  };
}

/** One list of acts, carried out by one enqueueActions. */
const perform = (acts: readonly Act[]): unknown => enqueueActions(((hands: Hands) => acts.forEach((act) => carryOut(act, hands))) as never); // its types ask for a machine's own

function carryOut({ what, label, message: type, ms }: Act, { context, event, enqueue, self, system }: Hands): void {
  const hops = hopsOf(event);
  const message = { type, hops: hops - 1, from: self };
  const child = `s${context.n % 3}`;
  const input: Input = { name: `${context.name}.${child}`, hops: hops - 1 };
  const latest = ({ context: now }: { context: Context }): AnyActorRef => now.last ?? self;
  if (what === "note") enqueue.assign({ seen: ({ context: now }: { context: Context }) => [...now.seen, label].slice(-8) });
  if (what === "effect") enqueue({ type: "effect", params: { by: context.name, label } });
  if (what === "trace") enqueue({ type: "trace", params: label });
  if (what === "emit") enqueue.emit({ type: "told", label });
  if (what === "log") enqueue(log(label, context.name));
  if (what === "remember" && event["from"] !== undefined) enqueue.assign({ last: event["from"] });
  if (what === "stopSpawned") enqueue.stopChild(child);
  if (what === "stopInvoked") enqueue.stopChild("k0");
  if (hops <= 0) return;
  if (what === "raise") enqueue.raise(message);
  if (what === "toSelf") enqueue.sendTo(self, message);
  if (what === "toParent") enqueue.sendParent(message);
  if (what === "toLast") enqueue.sendTo(latest, message);
  if (what === "toNamed") enqueue.sendTo(system.get("named") ?? self, message);
  if (what === "toChild") enqueue.sendTo(() => system.get(`of ${context.name}`) ?? self, message);
  if (what === "later") enqueue.raise(message, { delay: ms });
  if (what === "laterToLast") enqueue.sendTo(context.last ?? self, message, { delay: ms });
  if (what === "laterToParent") enqueue.sendParent(message, { delay: ms });
  if (what === "again") {
    enqueue.cancel("again");
    enqueue.raise(message, { delay: ms, id: "again" });
  }
  if (!what.startsWith("spawn")) return;
  enqueue.stopChild(child);
  enqueue.spawnChild("child", { id: child, input });
  if (what === "spawnAndSend") enqueue.sendTo(child, message);
  if (what === "spawnAndStop") enqueue.stopChild(child);
  enqueue.assign({ n: ({ context: now }: { context: Context }) => now.n + 1 });
}

function inventMachine(random: Random, seed: number, level: number, below: readonly AnyStateMachine[]): AnyStateMachine {
  let labels = 0;
  const acts = (most: number) => {
    const count = random.below(most + 1);
    const list = Array.from({ length: count }, () => randomAct(random, level, `${level}${(labels += 1)}`));
    return count === 0 ? [] : [perform(list)];
  };
  const [child] = below;
  const stateOf = (name: string, index: number) => ({
    entry: acts(3),
    exit: acts(2),
    on: Object.fromEntries(
      messages
        .filter(() => random.next() < 0.6)
        .map((type) => {
          const target = random.next() < 0.5 ? random.pick(level > 0 ? [...states, "end"] : states) : undefined;
          return [type, { ...(target === undefined ? {} : { target, reenter: random.next() < 0.3 }), actions: acts(4) }];
        }),
    ),
    // Only ever forwards: a circle would never come to rest.
    ...(index < 3 && random.next() < 0.2
      ? { always: { guard: ({ context }: { context: Context }) => context.seen.length % 3 === index, target: states[index + 1], actions: acts(2) } }
      : {}),
    ...(random.next() < 0.3 ? { after: { [997 + 2 * random.below(4000)]: { target: random.pick(states), actions: acts(3) } } } : {}),
    invoke: [
      ...(child && random.next() < 0.5
        ? [
            {
              id: "k0",
              src: "child",
              // Unique in the tree: there is one root.
              ...(level === 0 && index < 2 ? { systemId: name === "a" ? "of r" : "named" } : {}),
              input: ({ context, event }: { context: Context; event: AnyEventObject }): Input => ({ name: `${context.name}.k`, hops: hopsOf(event) - 1 }),
              onDone: { ...(random.next() < 0.5 ? { target: random.pick(states) } : {}), actions: acts(2) },
              ...(random.next() < 0.8 ? { onError: { target: random.pick(states), actions: acts(1) } } : {}),
            },
          ]
        : []),
      ...(random.next() < 0.3
        ? [
            {
              id: "p0",
              src: "promise",
              input: { of: name },
              onDone: { target: random.pick(states), actions: acts(3) },
              ...(random.next() < 0.7 ? { onError: { target: random.pick(states), actions: acts(2) } } : {}),
            },
          ]
        : []),
    ],
  });
  const config = {
    id: `invented${level}`,
    version: String(seed),
    context: ({ input }: { input: Input }): Context => ({ name: input.name, seen: [], n: 0, last: null }),
    output: ({ context }: { context: Context }) => ({ by: context.name, seen: context.seen }),
    initial: "a",
    entry: acts(2),
    states: { ...Object.fromEntries(states.map((name, index) => [name, stateOf(name, index)])), end: { type: "final" } },
  };
  const base = setup({
    types: {} as { context: Context; input: Input; events: AnyEventObject },
    actors: { promise: awaited<unknown, { of: string }>(), ...(child ? { child } : {}) } as never, // the child's kind is known to nobody before the seed
    actions: { effect: does<{ by: string; label: string }>("invented.effect"), trace: traced<string>("invented") } as never,
  });
  return (base as unknown as { createMachine(config: object): AnyStateMachine }).createMachine(config); // a config that only a seed knows has no narrower type
}

/** The same machines for the same seed. */
export function invented(seed: number): Subject {
  const random = seeded(seed);
  const third = inventMachine(random, seed, 2, []);
  const second = inventMachine(random, seed, 1, [third]);
  const first = inventMachine(random, seed, 0, [second]);
  const events = messages.flatMap((type) => [2, 3].map((hops) => ({ type, hops })));
  return {
    machine: first,
    children: [second, third],
    input: { name: "r", hops: 2 },
    events: { invented0: events, invented1: events, invented2: events },
    outcomes: { promise: [{ output: { fine: true } }, { output: null }, { error: "no" }] },
  };
}

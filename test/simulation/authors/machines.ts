/** Machines as authors write them, one for each thing that a durable runtime can get wrong. */
import { assign, emit, fromPromise, raise, sendParent, sendTo, setup, stopChild } from "xstate";
import { durable, effect, effectAction } from "../../../machines/define.ts";
import type { Answer } from "../parts/outside.ts";

/** What an author's own promise calls; the world puts itself here while it runs. */
export const door: { call: (label: string, signal: AbortSignal) => Promise<Answer> } = {
  call: (label) => Promise.reject(new Error(`nobody is outside to answer ${label}`)),
};

interface Work {
  readonly label: string;
}

const work = effect<Answer, Work>("sim.work", { retry: { maxAttempts: 3, initialMs: 200 }, maxInterrupted: 4 });
const slowWork = effect<Answer, Work>("sim.work", { timeoutMs: 2000, retry: { maxAttempts: 2, initialMs: 100 } });
/** What it did can be looked for, on some days. */
const payment = effect<Answer, Work>("sim.pay", { once: true, timeoutMs: 3000, retry: { maxAttempts: 3, initialMs: 300 } });

/** Counts, replies, sleeps (then most events are nothing to it), throws when told so, and ends. */
export const counter = setup({
  types: {} as {
    context: { sum: number; seen: number };
    events: { type: "add"; by: number; pad?: string } | { type: "toggle" } | { type: "boom" } | { type: "close" };
  },
  actions: {
    reply: emit(({ context }) => ({ type: "pawl.reply", sum: context.sum, seen: context.seen })),
    boom: assign(() => {
      throw new Error("boom");
    }),
  },
}).createMachine({
  id: "counter",
  version: "1",
  context: { sum: 0, seen: 0 },
  initial: "awake",
  states: {
    awake: {
      on: {
        add: { actions: [assign({ sum: ({ context, event }) => context.sum + event.by, seen: ({ context }) => context.seen + 1 }), "reply"] },
        boom: { actions: "boom" },
        toggle: "asleep",
        close: "closed",
      },
    },
    asleep: { on: { toggle: { target: "awake", actions: "reply" } } },
    closed: { type: "final" },
  },
  // A finished actor takes nothing, though its machine would.
  on: { toggle: { actions: "reply" } },
});

/** Reserves, pays once, ships against a deadline, makes good what failed; patience runs out at last. */
export const saga = setup({
  types: {} as { context: { got: readonly number[]; failures: number }; events: { type: "hurry" } | { type: "giveUp" } },
  actors: { reserve: work, pay: payment, ship: slowWork, refund: work },
  actions: {
    keep: assign({ got: ({ context, event }) => [...context.got, "output" in event ? (event.output as Answer).serial : 0] }), // done events of the effects above, or a person's word without a serial
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    audit: effectAction<Work>("sim.note"),
  },
}).createMachine({
  id: "saga",
  version: "1",
  context: { got: [], failures: 0 },
  initial: "reserving",
  on: { giveUp: ".refunding" },
  states: {
    reserving: {
      invoke: {
        id: "work",
        src: "reserve",
        input: { label: "reserve" },
        onDone: { target: "paying", actions: "keep" },
        onError: { target: "failed", actions: "countFailure" },
      },
      after: { 60_000: "failed" },
    },
    paying: {
      entry: { type: "audit", params: { label: "about to pay" } },
      invoke: {
        id: "work",
        src: "pay",
        input: { label: "pay" },
        onDone: { target: "shipping", actions: "keep" },
        onError: { target: "refunding", actions: "countFailure" },
      },
      on: { hurry: { actions: assign({ failures: ({ context }) => context.failures }) } },
    },
    shipping: {
      invoke: {
        id: "work",
        src: "ship",
        input: { label: "ship" },
        onDone: { target: "shipped", actions: "keep" },
        onError: { target: "shipping", reenter: true, actions: "countFailure", guard: ({ context }) => context.failures < 3 },
      },
      after: { 300_000: "refunding" },
    },
    refunding: {
      invoke: { id: "work", src: "refund", input: { label: "refund" }, onDone: { target: "refunded", actions: "keep" }, onError: "failed" },
      on: { giveUp: {} },
    },
    shipped: { type: "final" },
    refunded: { type: "final" },
    failed: { type: "final" },
  },
});

/** Pays again and again, in a hurry: what became of an attempt is often not known. */
export const teller = setup({
  types: {} as { context: { paid: readonly number[]; rounds: number }; events: { type: "skip" } },
  actors: { pay: effect<Answer, Work>("sim.pay", { once: true, timeoutMs: 300 }) },
  actions: {
    keep: assign({ paid: ({ context, event }) => [...context.paid, "output" in event ? (event.output as Answer).serial : 0] }), // as in saga
  },
  guards: { isOver: ({ context }) => context.rounds >= 6 },
}).createMachine({
  id: "teller",
  version: "1",
  context: { paid: [], rounds: 0 },
  initial: "paying",
  states: {
    paying: {
      entry: assign({ rounds: ({ context }) => context.rounds + 1 }),
      invoke: { id: "payment", src: "pay", input: { label: "pay" }, onDone: { target: "counting", actions: "keep" }, onError: "counting" },
      on: { skip: "counting" },
    },
    counting: { always: { guard: "isOver", target: "home" }, after: { 20: "paying" } },
    home: { type: "final" },
  },
});

type MemberEvent = { type: "ping"; hops: number } | { type: "leave" } | { type: "fail" } | { type: "nap"; ms: number };

/** A child: passes messages up and down, naps, ends well or badly. */
export const member = setup({
  types: {} as {
    context: { name: string; pings: number; naps: number };
    input: { name: string };
    events: MemberEvent;
    output: { name: string; pings: number };
  },
  actions: { countPing: assign({ pings: ({ context }) => context.pings + 1 }) },
}).createMachine({
  id: "member",
  version: "1",
  context: ({ input }) => ({ name: input.name, pings: 0, naps: 0 }),
  initial: "here",
  states: {
    here: {
      on: {
        ping: {
          actions: ["countPing", sendParent(({ context, event }) => ({ type: "pong", from: context.name, hops: event.hops - 1 }))],
        },
        nap: { target: "napping", actions: raise({ type: "ping", hops: 0 }, { delay: ({ event }) => (event.type === "nap" ? event.ms : 0), id: "wake" }) },
        leave: "left",
        fail: {
          actions: assign(() => {
            throw new Error("it will not");
          }),
        },
      },
      after: { 600_000: "left" },
    },
    napping: { on: { ping: { target: "here", actions: assign({ naps: ({ context }) => context.naps + 1 }) }, leave: "left" } },
    left: { type: "final" },
  },
  output: ({ context }) => ({ name: context.name, pings: context.pings }),
});

/** A child that has ended when it begins. */
export const herald = setup({ types: {} as { input: { says: string }; context: { says: string }; output: { said: string } } }).createMachine({
  id: "herald",
  version: "1",
  context: ({ input }) => ({ says: input.says }),
  initial: "heard",
  states: { heard: { type: "final" } },
  output: ({ context }) => ({ said: context.says }),
});

type FamilyEvent =
  | { type: "chain"; hops: number }
  | { type: "pong"; from: string; hops: number }
  | { type: "adopt" }
  | { type: "dismiss" }
  | { type: "tell"; event: MemberEvent }
  | { type: "later"; ms: number }
  | { type: "never" }
  | { type: "end" };

/** A parent of two: chains of messages, a child that comes and goes, delayed messages to a child, and ends of children as events. */
export const family = setup({
  types: {} as { context: { pongs: number; ended: readonly string[] }; events: FamilyEvent; emitted: { type: "pawl.reply"; chained: boolean } },
  actors: { member, herald },
  actions: {
    countPong: assign({ pongs: ({ context }) => context.pongs + 1 }),
    passOn: sendTo("first", ({ event }) => ({ type: "ping", hops: event.type === "pong" ? event.hops : 0 })),
  },
}).createMachine({
  id: "family",
  version: "1",
  context: { pongs: 0, ended: [] },
  initial: "together",
  states: {
    together: {
      invoke: [
        {
          id: "herald",
          src: "herald",
          input: { says: "here" },
          onDone: { actions: assign({ ended: ({ context, event }) => [...context.ended, event.output.said] }) },
        },
        {
          id: "first",
          src: "member",
          input: { name: "first" },
          onDone: { target: "parted", actions: assign({ ended: ({ context, event }) => [...context.ended, event.output.name] }) },
          onError: "parted",
        },
        { id: "second", src: "member", input: { name: "second" }, onDone: { actions: assign({ ended: ({ context }) => [...context.ended, "second"] }) } },
      ],
      initial: "two",
      on: {
        chain: { actions: [sendTo("first", ({ event }) => ({ type: "ping", hops: event.hops })), emit({ type: "pawl.reply", chained: true })] },
        pong: [{ guard: ({ event }) => event.hops > 0, actions: ["countPong", "passOn"] }, { actions: "countPong" }],
        tell: { actions: sendTo("first", ({ event }) => event.event) },
        later: { actions: sendTo("second", { type: "ping", hops: 1 }, { delay: ({ event }) => event.ms, id: "soon" }) },
        end: "parted",
      },
      states: {
        two: { on: { adopt: { target: "three" } } },
        three: {
          invoke: { id: "third", src: "member", input: { name: "third" }, onDone: "two" },
          on: { dismiss: { target: "two", actions: stopChild("nobody") }, tell: { actions: sendTo("third", ({ event }) => event.event) } },
        },
      },
    },
    parted: { after: { 50: "over" } },
    over: { type: "final" },
  },
});

/** Timers: set, set anew, cancelled, in a loop, and weeks away. */
export const alarm = setup({
  types: {} as {
    context: { rings: number; ms: number; beats: number };
    events: { type: "set"; ms: number } | { type: "cancel" } | { type: "ring" } | { type: "beat" };
  },
  delays: { chosen: ({ context }) => context.ms },
}).createMachine({
  id: "alarm",
  version: "1",
  context: { rings: 0, ms: 0, beats: 0 },
  type: "parallel",
  states: {
    bell: {
      initial: "off",
      states: {
        off: { on: { set: { target: "on", actions: assign({ ms: ({ event }) => event.ms }) } } },
        on: {
          after: { chosen: { target: "off", actions: assign({ rings: ({ context }) => context.rings + 1 }) } },
          on: { cancel: "off", set: { target: "on", reenter: true, actions: assign({ ms: ({ event }) => event.ms }) } },
        },
      },
    },
    heart: {
      initial: "beating",
      states: {
        beating: {
          after: {
            1000: [
              { guard: ({ context }) => context.beats >= 12, target: "still" },
              { target: "beating", reenter: true, actions: assign({ beats: ({ context }) => context.beats + 1 }) },
            ],
          },
        },
        still: { after: { 2_592_000_000: "gone" } },
        gone: { type: "final" },
      },
    },
  },
});

/** An author's own promises, one of them `once`; a new request takes the place of the one under way. */
export const fetcher = setup({
  types: {} as { context: { round: number; got: readonly number[]; poisoned: boolean }; events: { type: "again" } | { type: "poison" } | { type: "stop" } },
  actors: {
    load: fromPromise<Answer, Work>(({ input, signal }) => door.call(input.label, signal)),
    post: durable(
      fromPromise<Answer, Work>(({ input, signal }) => door.call(input.label, signal)),
      { once: true },
    ),
  },
  actions: {
    // An internal event that throws: the actor is faulted, and keeps the event.
    keep: assign({
      got: ({ context, event }) => {
        if (context.poisoned) throw new Error("poisoned");
        return [...context.got, "output" in event ? (event.output as Answer).serial : 0]; // as in saga
      },
    }),
  },
}).createMachine({
  id: "fetcher",
  version: "1",
  context: { round: 0, got: [], poisoned: false },
  initial: "loading",
  on: { poison: { actions: assign({ poisoned: true }) } },
  states: {
    loading: {
      entry: assign({ round: ({ context }) => context.round + 1 }),
      invoke: {
        id: "page",
        src: "load",
        input: ({ context, self }) => ({ label: `${self.id}/load${context.round}` }),
        onDone: { target: "posting", actions: "keep" },
        onError: "resting",
      },
      on: { again: { target: "loading", reenter: true }, stop: "stopped" },
    },
    posting: {
      invoke: {
        id: "page",
        src: "post",
        input: ({ context, self }) => ({ label: `${self.id}/post${context.round}` }),
        onDone: { target: "resting", actions: "keep" },
        onError: "resting",
      },
    },
    resting: {
      after: { 5000: [{ guard: ({ context }) => context.round < 4, target: "loading" }, { target: "stopped" }] },
      on: { again: "loading", stop: "stopped" },
    },
    stopped: { type: "final" },
  },
});

export const machines = [counter, saga, teller, member, herald, family, alarm, fetcher] as const;

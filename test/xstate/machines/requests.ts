/** Machines that ask the outside for something: with retries, polling, compensation, refresh. */
import { assign, cancel, emit, enqueueActions, log, raise, setup } from "xstate";
import { effect } from "../../../machines/define.ts";
import { awaited, does, traced, type Subject } from "./subject.ts";

const fetchWithRetry = setup({
  types: {} as {
    context: { url: string; attempt: number; body: string | null; why: string | null };
    input: { url: string };
    events: { type: "FETCH" } | { type: "CANCEL" } | { type: "RETRY" };
    output: { body: string | null; attempts: number };
    tags: "busy";
  },
  actors: { load: awaited<{ body: string }, { url: string; attempt: number }>() },
  guards: { hasTriesLeft: ({ context }, limit: number) => context.attempt < limit },
  delays: { backoff: ({ context }) => 100 * 2 ** context.attempt + 7 },
  actions: {
    keepBody: assign({ body: (_, body: string) => body }),
    keepWhy: assign({ why: (_, why: string) => why }),
    countTry: assign({ attempt: ({ context }) => context.attempt + 1 }),
  },
}).createMachine({
  id: "fetchWithRetry",
  version: "1",
  context: ({ input }) => ({ url: input.url, attempt: 0, body: null, why: null }),
  output: ({ context }) => ({ body: context.body, attempts: context.attempt }),
  initial: "idle",
  states: {
    idle: { on: { FETCH: "loading" } },
    loading: {
      tags: "busy",
      entry: "countTry",
      invoke: {
        id: "load",
        src: "load",
        input: ({ context }) => ({ url: context.url, attempt: context.attempt }),
        onDone: { target: "loaded", actions: { type: "keepBody", params: ({ event }) => event.output.body } },
        onError: [
          { guard: { type: "hasTriesLeft", params: 3 }, target: "waiting", actions: { type: "keepWhy", params: ({ event }) => messageOf(event.error) } },
          { target: "failed", actions: { type: "keepWhy", params: ({ event }) => messageOf(event.error) } },
        ],
      },
      on: { CANCEL: "idle" },
    },
    waiting: { tags: "busy", after: { backoff: "loading" }, on: { CANCEL: "idle", RETRY: "loading" } },
    failed: { on: { RETRY: { target: "loading", actions: assign({ attempt: 0 }) } } },
    loaded: { type: "final" },
  },
});

const poller = setup({
  types: {} as {
    context: { polls: number; seen: string[] };
    events: { type: "START" } | { type: "STOP" } | { type: "POLL" } | { type: "FASTER" };
    emitted: { type: "polled"; status: string };
  },
  actors: { askStatus: awaited<{ status: string }, { n: number }>() },
  actions: { keep: assign({ polls: ({ context }) => context.polls + 1, seen: ({ context }, status: string) => [...context.seen, status].slice(-4) }) },
  guards: { isReady: (_, status: string) => status === "ready" },
}).createMachine({
  id: "poller",
  version: "1",
  context: { polls: 0, seen: [] },
  initial: "off",
  states: {
    off: { on: { START: "asking" } },
    asking: {
      invoke: {
        id: "ask",
        src: "askStatus",
        input: ({ context }) => ({ n: context.polls }),
        onDone: [
          {
            guard: { type: "isReady", params: ({ event }) => event.output.status },
            target: "ready",
            actions: { type: "keep", params: ({ event }) => event.output.status },
          },
          {
            target: "pausing",
            actions: [{ type: "keep", params: ({ event }) => event.output.status }, emit(({ event }) => ({ type: "polled", status: event.output.status }))],
          },
        ],
        onError: { target: "pausing", actions: log(({ event }) => messageOf(event.error), "poll failed") },
      },
      on: { STOP: "off" },
    },
    pausing: {
      entry: raise({ type: "POLL" }, { id: "next", delay: 1501 }),
      exit: cancel("next"),
      on: { POLL: "asking", FASTER: "asking", STOP: "off" },
    },
    ready: { on: { START: "asking" } },
  },
});

const orderSaga = setup({
  types: {} as {
    context: { item: string; reserved: string | null; paid: string | null; undone: string[] };
    input: { item: string };
    events: { type: "ABORT" };
    output: { shipped: boolean; undone: string[] };
  },
  actors: {
    reserve: awaited<{ reservation: string }, { item: string }>(),
    charge: effect<{ payment: string }, { item: string }>("shop.charge", { retry: { maxAttempts: 1, initialMs: 10 } }),
    ship: awaited<{ parcel: string }, { item: string }>(),
    release: awaited<null, { reservation: string | null }>(),
  },
  actions: {
    tellBuyer: does<{ about: string }>("shop.tell"),
    noteUndone: assign({ undone: ({ context }, what: string) => [...context.undone, what] }),
  },
}).createMachine({
  id: "orderSaga",
  version: "1",
  context: ({ input }) => ({ item: input.item, reserved: null, paid: null, undone: [] }),
  output: ({ context }) => ({ shipped: context.undone.length === 0, undone: context.undone }),
  initial: "reserving",
  states: {
    reserving: {
      invoke: {
        id: "reserve",
        src: "reserve",
        input: ({ context }) => ({ item: context.item }),
        onDone: { target: "charging", actions: assign({ reserved: ({ event }) => event.output.reservation }) },
        onError: { target: "over", actions: { type: "tellBuyer", params: { about: "sold out" } } },
      },
    },
    charging: {
      invoke: {
        id: "charge",
        src: "charge",
        input: ({ context }) => ({ item: context.item }),
        onDone: { target: "shipping", actions: [assign({ paid: ({ event }) => event.output.payment }), { type: "tellBuyer", params: { about: "paid" } }] },
        onError: { target: "undoing", actions: { type: "noteUndone", params: "charge" } },
      },
      on: { ABORT: { target: "undoing", actions: { type: "noteUndone", params: "asked" } } },
    },
    shipping: {
      invoke: {
        id: "ship",
        src: "ship",
        input: ({ context }) => ({ item: context.item }),
        onDone: "over",
        onError: { target: "undoing", actions: { type: "noteUndone", params: "ship" } },
      },
      on: { ABORT: { target: "undoing", actions: { type: "noteUndone", params: "asked" } } },
    },
    undoing: {
      entry: { type: "tellBuyer", params: ({ context }) => ({ about: `undo ${context.undone.length}` }) },
      invoke: {
        id: "release",
        src: "release",
        input: ({ context }) => ({ reservation: context.reserved }),
        onDone: "over",
        onError: { target: "undoing", reenter: true },
      },
    },
    over: { type: "final" },
  },
});

const authSession = setup({
  types: {} as {
    context: { user: string | null; token: number; refreshes: number };
    events: { type: "LOGIN"; user: string } | { type: "LOGOUT" } | { type: "TOUCH" } | { type: "session.refresh" };
    emitted: { type: "signedIn" | "signedOut"; user: string | null };
    tags: "private";
  },
  actors: { logIn: awaited<{ token: number }, { user: string | null }>(), refresh: awaited<{ token: number }, { token: number }>() },
  delays: { idleTime: 900_001, refreshTime: ({ context }) => 240_000 + context.refreshes * 11 },
  actions: {
    signOut: assign({ user: null, token: 0, refreshes: 0 }),
    beep: traced("beep"),
  },
}).createMachine({
  id: "authSession",
  version: "1",
  context: { user: null, token: 0, refreshes: 0 },
  initial: "out",
  states: {
    out: {
      entry: emit({ type: "signedOut", user: null }),
      on: { LOGIN: { target: "entering", actions: assign({ user: ({ event }) => event.user }) } },
    },
    entering: {
      invoke: {
        id: "logIn",
        src: "logIn",
        input: ({ context }) => ({ user: context.user }),
        onDone: { target: "in", actions: assign({ token: ({ event }) => event.output.token }) },
        onError: { target: "out", actions: "signOut" },
      },
    },
    in: {
      tags: "private",
      entry: emit(({ context }) => ({ type: "signedIn", user: context.user })),
      exit: "signOut",
      initial: "fresh",
      on: { LOGOUT: "out", "session.*": { actions: "beep" } },
      states: {
        fresh: {
          entry: raise({ type: "session.refresh" }, { id: "refresh", delay: "refreshTime" }),
          exit: cancel("refresh"),
          after: { idleTime: "#authSession.out" },
          on: { TOUCH: { target: "fresh", reenter: true }, "session.refresh": "renewing" },
        },
        renewing: {
          invoke: {
            id: "refresh",
            src: "refresh",
            input: ({ context }) => ({ token: context.token }),
            onDone: { target: "fresh", actions: assign({ token: ({ event }) => event.output.token, refreshes: ({ context }) => context.refreshes + 1 }) },
            onError: "#authSession.out",
          },
        },
      },
    },
  },
});

const debouncedSearch = setup({
  types: {} as { context: { query: string; hits: number | null; asked: number }; events: { type: "TYPE"; text: string } | { type: "GO" } | { type: "CLEAR" } },
  actors: { search: awaited<{ hits: number }, { query: string }>() },
}).createMachine({
  id: "debouncedSearch",
  version: "1",
  context: { query: "", hits: null, asked: 0 },
  initial: "idle",
  on: {
    TYPE: {
      actions: enqueueActions(({ enqueue, event }) => {
        enqueue.assign({ query: event.text });
        enqueue.cancel("go");
        enqueue.raise({ type: "GO" }, { id: "go", delay: 303 });
      }),
    },
    CLEAR: { target: ".idle", actions: [cancel("go"), assign({ query: "", hits: null })] },
    GO: ".searching",
  },
  states: {
    idle: {},
    searching: {
      entry: assign({ asked: ({ context }) => context.asked + 1 }),
      invoke: {
        id: "search",
        src: "search",
        input: ({ context }) => ({ query: context.query }),
        onDone: { target: "idle", actions: assign({ hits: ({ event }) => event.output.hits }) },
        onError: "idle",
      },
    },
  },
});

const subscription = setup({
  types: {} as {
    context: { paidMonths: number; failures: number };
    events: { type: "PAUSE" } | { type: "RESUME" } | { type: "END" };
    output: { months: number };
  },
  actors: { bill: effect<{ invoice: number }, { month: number }>("billing.bill") },
  delays: { month: 30 * 86_400_000 + 1, grace: ({ context }) => 86_400_000 * (4 - context.failures) + 3 },
  guards: { isLast: ({ context }) => context.failures >= 2 },
}).createMachine({
  id: "subscription",
  version: "1",
  context: { paidMonths: 0, failures: 0 },
  output: ({ context }) => ({ months: context.paidMonths }),
  initial: "running",
  on: { END: ".ended" },
  states: {
    running: {
      initial: "waiting",
      on: { PAUSE: "paused" },
      states: {
        waiting: { after: { month: "billing" } },
        billing: {
          invoke: {
            id: "bill",
            src: "bill",
            input: ({ context }) => ({ month: context.paidMonths + 1 }),
            onDone: { target: "waiting", actions: assign({ paidMonths: ({ context }) => context.paidMonths + 1, failures: 0 }) },
            onError: [
              { guard: "isLast", target: "#subscription.ended" },
              { target: "dunning", actions: assign({ failures: ({ context }) => context.failures + 1 }) },
            ],
          },
        },
        dunning: { after: { grace: "billing" } },
        hist: { type: "history" },
      },
    },
    paused: { on: { RESUME: "running.hist" } },
    ended: { type: "final" },
  },
});

function messageOf(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}

export const requests: readonly Subject[] = [
  {
    machine: fetchWithRetry,
    input: { url: "https://example.org/a" },
    events: { fetchWithRetry: [{ type: "FETCH" }, { type: "FETCH" }, { type: "CANCEL" }, { type: "RETRY" }] },
    outcomes: { load: [{ output: { body: "text" } }, { error: "offline" }, { error: "busy" }, { error: "busy" }] },
  },
  {
    machine: poller,
    events: { poller: [{ type: "START" }, { type: "STOP" }, { type: "FASTER" }] },
    outcomes: { askStatus: [{ output: { status: "wait" } }, { output: { status: "ready" } }, { error: "unreachable" }] },
  },
  {
    machine: orderSaga,
    input: { item: "lamp" },
    events: { orderSaga: [{ type: "ABORT" }] },
    outcomes: {
      reserve: [{ output: { reservation: "r1" } }, { output: { reservation: "r1" } }, { error: "sold out" }],
      "shop.charge": [{ output: { payment: "p1" } }, { error: "declined" }],
      ship: [{ output: { parcel: "x" } }, { error: "lost" }],
      release: [{ output: null }, { error: "not yet" }],
    },
  },
  {
    machine: authSession,
    events: {
      authSession: [
        { type: "LOGIN", user: "ann" },
        { type: "LOGIN", user: "bob" },
        { type: "LOGOUT" },
        { type: "TOUCH" },
        { type: "session.refresh" },
        { type: "session.other" },
      ],
    },
    outcomes: {
      logIn: [{ output: { token: 1 } }, { output: { token: 2 } }, { error: "wrong password" }],
      refresh: [{ output: { token: 3 } }, { error: "revoked" }],
    },
  },
  {
    machine: debouncedSearch,
    events: { debouncedSearch: [{ type: "TYPE", text: "a" }, { type: "TYPE", text: "ab" }, { type: "TYPE", text: "abc" }, { type: "CLEAR" }] },
    outcomes: { search: [{ output: { hits: 3 } }, { output: { hits: 0 } }, { error: "down" }] },
  },
  {
    machine: subscription,
    events: { subscription: [{ type: "PAUSE" }, { type: "RESUME" }, { type: "RESUME" }, { type: "PAUSE" }, { type: "END" }] },
    outcomes: { "billing.bill": [{ output: { invoice: 1 } }, { output: { invoice: 2 } }, { error: "declined" }] },
  },
];

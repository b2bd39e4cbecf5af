/** Faults planted into the real parts, to see that the rules find them: each replaces one thing that keeps a promise. */
import Database from "better-sqlite3";
import { selectGeneration } from "../../persistence/fence.ts";
import type { Commit, CommitResult, RowWrite, Store } from "../../persistence/store.ts";
import { StateCache } from "../../src/runtime/cache.ts";
import { Cascade } from "../../src/runtime/cascade.ts";
import { Dispatcher } from "../../src/runtime/dispatch.ts";
import { Draft } from "../../src/runtime/draft.ts";
import { EffectRunner } from "../../src/runtime/effects.ts";
import { TimerService } from "../../src/runtime/timers.ts";
import { assign, StateMachine } from "xstate";
import { runMachine } from "../../machines/runMachine.ts";
import { HostLink } from "../../src/client/link.ts";
import { HostServer } from "../../src/host/daemon/server.ts";
import { runDefinition } from "../../src/host/runDefinition.ts";
import { SessionQueue } from "../../src/host/sessionQueue.ts";

export interface Planted {
  readonly what: string;
  /** Where it shows; author machines unless set. */
  readonly among?: "hosts" | "clients";
  /** Rules that may find it: which one sees it first depends on the seed. */
  readonly foundBy: readonly string[];
  /** Replaces methods; returns what puts them back. */
  readonly sabotage?: () => () => void;
  /** Stands between the runtime and its store. */
  readonly store?: (store: Store) => Store;
}

type Method = (this: Record<string, unknown>, ...args: unknown[]) => unknown;

/** Replaces a method, private ones too: that is the point. */
function plant(of: { readonly prototype: object }, name: string, make: (original: Method) => Method): () => () => void {
  return () => {
    const holder = of.prototype;
    const original = Reflect.get(holder, name) as Method; // the tests fail when there is no such method
    if (typeof original !== "function") throw new TypeError(`there is no method ${name} to replace`);
    Reflect.set(holder, name, make(original));
    return () => void Reflect.set(holder, name, original);
  };
}

/** Replaces a function of an object that there is one of. */
const replace =
  (holder: object, name: string, make: (original: unknown) => unknown): (() => () => void) =>
  () => {
    const original: unknown = Reflect.get(holder, name);
    if (original === undefined) throw new TypeError(`there is no ${name} to replace`);
    Reflect.set(holder, name, make(original));
    return () => void Reflect.set(holder, name, original);
  };

/** Changes every commit before it is written. */
const commits = (change: (commit: Commit) => Commit): (() => () => void) =>
  plant(
    Draft,
    "toCommit",
    (original) =>
      function () {
        return change(original.call(this) as Commit); // what Draft gives
      },
  );

/** Changes what an effect runner was given, once. */
const runnerOptions = (name: string, change: (original: (...args: never[]) => Promise<unknown>) => unknown): (() => () => void) =>
  plant(EffectRunner, "launch", (original) => {
    const changed = new WeakSet();
    return function (...args) {
      if (!changed.has(this)) {
        changed.add(this);
        const options = this["options"] as { [name: string]: (...args: never[]) => Promise<unknown> }; // EffectRunnerOptions, by name
        this["options"] = { ...options, [name]: change(options[name] ?? (() => Promise.reject(new TypeError(`there is no ${name}`)))) };
      }
      return original.apply(this, args);
    };
  });

/** What an attempt whose process was lost is taken for. */
const interruption = (taken: (event: { readonly attempt: number }) => object): (() => () => void) =>
  runnerOptions(
    "settle",
    (settle) => (key: never, settlement: { readonly event: { readonly type: string; readonly attempt: number } }) =>
      settle(key, (settlement.event.type === "effect.interrupted" ? { ...settlement, event: taken(settlement.event) } : settlement) as never),
  );

const overriding =
  (change: (store: Store) => Partial<Store>) =>
  (store: Store): Store => {
    const own = change(store);
    return new Proxy(store, { get: (target, name) => Reflect.get(own, name) ?? Reflect.get(target, name) });
  };

const made = (commit: Commit): CommitResult => ({ status: "committed", seqs: commit.journal.map(() => 0) });

/** Puts every commit off until the next one comes. */
function putOff(store: Store): Partial<Store> {
  let waiting: readonly Commit[] = [];
  return {
    commit: async (group) => {
      const before = waiting;
      waiting = group;
      if (before.length > 0) await store.commit(before);
      return group.map(made);
    },
  };
}

export const planted: readonly Planted[] = [
  {
    what: "a result is accepted whatever attempt it is of",
    foundBy: ["SIM-3", "SIM-13"],
    sabotage: runnerOptions("settle", (settle) => async (key: never, settlement: { event: { attempt?: number } }) => {
      for (let attempt = 5; attempt > 0; attempt -= 1) {
        const after = await settle(key, { ...settlement, event: { ...settlement.event, attempt } } as never);
        if (after !== null) return after;
      }
      return null;
    }),
  },
  {
    what: "a timer that was left or fired is not cleared with the step",
    foundBy: ["SIM-8"],
    sabotage: commits((commit) => ({ ...commit, timers: commit.timers.filter(({ op }) => op === "set") })),
  },
  {
    what: "the id of an ignored event is not kept",
    foundBy: ["SIM-2"],
    sabotage: commits((commit) => ({ ...commit, inbox: commit.inbox.filter(({ receipt }) => !receipt.includes('"ignored"')) })),
  },
  {
    what: "the id of an applied event is not kept",
    foundBy: ["SIM-2", "SIM-12"],
    sabotage: commits((commit) => ({ ...commit, inbox: commit.inbox.filter(({ receipt }) => !receipt.includes('"applied"')) })),
  },
  {
    what: "a once effect is called before its beginning is saved",
    foundBy: ["SIM-4"],
    sabotage: runnerOptions("begin", () => async (record: unknown) => record),
  },
  {
    what: "a once effect whose process was lost is simply run again",
    foundBy: ["SIM-3", "SIM-4"],
    sabotage: plant(
      EffectRunner,
      "recover",
      () =>
        function (record) {
          const again = { ...(record as object), once: false, notBefore: null };
          return (this["launch"] as Method).call(this, {
            record,
            isFresh: false,
            work: (aborts: unknown) => (this["attempt"] as Method).call(this, again, aborts),
          }); // the runner's own private way
        },
    ),
  },
  {
    what: "an attempt that an earlier process left open is made again under the same number",
    foundBy: ["SIM-3", "SIM-13"],
    sabotage: plant(
      EffectRunner,
      "recover",
      () =>
        function (record) {
          return (this["start"] as Method).call(this, record); // as above
        },
    ),
  },
  {
    what: "one of a group is answered and not written",
    foundBy: ["SIM-1", "SIM-7"],
    store: overriding((store) => ({
      commit: async (group) => {
        const last = group.at(-1);
        if (group.length < 2 || last === undefined) return store.commit(group);
        return [...(await store.commit(group.slice(0, -1))), made(last)];
      },
    })),
  },
  {
    what: "senders are answered before the commit is durable",
    foundBy: ["SIM-1", "SIM-7", "SIM-2", "SIM-14", "SIM-13"],
    store: overriding(putOff),
  },
  {
    what: "timers and effects are written in a commit of their own",
    foundBy: ["SIM-3", "SIM-7", "SIM-8"],
    store: overriding((store) => ({
      commit: async (group) => {
        const results = await store.commit(group.map((commit) => ({ ...commit, timers: [], effects: [] })));
        await store.commit(group.map((commit) => ({ ...commit, expects: {}, actors: [], journal: [], requiresTimers: [], inbox: [], rows: [], blobs: [] })));
        return results;
      },
    })),
  },
  {
    what: "what a refused commit was computed from is used on",
    foundBy: ["SIM-1", "SIM-3", "SIM-7", "SIM-8", "SIM-12", "SIM-13", "SIM-14"],
    sabotage: () => {
      const undo = [
        plant(StateCache, "clear", () => () => undefined)(),
        plant(
          Draft,
          "mergeInto",
          (original) =>
            function (layer) {
              (this["reads"] as { take(draft: unknown): void }).take(this); // the cache
              return original.call(this, layer);
            },
        )(),
      ];
      return () => undo.forEach((back) => back());
    },
  },
  {
    what: "what a dispatch had written before its machine threw is seen by its neighbours",
    foundBy: ["SIM-1", "SIM-6", "SIM-7", "SIM-13", "SIM-14"],
    sabotage: plant(
      Draft,
      "abandon",
      (original) =>
        function () {
          original.call(this);
          (this["mergeInto"] as Method).call(this, this["overlay"]); // the group's
        },
    ),
  },
  {
    what: "an event counts at the time that the clock shows, set back or not",
    foundBy: ["SIM-6"],
    sabotage: plant(
      Dispatcher,
      "submit",
      (original) =>
        function (dispatch) {
          return original.call(this, { ...(dispatch as object), at: Date.now() });
        },
    ),
  },
  {
    what: "the events of a long cascade get lost",
    foundBy: ["SIM-7"],
    sabotage: plant(
      Cascade,
      "hand",
      (original) =>
        function (delivery) {
          return Number(this["deliveries"]) > 5 ? Promise.resolve() : original.call(this, delivery);
        },
    ),
  },
  {
    what: "an actor that was stopped takes events",
    foundBy: ["SIM-7", "SIM-9", "SIM-12"],
    sabotage: plant(
      Draft,
      "actor",
      (original) =>
        async function (id) {
          const held = (await original.call(this, id)) as { record: { status: string } } | null; // what a draft reads
          return held?.record.status === "stopped" ? { ...held, record: { ...held.record, status: "active" } } : held;
        },
    ),
  },
  {
    what: "leaving a state does not drop the effect that it invoked",
    foundBy: ["SIM-7", "SIM-3"],
    sabotage: plant(
      Cascade,
      "stop",
      (original) =>
        function (link) {
          return original.call(this, { ...(link as object), effect: undefined });
        },
    ),
  },
  {
    what: "timers fire a second early",
    foundBy: ["SIM-8"],
    store: overriding((store) => ({ due: (until, limit) => store.due(until + 1000, limit) })),
  },
  {
    what: "opening forgets the timers",
    foundBy: ["SIM-13"],
    sabotage: plant(TimerService, "start", () => async () => undefined),
  },
  {
    what: "a snapshot is written one step late",
    foundBy: ["SIM-7"],
    sabotage: (() => {
      const before = new Map<string, string>();
      return commits((commit) => ({
        ...commit,
        actors: commit.actors.map((actor) => {
          const stale = before.get(actor.id) ?? actor.snapshot;
          before.set(actor.id, actor.snapshot);
          return { ...actor, snapshot: stale };
        }),
      }));
    })(),
  },
  {
    what: "a step is not journalled when it changes no state value",
    foundBy: ["SIM-1", "SIM-6", "SIM-7"],
    sabotage: commits((commit) => ({ ...commit, journal: commit.journal.filter(({ type }) => type !== "pong") })),
  },
  {
    what: "a failed attempt is never made again",
    foundBy: ["SIM-13"],
    sabotage: plant(
      EffectRunner,
      "start",
      (original) =>
        function (record) {
          return (record as { attempt: number }).attempt === 2 ? undefined : original.call(this, record); // an effect's row
        },
    ),
  },
  {
    what: "index rows are written only for the actor that an event was sent to",
    among: "hosts",
    foundBy: ["SIM-11"],
    sabotage: commits((commit) => (commit.actors.length > 1 ? { ...commit, rows: [] } : commit)),
  },
  {
    what: "a decision that was settled is judged as if it were open",
    among: "hosts",
    foundBy: ["SIM-5", "SIM-7", "SIM-9", "SIM-14"],
    sabotage: () => {
      const first = new Map<string, string>();
      return plant(
        Draft,
        "actor",
        (original) =>
          async function (id) {
            const held = (await original.call(this, id)) as { record: { snapshot: string } } | null; // what a draft reads
            if (held === null || !String(id).endsWith("/decision")) return held;
            const snapshot = first.get(String(id)) ?? held.record.snapshot;
            first.set(String(id), snapshot);
            return { record: { ...held.record, status: "active", snapshot }, hydrated: null };
          },
      )();
    },
  },
  {
    what: "a host does once more what a client asks again",
    among: "clients",
    foundBy: ["SIM-24"],
    sabotage: () => {
      let asked = 0;
      // Ledger and runtime both know a request by its id.
      return plant(
        HostServer,
        "perform",
        (original) =>
          function (request, asking) {
            asked += 1;
            return original.call(this, request, { ...(asking as object), id: `once ${asked}` }); // Asking, as perform is given it
          },
      )();
    },
  },
  {
    what: "a client that lost its connection does not ask again",
    among: "clients",
    foundBy: ["SIM-13"],
    sabotage: plant(HostLink, "reunite", () => () => undefined),
  },
  {
    what: "a pause is answered before it is stored",
    among: "clients",
    foundBy: ["SIM-19", "SIM-24"],
    sabotage: plant(
      HostServer,
      "perform",
      (original) =>
        function (request, asking) {
          const { kind, body } = request as { readonly kind: string; readonly body: object }; // HostRequest
          const done = original.call(this, request, asking) as Promise<unknown>; // what perform gives
          if (kind !== "pause") return done;
          done.catch(() => undefined);
          return original.call(this, { kind: "run", body }, asking);
        },
    ),
  },
  {
    what: "a process whose directory was taken over does not see it",
    among: "hosts",
    foundBy: ["SIM-25"],
    sabotage: plant(
      Database,
      "prepare",
      (original) =>
        function (sql) {
          const statement = original.call(this, sql) as { get: () => unknown }; // of better-sqlite3
          if (sql !== selectGeneration) return statement;
          const first = statement.get();
          return { get: () => first };
        },
    ),
  },
  {
    what: "a lost worker's attempt is made again as if it had been left in time",
    among: "hosts",
    foundBy: ["SIM-23"],
    sabotage: interruption(({ attempt }) => ({ type: "effect.released", attempt })),
  },
  {
    what: "a once effect whose worker was lost counts as not made",
    among: "hosts",
    foundBy: ["SIM-4", "SIM-13", "SIM-23"],
    sabotage: interruption(({ attempt }) => ({ type: "effect.observed", attempt, happened: false })),
  },
  {
    what: "a step may lose its worker for ever",
    among: "hosts",
    foundBy: ["SIM-23"],
    sabotage: commits((commit) => ({
      ...commit,
      effects: commit.effects.map((write) => ({
        ...write,
        record: { ...write.record, policy: write.record.policy.replace(/"maxInterrupted":\d+/, '"maxInterrupted":null') },
      })),
    })),
  },
  {
    what: "a paused run's graph is not told to stop",
    among: "hosts",
    foundBy: ["SIM-19"],
    sabotage: replace(runMachine.implementations.actions, "stopGraph", () => () => undefined),
  },
  {
    what: "a run that comes to wait for people forgets that it is paused",
    among: "hosts",
    foundBy: ["SIM-19"],
    sabotage: replace(runMachine.implementations.actions, "standAt", (standAt) => {
      const { assignment } = standAt as { assignment: (...args: unknown[]) => object }; // what XState's assign gives
      return assign((...args) => ({ ...assignment(...args), pausedAt: null }));
    }),
  },
  {
    what: "nothing keeps a session from having two runs",
    among: "hosts",
    foundBy: ["SIM-20"],
    sabotage: replace(runDefinition, "project", (project) => (view: unknown) => {
      const writes = (project as (view: unknown) => readonly RowWrite[])(view); // Definition's own type
      return writes.map((write) => (write.table === "runs" ? { ...write, row: { ...write.row, reserves: false } } : write));
    }),
  },
  {
    what: "a resumed graph has forgotten which nodes it visited",
    among: "hosts",
    foundBy: ["SIM-21"],
    sabotage: plant(
      StateMachine,
      "transition",
      (original) =>
        function (snapshot, event, ...more) {
          const after = original.call(this, snapshot, event, ...more) as { context: object }; // a snapshot
          if (this["id"] === "pawl.graph" && (event as { type: string }).type === "graph.resume") after.context = { ...after.context, visits: {} }; // an event
          return after;
        },
    ),
  },
  {
    what: "a session that is free again is offered to nobody",
    among: "hosts",
    foundBy: ["SIM-22"],
    sabotage: plant(SessionQueue, "offer", () => async () => undefined),
  },
  {
    what: "a cancelled run's steps are not stopped",
    among: "hosts",
    foundBy: ["SIM-7", "SIM-13"],
    sabotage: plant(Cascade, "stopActor", () => async () => undefined),
  },
];

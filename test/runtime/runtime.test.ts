import { assign, emit, fromPromise, sendParent, sendTo, setup } from "xstate";
import { describe, expect, test } from "vitest";
import { NotApplied, RetryableError, durable, effect } from "../../machines/define.ts";
import { memoryStore, type Commit, type CommitResult, type Store } from "../../persistence/index.ts";
import { isPawlError } from "../../src/errors.ts";
import { world } from "./kit.ts";

const counter = setup({
  types: {} as { context: { n: number }; events: { type: "add"; by: number } | { type: "boom" } | { type: "stop" } },
  actions: {},
}).createMachine({
  id: "counter",
  version: "1",
  context: { n: 0 },
  initial: "on",
  states: {
    on: {
      on: {
        add: { actions: [assign({ n: ({ context, event }) => context.n + event.by }), emit(({ context }) => ({ type: "pawl.reply", n: context.n }))] },
        boom: {
          actions: assign(() => {
            throw new Error("no");
          }),
        },
        stop: "off",
      },
    },
    off: { type: "final" },
  },
});

describe("events from outside", () => {
  test("RT-1 an accepted event raises the revision, is journalled and answers what the machine replied", async () => {
    const { runtime, store } = await world([counter]);
    await runtime.start("counter", { id: "c", input: undefined });
    expect(await runtime.send("c", { type: "add", by: 3 })).toEqual({ status: "applied", actor: "c", revision: 2, reply: { n: 3 } });
    const journal = await store.journal("c", 0, 10);
    expect(journal.map((row) => [row.revision, row.type, row.payload])).toEqual([
      [1, "xstate.init", null],
      [2, "add", { json: '{"by":3}' }],
    ]);
    expect((await runtime.view("c"))?.context).toEqual({ n: 3 });
  });

  test("RT-2 a repeated event id gets the first answer and changes nothing; with other content it is refused", async () => {
    const { runtime } = await world([counter]);
    await runtime.start("counter", { id: "c", input: undefined });
    const [first, second] = await Promise.all([
      runtime.send("c", { type: "add", by: 1 }, { eventId: "e1" }),
      runtime.send("c", { type: "add", by: 1 }, { eventId: "e1" }),
    ]);
    expect(first.status).toBe("applied");
    expect(second).toEqual({ ...first, status: "duplicate" });
    expect((await runtime.send("c", { type: "add", by: 2 }, { eventId: "e1" })).code).toBe("keyReused");
    expect((await runtime.view("c"))?.context).toEqual({ n: 1 });
  });

  test("RT-3 the id of an event that was ignored is kept: a redelivery cannot land in a later state", async () => {
    const { runtime } = await world([counter]);
    await runtime.start("counter", { id: "c", input: undefined });
    expect((await runtime.send("c", { type: "nothing" }, { eventId: "e1" })).status).toBe("ignored");
    await runtime.send("c", { type: "add", by: 1 });
    expect((await runtime.send("c", { type: "nothing" }, { eventId: "e1" })).status).toBe("duplicate");
  });

  test("RT-4 an event whose assign throws is refused and nothing of it is stored; its group neighbours stand", async () => {
    const { runtime, store } = await world([counter]);
    await runtime.start("counter", { id: "c", input: undefined });
    const answers = await Promise.allSettled([
      runtime.send("c", { type: "add", by: 1 }),
      runtime.send("c", { type: "boom" }),
      runtime.send("c", { type: "add", by: 1 }),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await store.journal("c", 0, 10)).map((row) => row.type)).toEqual(["xstate.init", "add", "add"]);
  });

  test.each([
    ["stale", { type: "add", by: 1 }, { expectedRevision: 1 }],
    ["finished", { type: "add", by: 1 }, {}],
    ["ignored", { type: "stop" }, {}],
  ] as const)("RT-24 what an event is told rests on no neighbour that was not written: %s", async (_what, event, options) => {
    const refusing = memoryStore();
    // As the database does with a rule of its rows.
    const store: Store = Object.assign(Object.create(refusing) as Store, {
      commit: async (group: readonly Commit[]) => {
        const written = [...(await refusing.commit(group.filter(({ eventId }) => eventId !== "e_end")))];
        const refusal: CommitResult = { status: "constraint", rule: "a_rule", message: "no" };
        return group.map(({ eventId }) => (eventId === "e_end" ? refusal : (written.shift() ?? refusal)));
      },
    });
    const { runtime } = await world([counter], {}, { store });
    await runtime.start("counter", { id: "c", input: undefined });
    const [end, after] = await Promise.allSettled([
      runtime.send("c", { type: "stop" }, { eventId: "e_end" }),
      runtime.send("c", event, { eventId: "e_after", ...options }),
    ]);
    expect(end).toMatchObject({ status: "rejected", reason: { code: "refused" } });
    expect(after).toMatchObject({ status: "fulfilled", value: { status: "applied", revision: 2 } });
    expect(await runtime.send("c", event, { eventId: "e_after", ...options })).toMatchObject({ status: "duplicate", revision: 2 });
  });

  test("RT-5 a finished actor takes nothing more, though its machine would", async () => {
    const { runtime } = await world([counter]);
    await runtime.start("counter", { id: "c", input: undefined });
    await runtime.send("c", { type: "stop" });
    expect(await runtime.send("c", { type: "add", by: 1 })).toMatchObject({ status: "refused", code: "done", revision: 2 });
  });

  test("RT-6 a value that JSON would change is refused with its path", async () => {
    const { runtime } = await world([counter]);
    await runtime.start("counter", { id: "c", input: undefined });
    const error = await runtime.send("c", { type: "add", by: Number.NaN }).catch((thrown: unknown) => thrown);
    expect(isPawlError(error) && [error.code, error.path]).toEqual(["invalidValue", "by"]);
  });

  test("RT-7 an expected revision that is old is refused as stale", async () => {
    const { runtime } = await world([counter]);
    await runtime.start("counter", { id: "c", input: undefined });
    await runtime.send("c", { type: "add", by: 1 });
    expect((await runtime.send("c", { type: "add", by: 1 }, { expectedRevision: 1 })).code).toBe("stale");
  });

  test("RT-8 starting an id again with the same event id is a duplicate, with another input it is refused", async () => {
    const { runtime } = await world([counter]);
    expect((await runtime.start("counter", { id: "c", input: { a: 1 }, eventId: "s" })).status).toBe("applied");
    expect((await runtime.start("counter", { id: "c", input: { a: 1 }, eventId: "s" })).status).toBe("duplicate");
    expect((await runtime.start("counter", { id: "c", input: { a: 2 }, eventId: "s" })).code).toBe("keyReused");
  });
});

const child = setup({
  types: {} as { context: { name: string }; input: { name: string }; events: { type: "ping" } | { type: "end" }; output: { name: string } },
}).createMachine({
  id: "child",
  version: "1",
  context: ({ input }) => ({ name: input.name }),
  initial: "on",
  states: { on: { on: { ping: { actions: sendParent(({ context }) => ({ type: "pong", from: context.name })) }, end: "off" } }, off: { type: "final" } },
  output: ({ context }) => ({ name: context.name }),
});

const parent = setup({
  types: {} as { context: { heard: string[]; done: string | null }; events: { type: "ask" } | { type: "pong"; from: string } | { type: "leave" } },
  actors: { child },
}).createMachine({
  id: "parent",
  version: "1",
  context: { heard: [], done: null },
  initial: "with",
  states: {
    with: {
      invoke: { id: "kid", src: "child", input: { name: "ann" }, onDone: { target: "after", actions: assign({ done: ({ event }) => event.output.name }) } },
      on: {
        ask: { actions: sendTo("kid", { type: "ping" }) },
        pong: { actions: assign({ heard: ({ context, event }) => [...context.heard, event.from] }) },
        leave: "gone",
      },
    },
    after: {},
    gone: {},
  },
});

describe("children", () => {
  test("RT-9 a child machine is an actor of its own; events down and up are one commit", async () => {
    const { runtime, store } = await world([parent, child]);
    await runtime.start("parent", { id: "p", input: undefined });
    const before = (await store.journal("p", 0, 99)).length;
    await runtime.send("p", { type: "ask" });
    expect((await store.journal("p", 0, 99)).length).toBe(before + 2);
    expect((await runtime.view("p"))?.context).toEqual({ heard: ["ann"], done: null });
    const rows = [...(await store.journal("p", 2, 9)), ...(await store.journal("p/kid", 2, 9))].sort((a, b) => a.seq - b.seq);
    expect(rows.map((row) => [row.actor, row.type])).toEqual([
      ["p", "ask"],
      ["p/kid", "ping"],
      ["p", "pong"],
    ]);
    expect(rows[2]?.causeSeq).toBe(rows[1]?.seq);
  });

  test("RT-10 a child's end reaches its parent with its output", async () => {
    const { runtime } = await world([parent, child]);
    await runtime.start("parent", { id: "p", input: undefined });
    await runtime.send("p/kid", { type: "end" });
    expect(await runtime.view("p")).toMatchObject({ value: "after", context: { done: "ann" } });
  });

  test("RT-11 leaving the state stops the child", async () => {
    const { runtime } = await world([parent, child]);
    await runtime.start("parent", { id: "p", input: undefined });
    await runtime.send("p", { type: "leave" });
    expect((await runtime.view("p/kid"))?.record.status).toBe("stopped");
    expect((await runtime.send("p/kid", { type: "ping" })).code).toBe("stopped");
  });

  test("RT-12 actors that send to each other for ever are refused at 1,000 steps with nothing stored", async () => {
    const echo = setup({ types: {} as { events: { type: "pong"; from: string } | { type: "go" } }, actors: { child } }).createMachine({
      id: "echo",
      version: "1",
      invoke: { id: "kid", src: "child", input: { name: "x" } },
      on: { go: { actions: sendTo("kid", { type: "ping" }) }, pong: { actions: sendTo("kid", { type: "ping" }) } },
    });
    const { runtime, store } = await world([echo, child]);
    await runtime.start("echo", { id: "e", input: undefined });
    const error = await runtime.send("e", { type: "go" }).catch((thrown: unknown) => thrown);
    expect(isPawlError(error) && error.code).toBe("cascadeLimit");
    expect((await store.journal("e", 0, 10)).length).toBe(1);
  });
});

const waiting = setup({
  delays: { later: ({ context }: { context: { ms: number } }) => context.ms },
  types: {} as { context: { ms: number }; input: { ms: number }; events: { type: "cancel" } },
}).createMachine({
  id: "waiting",
  version: "1",
  context: ({ input }) => ({ ms: input.ms }),
  initial: "wait",
  states: { wait: { after: { later: "done" }, on: { cancel: "cancelled" } }, cancelled: {}, done: { type: "final" } },
});

describe("timers", () => {
  test("RT-13 case 98 a delay fires at its time, near 24.8 days, at 30 days and at a year", async () => {
    for (const ms of [60_000, 2 ** 31 - 1000, 2 ** 31 + 1000, 30 * 86_400_000, 365 * 86_400_000]) {
      const { runtime, clock } = await world([waiting]);
      await runtime.start("waiting", { id: "w", input: { ms } });
      clock.advance(ms - 1);
      await runtime.settled();
      expect((await runtime.view("w"))?.value, String(ms)).toBe("wait");
      clock.advance(1);
      await settledTimers(runtime);
      expect((await runtime.view("w"))?.value, String(ms)).toBe("done");
    }
  });

  test("RT-14 leaving the state clears the timer", async () => {
    const { runtime, clock, store } = await world([waiting]);
    await runtime.start("waiting", { id: "w", input: { ms: 1000 } });
    await runtime.send("w", { type: "cancel" });
    expect(await store.nextDue()).toBeNull();
    clock.advance(5000);
    await settledTimers(runtime);
    expect((await runtime.view("w"))?.value).toBe("cancelled");
  });

  test("case 49 a timer persisted at 10 s fires at 50 s more, and at once when restored late", async () => {
    for (const [restoredAt, expected] of [
      [30_000, "wait"],
      [70_000, "done"],
    ] as const) {
      const first = await world([waiting]);
      await first.runtime.start("waiting", { id: "w", input: { ms: 60_000 } });
      first.clock.advance(10_000);
      await first.runtime.close();
      first.clock.set(first.clock.now() - 10_000 + restoredAt);
      const second = await world([waiting], {}, { store: first.store, clock: first.clock });
      await second.runtime.recover();
      await settledTimers(second.runtime);
      expect((await second.runtime.view("w"))?.value).toBe(expected);
      if (expected === "done") continue;
      second.clock.advance(29_999);
      await settledTimers(second.runtime);
      expect((await second.runtime.view("w"))?.value).toBe("wait");
      second.clock.advance(1);
      await settledTimers(second.runtime);
      expect((await second.runtime.view("w"))?.value).toBe("done");
    }
  });

  test("RT-15 a clock set back moves nothing and delays nothing that was due by the committed time", async () => {
    const { runtime, clock } = await world([waiting, counter]);
    await runtime.start("waiting", { id: "w", input: { ms: 1000 } });
    clock.advance(999);
    await runtime.start("counter", { id: "c", input: undefined });
    clock.set(clock.now() - 3_600_000);
    await runtime.send("c", { type: "add", by: 1 });
    const view = await runtime.view("c");
    expect(view?.record.updatedAt).toBe(view?.record.createdAt);
    expect((await runtime.view("w"))?.value).toBe("wait");
  });

  test("RT-16 ten thousand timers arm one call of the clock", async () => {
    const { runtime, clock } = await world([waiting]);
    await Promise.all(Array.from({ length: 10_000 }, (_, i) => runtime.start("waiting", { id: `w${i}`, input: { ms: 1_000_000 + i } })));
    expect(clock.pending()).toBe(1);
  });
});

/** Timers are fired by a call of the clock: let its reads and commits come through. */
async function settledTimers(runtime: { settled(): Promise<void> }): Promise<void> {
  for (let i = 0; i < 20; i += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await runtime.settled();
  }
}

const fetching = setup({
  types: {} as {
    context: { got: unknown; why: unknown };
    events: { type: "leave" } | { type: "effect.ambiguous"; effect: string } | { type: "effect.settled"; effect: string };
  },
  actors: {
    load: effect<{ text: string }, { of: string }>("test.load", { retry: { maxAttempts: 3, initialMs: 100 } }),
    pay: effect<{ receipt: string }, { of: string }>("test.pay", { once: true }),
  },
}).createMachine({
  id: "fetching",
  version: "1",
  context: { got: null, why: null },
  initial: "loading",
  states: {
    loading: {
      invoke: {
        id: "load",
        src: "load",
        input: { of: "a" },
        onDone: { target: "paying", actions: assign({ got: ({ event }) => event.output.text }) },
        onError: { target: "failed", actions: assign({ why: ({ event }) => event.error }) },
      },
      on: { leave: "failed" },
    },
    paying: {
      invoke: {
        id: "pay",
        src: "pay",
        input: { of: "b" },
        onDone: { target: "paid", actions: assign({ got: ({ event }) => event.output.receipt }) },
        onError: { target: "failed", actions: assign({ why: ({ event }) => event.error }) },
      },
      initial: "sure",
      states: { sure: { on: { "effect.ambiguous": "unsure" } }, unsure: { on: { "effect.settled": "sure" } } },
    },
    paid: { type: "final" },
    failed: {},
  },
});

const paidAt = async () => ({ output: { receipt: "r1" } });

describe("effects", () => {
  test("EFFECT-1 an effect runs after the commit that asked for it, and its result moves the actor", async () => {
    const seen: unknown[] = [];
    const { runtime, store } = await world([fetching], {
      "test.load": async (task) => {
        seen.push([task.attempt, task.input, task.idempotencyKey, (await store.effects([task.key]))[0]?.state]);
        return { output: { text: "hi" } };
      },
      "test.pay": async (task) => {
        seen.push((await store.effects([task.key]))[0]?.state);
        return { output: { receipt: "r1" } };
      },
    });
    await runtime.adopt("f");
    await runtime.start("fetching", { id: "f", input: undefined });
    await runtime.settled();
    expect(seen).toEqual([[1, { of: "a" }, "f@1:0", "planned"], "attempting"]);
    expect(await runtime.view("f")).toMatchObject({ value: "paid", context: { got: "r1" } });
  });

  test("EFFECT-4 a failure that may pass is tried again under the policy, with backoff; then it fails", async () => {
    let calls = 0;
    const { runtime, clock } = await world([fetching], {
      "test.load": async () => {
        calls += 1;
        throw new RetryableError("busy", calls === 1 ? { retryAfterMs: 5000 } : {});
      },
    });
    await runtime.adopt("f");
    await runtime.start("fetching", { id: "f", input: undefined });
    await runtime.settled();
    expect(calls).toBe(1);
    clock.advance(4999);
    await runtime.settled();
    expect(calls).toBe(1);
    clock.advance(1);
    await settledTimers(runtime);
    expect(calls).toBe(2);
    clock.advance(200);
    await settledTimers(runtime);
    expect(calls).toBe(3);
    expect(await runtime.view("f")).toMatchObject({ value: "failed", context: { why: { reason: "effectFailed", message: "busy" } } });
  });

  test("EFFECT-5 a late result of an attempt that is over changes nothing", async () => {
    const { promise, resolve } = Promise.withResolvers<{ output: { text: string } }>();
    const { runtime, store } = await world([fetching], { "test.load": () => promise });
    await runtime.adopt("f");
    await runtime.start("fetching", { id: "f", input: undefined });
    await runtime.send("f", { type: "leave" });
    resolve({ output: { text: "late" } });
    await runtime.settled();
    expect(await runtime.view("f")).toMatchObject({ value: "failed", context: { got: null } });
    expect((await store.effects(["f@1:0"]))[0]?.state).toBe("dropped");
  });

  test("EFFECT-3 a once effect that throws is ambiguous, is not repeated, and a person's confirm moves it on", async () => {
    let calls = 0;
    const { runtime, store } = await world([fetching], {
      "test.load": async () => ({ output: { text: "hi" } }),
      "test.pay": async () => {
        calls += 1;
        throw new Error("connection lost");
      },
    });
    await runtime.adopt("f");
    await runtime.start("fetching", { id: "f", input: undefined });
    await runtime.settled();
    expect(await runtime.view("f")).toMatchObject({ value: { paying: "unsure" } });
    const [row] = (await store.query("effects", { root: "f", state: ["ambiguous"] })).items;
    expect(row).toMatchObject({ once: true, error: { message: "connection lost" } });
    await runtime.confirmEffect(row?.key ?? "", { output: { receipt: "by hand" } });
    await runtime.settled();
    expect(calls).toBe(1);
    expect(await runtime.view("f")).toMatchObject({ value: "paid", context: { got: "by hand" } });
    const again = await runtime.retryEffect(row?.key ?? "").catch((thrown: unknown) => thrown);
    expect(isPawlError(again) && again.code).toBe("refused");
  });

  test("EFFECT-6 retry runs an ambiguous effect again under the next attempt and the same key", async () => {
    const attempts: [number, string][] = [];
    const { runtime, store } = await world([fetching], {
      "test.load": async () => ({ output: { text: "hi" } }),
      "test.pay": async (task) => {
        attempts.push([task.attempt, task.idempotencyKey]);
        if (task.attempt === 1) throw new Error("connection lost");
        return { output: { receipt: "second" } };
      },
    });
    await runtime.adopt("f");
    await runtime.start("fetching", { id: "f", input: undefined });
    await runtime.settled();
    const [row] = (await store.query("effects", { root: "f", state: ["ambiguous"] })).items;
    await runtime.retryEffect(row?.key ?? "");
    await runtime.settled();
    expect(attempts).toEqual([
      [1, "f@2:0"],
      [2, "f@2:0"],
    ]);
    expect((await runtime.view("f"))?.context).toMatchObject({ got: "second" });
  });

  test("EFFECT-7 NotApplied fails a once effect instead of making it ambiguous", async () => {
    const { runtime } = await world([fetching], {
      "test.load": async () => ({ output: { text: "hi" } }),
      "test.pay": async () => {
        throw new NotApplied("no such account");
      },
    });
    await runtime.adopt("f");
    await runtime.start("fetching", { id: "f", input: undefined });
    await runtime.settled();
    expect(await runtime.view("f")).toMatchObject({ value: "failed", context: { why: { message: "no such account" } } });
  });

  test("case 50 an effect interrupted by the loss of its process runs again with the next attempt and the same key; a finished one does not", async () => {
    const runs: [string, number, string][] = [];
    const never = new Promise<never>(() => {});
    const first = await world([fetching], { "test.load": (task) => (runs.push(["load", task.attempt, task.idempotencyKey]), never) });
    await first.runtime.adopt("f");
    await first.runtime.start("fetching", { id: "f", input: undefined });
    await new Promise((resolve) => setImmediate(resolve));
    // No close: the process is lost. A new runtime opens the same store.
    const second = await world(
      [fetching],
      { "test.load": async (task) => (runs.push(["load", task.attempt, task.idempotencyKey]), { output: { text: "hi" } }), "test.pay": paidAt },
      { store: first.store, clock: first.clock },
    );
    await second.runtime.adopt("f");
    await second.runtime.settled();
    expect(runs).toEqual([
      ["load", 1, "f@1:0"],
      ["load", 2, "f@1:0"],
    ]);
    expect((await second.runtime.view("f"))?.value).toBe("paid");
    const third = await world(
      [fetching],
      { "test.load": async () => expect.unreachable(), "test.pay": async () => expect.unreachable() },
      { store: first.store, clock: first.clock },
    );
    await third.runtime.adopt("f");
    await third.runtime.settled();
  });

  test("EFFECT-8 a once effect whose process was lost is ambiguous and not run again", async () => {
    const never = new Promise<never>(() => {});
    const load = async () => ({ output: { text: "hi" } });
    const first = await world([fetching], { "test.load": load, "test.pay": () => never });
    await first.runtime.adopt("f");
    await first.runtime.start("fetching", { id: "f", input: undefined });
    await settledSome();
    const second = await world([fetching], { "test.load": load, "test.pay": async () => expect.unreachable() }, { store: first.store, clock: first.clock });
    await second.runtime.adopt("f");
    await second.runtime.settled();
    expect((await second.runtime.view("f"))?.value).toEqual({ paying: "unsure" });
  });

  test("EFFECT-9 a graceful stop releases what runs: it goes on later and does not count as an interruption", async () => {
    const runs: number[] = [];
    const first = await world([fetching], {
      "test.load": (task) =>
        new Promise((_, reject) => {
          runs.push(task.attempt);
          task.signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    });
    await first.runtime.adopt("f");
    await first.runtime.start("fetching", { id: "f", input: undefined });
    await settledSome();
    await first.runtime.close();
    expect((await first.store.effects(["f@1:0"]))[0]).toMatchObject({ state: "planned", attempt: 2, interruptions: 0 });
    const second = await world(
      [fetching],
      { "test.load": async (task) => (runs.push(task.attempt), { output: { text: "hi" } }), "test.pay": paidAt },
      { store: first.store, clock: first.clock },
    );
    await second.runtime.adopt("f");
    await second.runtime.settled();
    expect(runs).toEqual([1, 2]);
    expect((await second.runtime.view("f"))?.value).toBe("paid");
  });

  test("RT-20 effects of a tree that nobody adopted are planned and do not run", async () => {
    const { runtime, store } = await world([fetching], { "test.load": async () => expect.unreachable() });
    await runtime.start("fetching", { id: "f", input: undefined });
    await runtime.settled();
    expect((await store.effects(["f@1:0"]))[0]).toMatchObject({ state: "planned", attempt: 1 });
    expect((await store.effects(["f@1:0"]))[0]?.notBefore).not.toBeNull();
  });

  test("RT-21 an attempt over its time limit fails as nodeTimedOut, and its late result is nothing", async () => {
    const slow = setup({
      types: {} as { context: { why: unknown } },
      actors: {
        slow: durable(
          fromPromise(() => new Promise<never>(() => {})),
          { timeoutMs: 1000 },
        ),
      },
    }).createMachine({
      id: "slow",
      version: "1",
      context: { why: null },
      initial: "a",
      states: {
        a: { invoke: { id: "slow", src: "slow", onDone: "b", onError: { target: "c", actions: assign({ why: ({ event }) => event.error }) } } },
        b: {},
        c: {},
      },
    });
    const { runtime, clock } = await world([slow]);
    await runtime.adopt("s");
    await runtime.start("slow", { id: "s", input: undefined });
    await settledSome();
    clock.advance(1000);
    await runtime.settled();
    expect(await runtime.view("s")).toMatchObject({ value: "c", context: { why: { reason: "nodeTimedOut" } } });
  });

  test("RT-22 an author's promise gets its input and a signal, and its output moves the machine", async () => {
    const machine = setup({
      types: {} as { context: { n: number } },
      actors: { twice: fromPromise(async ({ input, signal }: { input: { n: number }; signal: AbortSignal }) => (signal.aborted ? 0 : input.n * 2)) },
    }).createMachine({
      id: "twice",
      version: "1",
      context: { n: 21 },
      initial: "a",
      states: {
        a: {
          invoke: {
            id: "t",
            src: "twice",
            input: ({ context }) => ({ n: context.n }),
            onDone: { target: "b", actions: assign({ n: ({ event }) => event.output }) },
          },
        },
        b: { type: "final" },
      },
    });
    const { runtime } = await world([machine]);
    await runtime.adopt("t");
    await runtime.start("twice", { id: "t", input: undefined });
    await runtime.settled();
    expect(await runtime.view("t")).toMatchObject({ value: "b", context: { n: 42 } });
  });
});

async function settledSome(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("faults", () => {
  test("RT-17 an internal event whose assign throws leaves the actor as it was, faulted, with the event kept", async () => {
    const fragile = setup({ types: {} as { context: { n: number } }, actors: { load: effect<{ n: number }, undefined>("test.load") } }).createMachine({
      id: "fragile",
      version: "1",
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          invoke: {
            id: "load",
            src: "load",
            onDone: {
              target: "b",
              actions: assign({
                n: () => {
                  throw new Error("bad data");
                },
              }),
            },
          },
        },
        b: {},
      },
    });
    const { runtime, store } = await world([fragile], { "test.load": async () => ({ output: { n: 1 } }) });
    await runtime.adopt("f");
    await runtime.start("fragile", { id: "f", input: undefined });
    await runtime.settled();
    const view = await runtime.view("f");
    expect(view).toMatchObject({ value: "a", record: { status: "faulted" } });
    const rows = await store.journal("f", 2, 9);
    expect(rows).toMatchObject([{ type: "pawl.faulted" }]);
    expect(JSON.stringify(rows[0]?.payload)).toContain("bad data");
    expect((await store.effects(["f@1:0"]))[0]?.state).toBe("confirmed");
  });
});

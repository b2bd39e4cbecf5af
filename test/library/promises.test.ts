import { describe, expect, test } from "vitest";
import { createActor, setup, toPromise, assign } from "xstate";
import { memoryStore } from "../../persistence/index.ts";
import { durable, openPawl, type DurableTask, type WaitBounds } from "../../src/index.ts";
import { fakeClock } from "../../src/testing.ts";
import { afterwards, promiseMachine, turns } from "./kit.ts";

/** The signal's reason, and how long after `since` it came. */
const timeOfAbort = (signal: AbortSignal, since: () => number): Promise<{ reason: unknown; ms: number }> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve({ reason: signal.reason, ms: performance.now() - since() })));

describe("a promise of one's own", () => {
  test("EFFECT-41 is told key and attempt, and gives signs of life and lines", async () => {
    const tasks: DurableTask[] = [];
    const machine = setup({
      types: {} as { context: { n: number | null } },
      actors: {
        work: durable(async ({ input, ...task }: { input: { n: number } } & DurableTask) => {
          tasks.push(task);
          task.heartbeat();
          task.report(`n is ${input.n}`);
          return input.n * 2;
        }),
      },
    }).createMachine({
      id: "promise",
      version: "1",
      context: { n: null },
      initial: "working",
      states: {
        working: { invoke: { id: "work", src: "work", input: { n: 21 }, onDone: { target: "worked", actions: assign({ n: ({ event }) => event.output }) } } },
        worked: { type: "final" },
      },
    });
    const pawl = await openPawl({ store: memoryStore(), machines: [machine] });
    afterwards(() => pawl.close());
    const lines: string[] = [];
    pawl.subscribe({ actor: "p" }, (change) => change.kind === "line" && lines.push(change.text));
    const ref = await pawl.start(machine, { id: "p" });
    await pawl.settled();
    expect((await pawl.get(ref))?.context).toEqual({ n: 42 });
    expect(tasks.map(({ idempotencyKey, attempt }) => [idempotencyKey, attempt])).toEqual([["p@1:0", 1]]);
    expect(lines).toEqual(["n is 21"]);
    // The same machine runs in plain XState.
    const actor = createActor(machine).start();
    await toPromise(actor);
    expect(actor.getSnapshot().context).toEqual({ n: 42 });
    expect(tasks.length).toBe(2);
  });

  test("EFFECT-41 one marked `once` whose outcome nobody can tell is settled by a person", async () => {
    for (const word of ["confirm", "retry"] as const) {
      const attempts: number[] = [];
      const machine = setup({
        types: {} as { context: { got: unknown } },
        actors: {
          pay: durable(
            async ({ attempt }: DurableTask & { input: undefined }) => {
              attempts.push(attempt);
              if (attempt === 1) throw new Error("connection lost");
              return "second";
            },
            { once: true },
          ),
        },
      }).createMachine({
        id: "paying",
        version: "1",
        context: { got: null },
        initial: "paying",
        states: { paying: { invoke: { id: "pay", src: "pay", onDone: { target: "paid", actions: assign({ got: ({ event }) => event.output }) } } }, paid: {} },
      });
      const pawl = await openPawl({ store: memoryStore(), machines: [machine] });
      afterwards(() => pawl.close());
      const ref = await pawl.start(machine, { id: "p" });
      await pawl.settled();
      const [ambiguous] = (await pawl.effects({ state: ["ambiguous"] })).items;
      const settled = word === "confirm" ? await pawl.confirmEffect(ambiguous?.key ?? "", "by hand") : await pawl.retryEffect(ambiguous?.key ?? "");
      expect(settled.state).toBe(word === "confirm" ? "confirmed" : "planned");
      await pawl.settled();
      expect([(await pawl.get(ref))?.context.got, attempts]).toEqual(word === "confirm" ? ["by hand", [1]] : ["second", [1, 2]]);
      await expect(pawl.confirmEffect(ambiguous?.key ?? "", 1)).rejects.toMatchObject({ code: "refused" });
      await expect(pawl.retryEffect("nothing")).rejects.toMatchObject({ code: "unknownEffect" });
    }
  });
});

describe("the signal", () => {
  test("EFFECT-39, case 85, case 89, case 94 reaches the author's code within a second of leaving, of stopping and of closing", async () => {
    for (const way of ["leave", "stop", "close"] as const) {
      const begun = Promise.withResolvers<AbortSignal>();
      const machine = promiseMachine(async ({ signal }) => {
        begun.resolve(signal);
        // Heeds nothing, as code that only computes does.
        return new Promise<never>(() => {});
      });
      const pawl = await openPawl({ store: memoryStore(), machines: [machine] });
      afterwards(() => pawl.close());
      const ref = await pawl.start(machine, { id: "p" });
      const signal = await begun.promise;
      const asked = performance.now();
      const aborted = timeOfAbort(signal, () => asked);
      if (way === "leave") await pawl.send(ref, { type: "leave" });
      else if (way === "stop") await pawl.stop(ref);
      else await pawl.close();
      const { reason, ms } = await aborted;
      expect(reason).toBe(way === "close" ? "shutdown" : "cancelled");
      expect(ms).toBeLessThan(1000);
    }
  });

  test("EFFECT-39 reaches it at its time limit, and a result that comes then counts no more", async () => {
    const clock = fakeClock();
    const seen: unknown[] = [];
    const machine = setup({
      types: {} as { context: { why: unknown } },
      actors: {
        work: durable(
          ({ signal }: DurableTask & { input: undefined }) =>
            new Promise<string>((resolve) =>
              signal.addEventListener("abort", () => {
                seen.push(signal.reason);
                setImmediate(() => setImmediate(() => resolve("late")));
              }),
            ),
          { timeoutMs: 5000 },
        ),
      },
    }).createMachine({
      id: "slow",
      version: "1",
      context: { why: null },
      initial: "working",
      states: {
        working: { invoke: { id: "work", src: "work", onDone: "worked", onError: { target: "failed", actions: assign({ why: ({ event }) => event.error }) } } },
        worked: {},
        failed: {},
      },
    });
    const pawl = await openPawl({ store: memoryStore(), machines: [machine], clock });
    afterwards(() => pawl.close());
    const ref = await pawl.start(machine, { id: "s" });
    await turns();
    clock.advance(5000);
    await pawl.settled();
    await turns();
    expect(seen).toEqual(["timedOut"]);
    expect(await pawl.get(ref)).toMatchObject({ value: "failed", context: { why: { reason: "nodeTimedOut" } } });
  });
});

describe("stopping, faults and timers", () => {
  const bounds: WaitBounds = { timeoutMs: 5000 };

  test("API-13 stopping a root stops its tree: status, effects and timers; it takes nothing more, and an ended one stays as it is", async () => {
    const clock = fakeClock();
    const worker = promiseMachine(() => new Promise<never>(() => {}));
    const boss = setup({ actors: { worker } }).createMachine({
      id: "boss",
      version: "1",
      initial: "on",
      states: { on: { invoke: { id: "w", src: "worker" }, after: { 1000: "late" } }, late: {} },
    });
    const store = memoryStore();
    const pawl = await openPawl({ store, machines: [boss], clock });
    afterwards(() => pawl.close());
    const ref = await pawl.start(boss, { id: "b" });
    await turns();
    await expect(pawl.stop("b/w")).rejects.toMatchObject({ code: "refused", message: expect.stringContaining('child of "b"') });
    expect(await pawl.stop(ref)).toEqual({ status: "applied", actor: "b", revision: 2 });
    expect((await pawl.query({ root: ref })).items.map(({ id, status }) => [id, status])).toEqual([
      ["b", "stopped"],
      ["b/w", "stopped"],
    ]);
    expect((await pawl.effects()).items.map(({ state }) => state)).toEqual(["dropped"]);
    expect(await store.nextDue()).toBeNull();
    expect(await pawl.send("b", { type: "x" })).toMatchObject({ status: "refused", code: "stopped" });
    expect(await pawl.stop(ref)).toMatchObject({ status: "ignored", code: "stopped", revision: 2 });
    await expect(pawl.stop("nobody")).rejects.toMatchObject({ code: "unknownActor" });
  });

  test("API-13, case 62 an actor whose machine is gone can be stopped", async () => {
    const store = memoryStore();
    const clock = fakeClock();
    const machine = promiseMachine(() => new Promise<never>(() => {}));
    const first = await openPawl({ store, clock, machines: [machine] });
    await first.start(machine, { id: "p" });
    await first.close();
    const pawl = await openPawl({ store, clock, machines: [], onError: () => {} });
    afterwards(() => pawl.close());
    expect((await pawl.stop("p")).status).toBe("applied");
    expect((await pawl.effects()).items[0]?.state).toBe("dropped");
    expect((await pawl.get("p"))?.status).toBe("stopped");
  });

  /** Throws at its first `tick` while `isBroken`; counts the others. */
  let isBroken = true;
  const fragile = setup({
    types: {} as { context: { n: number; got: unknown }; events: { type: "tick" } | { type: "slow" } },
    actors: { work: durable(async () => "result") },
    actions: {
      count: assign({
        n: ({ context }) => {
          if (isBroken) throw new Error("cannot count");
          return context.n + 1;
        },
      }),
    },
  }).createMachine({
    id: "fragile",
    version: "1",
    context: { n: 0, got: null },
    initial: "on",
    invoke: { id: "work", src: "work", onDone: { actions: [assign({ got: ({ event }) => event.output }), "count"] } },
    states: { on: { after: { 1000: { actions: "count" }, 2000: { target: "off", actions: "count" } } }, off: {} },
  });

  test("API-14 what reaches a faulted actor from timers and effects is kept, shown, and delivered in order when it is tried again", async () => {
    isBroken = true;
    const clock = fakeClock();
    const pawl = await openPawl({ store: memoryStore(), machines: [fragile], clock });
    afterwards(() => pawl.close());
    const ref = await pawl.start(fragile, { id: "f" });
    await pawl.settled();
    clock.advance(1000);
    await pawl.settled();
    clock.advance(1000);
    await pawl.settled();
    expect(await pawl.get(ref)).toMatchObject({ status: "faulted", value: "on", error: { reason: "faulted", message: "cannot count" } });
    const fault = await pawl.fault(ref);
    expect(fault?.events.map(({ type }) => type)).toEqual(["xstate.done.actor.work", "xstate.after.1000.fragile.on", "xstate.after.2000.fragile.on"]);
    expect(await pawl.send("f", { type: "tick" })).toMatchObject({ status: "refused", code: "faulted" });
    // Still broken: it is faulted again, and nothing is lost.
    expect(await pawl.retryFault(ref)).toMatchObject({ status: "refused", code: "faulted" });
    expect((await pawl.fault(ref))?.events.length).toBe(3);
    isBroken = false;
    expect((await pawl.retryFault(ref)).status).toBe("applied");
    expect(await pawl.get(ref)).toMatchObject({ status: "active", value: "off", context: { n: 3, got: "result" } });
    expect(await pawl.fault(ref)).toBeNull();
    expect(await pawl.retryFault(ref)).toMatchObject({ status: "refused", code: "active" });
    await pawl.settled(bounds);
  });

  test("API-14 who is told that a child is faulted is told that it was mended, before what follows from that", async () => {
    isBroken = true;
    const told = setup({
      types: {} as { context: { heard: string[] }; events: { type: "pawl.childFaulted" | "pawl.childMended" } },
      actors: { fragile },
      actions: { hear: assign({ heard: ({ context, event }) => [...context.heard, event.type] }) },
    }).createMachine({
      id: "told",
      version: "1",
      context: { heard: [] },
      invoke: { src: "fragile", id: "child", onDone: { actions: "hear" } },
      on: { "pawl.childFaulted": { actions: "hear" }, "pawl.childMended": { actions: "hear" } },
    });
    const clock = fakeClock();
    const pawl = await openPawl({ store: memoryStore(), machines: [told, fragile], clock });
    afterwards(() => pawl.close());
    await pawl.start(told, { id: "p" });
    await pawl.settled();
    expect((await pawl.get("p"))?.context).toEqual({ heard: ["pawl.childFaulted"] });
    isBroken = false;
    await pawl.retryFault("p/child");
    expect((await pawl.get("p"))?.context).toEqual({ heard: ["pawl.childFaulted", "pawl.childMended"] });
  });

  test("API-14 a faulted actor survives a restart with what it was kept, and can be stopped", async () => {
    isBroken = true;
    const store = memoryStore();
    const clock = fakeClock();
    const first = await openPawl({ store, machines: [fragile], clock });
    await first.start(fragile, { id: "f" });
    await first.settled();
    await first.close();
    clock.advance(1000);
    isBroken = false;
    const second = await openPawl({ store, machines: [fragile], clock });
    afterwards(() => second.close());
    await second.settled();
    expect((await second.fault("f"))?.events.length).toBe(2);
    expect((await second.retryFault("f")).status).toBe("applied");
    expect((await second.get("f"))?.context).toEqual({ n: 2, got: "result" });
    await second.start(fragile, { id: "g" });
    isBroken = true;
    await second.settled();
    expect((await second.get("g"))?.status).toBe("faulted");
    expect((await second.stop("g")).status).toBe("applied");
    expect(await store.timers("g")).toEqual([]);
  });

  test("API-15 settled waits for the timers that are due, those that fire at once included", async () => {
    const clock = fakeClock();
    const chain = setup({}).createMachine({
      id: "chain",
      version: "1",
      initial: "a",
      states: { a: { after: { 0: "b" } }, b: { after: { 10: "c" } }, c: { after: { 0: "d" } }, d: { after: { 10: "e" } }, e: {} },
    });
    const pawl = await openPawl({ store: memoryStore(), machines: [chain], clock });
    afterwards(() => pawl.close());
    const ref = await pawl.start(chain, { id: "c" });
    await pawl.settled();
    expect((await pawl.get(ref))?.value).toBe("b");
    clock.advance(10);
    await pawl.settled();
    expect((await pawl.get(ref))?.value).toBe("d");
  });
});

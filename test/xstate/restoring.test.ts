/** What users of XState reported of machines that they saved and restored by themselves: each must not happen here. */
import { assign, createMachine, sendTo, setup, spawnChild } from "xstate";
import { describe, expect, test } from "vitest";
import { effect, effectAction } from "../../machines/define.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import type { Executors } from "../../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import { Replayer } from "../../src/runtime/replay.ts";
import { world } from "../runtime/kit.ts";
import { again, rest } from "./lost.ts";

const hour = 3_600_000;

describe("restoring", () => {
  const waiting = createMachine({
    id: "waiting",
    version: "1",
    initial: "wait",
    states: { wait: { after: { [hour]: "over" }, on: { LEAVE: "left" } }, over: {}, left: {} },
  });

  test("XS-5 #5331 #4860 #1938 #1334 a delay goes on after a restore, at the time it had", async () => {
    const first = await world([waiting]);
    await first.runtime.start("waiting", { id: "w", input: undefined });
    first.clock.advance(hour / 2);
    const second = await again(first, [waiting]);
    second.clock.advance(hour / 2 - 1);
    await rest(second);
    expect((await second.runtime.view("w"))?.value).toBe("wait");
    second.clock.advance(1);
    await rest(second);
    expect((await second.runtime.view("w"))?.value).toBe("over");
  });

  test("XS-5 case 113 a restored delay does not fire at once, however often it is restored", async () => {
    let at = await world([waiting]);
    await at.runtime.start("waiting", { id: "w", input: undefined });
    for (let restarts = 0; restarts < 5; restarts += 1) {
      at = await again(at, [waiting]);
      await rest(at);
      expect((await at.runtime.view("w"))?.value).toBe("wait");
      expect(await at.store.nextDue()).toBe(at.clock.now() + hour);
    }
  });

  test("XS-5 #1757 restoring repeats no action", async () => {
    const mails: string[] = [];
    const mailing = setup({ actions: { mail: effectAction<{ to: string }>("mail") } }).createMachine({
      id: "mailing",
      version: "1",
      initial: "a",
      states: { a: { entry: { type: "mail", params: { to: "ann" } }, on: { GO: "b" } }, b: {} },
    });
    const executors: Executors = { mail: async ({ input }) => (mails.push(JSON.stringify(input)), { output: null }) };
    let at = await world([mailing], executors);
    await at.runtime.adopt("m");
    await at.runtime.start("mailing", { id: "m", input: undefined });
    await rest(at);
    for (let restarts = 0; restarts < 3; restarts += 1) {
      at = await again(at, [mailing], executors);
      await at.runtime.adopt("m");
      await rest(at);
    }
    expect(mails).toEqual(['{"to":"ann"}']);
  });

  test("XS-5 #1476 a promise whose process was lost runs again, once, and a finished one does not", async () => {
    const calls: string[] = [];
    const two = setup({ actors: { one: effect<number, undefined>("one"), two: effect<number, undefined>("two") } }).createMachine({
      id: "two",
      version: "1",
      initial: "a",
      states: { a: { invoke: { id: "one", src: "one", onDone: "b" } }, b: { invoke: { id: "two", src: "two", onDone: "c" } }, c: {} },
    });
    const first = await world([two], { one: async () => (calls.push("one"), { output: 1 }), two: () => (calls.push("two"), new Promise(() => {})) });
    await first.runtime.adopt("t");
    await first.runtime.start("two", { id: "t", input: undefined });
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(calls).toEqual(["one", "two"]);
    const second = await again(first, [two], { one: async () => (calls.push("one"), { output: 1 }), two: async () => (calls.push("two"), { output: 2 }) });
    await second.runtime.adopt("t");
    await rest(second);
    expect(calls).toEqual(["one", "two", "two"]);
    expect((await second.runtime.view("t"))?.value).toBe("c");
  });

  const kid = createMachine({
    id: "kid",
    version: "1",
    types: {} as { context: { n: number } },
    context: { n: 0 },
    on: { ADD: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
  });
  const family = setup({ types: {} as { context: { born: number } }, actors: { kid } }).createMachine({
    id: "family",
    version: "1",
    context: { born: 0 },
    invoke: { id: "named", src: "kid", systemId: "named" },
    on: {
      SPAWN: {
        actions: [spawnChild("kid", { id: ({ context }) => `k${context.born}` }), assign({ born: ({ context }) => context.born + 1 })],
      },
      TELL: { actions: sendTo(({ system }) => system.get("named"), { type: "ADD" }) },
    },
  });

  test("XS-5 #5077 #5057 restored children, spawned ones too, are stored again and go on", async () => {
    let at = await world([family, kid]);
    await at.runtime.start("family", { id: "f", input: undefined });
    for (let round = 1; round <= 3; round += 1) {
      await at.runtime.send("f", { type: "SPAWN" });
      at = await again(at, [family, kid]);
      await at.runtime.send("f/k0", { type: "ADD" });
      expect((await at.runtime.view("f/k0"))?.context).toEqual({ n: round });
    }
  });

  test("XS-5 #4873 system.get finds a restored actor", async () => {
    let at = await world([family, kid]);
    await at.runtime.start("family", { id: "f", input: undefined });
    at = await again(at, [family, kid]);
    await at.runtime.send("f", { type: "TELL" });
    expect((await at.runtime.view("f/named"))?.context).toEqual({ n: 1 });
  });

  test("XS-5 #5178 history survives a restore", async () => {
    const remembering = createMachine({
      id: "remembering",
      version: "1",
      initial: "on",
      states: {
        on: { initial: "a", on: { OFF: "off" }, states: { a: { on: { NEXT: "b" } }, b: {}, last: { type: "history" } } },
        off: { on: { ON: "on.last" } },
      },
    });
    const first = await world([remembering]);
    await first.runtime.start("remembering", { id: "r", input: undefined });
    await first.runtime.send("r", { type: "NEXT" });
    await first.runtime.send("r", { type: "OFF" });
    const second = await again(first, [remembering]);
    await second.runtime.send("r", { type: "ON" });
    expect((await second.runtime.view("r"))?.value).toEqual({ on: "b" });
  });

  test("XS-5 #4627, case 54 a stored snapshot is at rest: nothing that always holds is left to be taken", async () => {
    const settling = setup({ types: {} as { context: { n: number } } }).createMachine({
      id: "settling",
      version: "1",
      context: { n: 0 },
      initial: "a",
      states: {
        a: { entry: assign({ n: ({ context }) => context.n + 1 }), always: [{ guard: ({ context }) => context.n < 5, target: "b" }, "c"] },
        b: { always: "a" },
        c: { on: { BACK: { target: "a", actions: assign({ n: 0 }) } } },
      },
    });
    const first = await world([settling]);
    await first.runtime.start("settling", { id: "s", input: undefined });
    await first.runtime.send("s", { type: "BACK" });
    for (const row of await first.store.journal("s", 0, 10)) expect(row.stateValue).toBe('"c"');
    const second = await again(first, [settling]);
    expect(await second.runtime.view("s")).toMatchObject({ value: "c", context: { n: 5 } });
    expect((await second.runtime.send("s", { type: "BACK" })).status).toBe("applied");
  });

  test("XS-5 #4583, case 52 a stopped actor can be read after a restore, refuses events and throws nothing", async () => {
    const leaving = setup({ actors: { kid } }).createMachine({
      id: "leaving",
      version: "1",
      initial: "in",
      states: { in: { invoke: { id: "k", src: "kid" }, on: { OUT: "out" } }, out: {} },
    });
    const first = await world([leaving, kid]);
    await first.runtime.start("leaving", { id: "l", input: undefined });
    await first.runtime.send("l/k", { type: "ADD" });
    await first.runtime.send("l", { type: "OUT" });
    const second = await again(first, [leaving, kid]);
    expect(await second.runtime.view("l/k")).toMatchObject({ record: { status: "stopped" }, context: { n: 1 } });
    expect(await second.runtime.send("l/k", { type: "ADD" })).toMatchObject({ status: "refused", code: "stopped" });
  });

  test("XS-5 #4953 what is started anew runs its entry", async () => {
    const greeting = setup({ types: {} as { context: { n: number } } }).createMachine({
      id: "greeting",
      version: "1",
      context: { n: 0 },
      entry: assign({ n: ({ context }) => context.n + 1 }),
      initial: "in",
      states: { in: { on: { END: "out" } }, out: { type: "final" } },
    });
    const { runtime } = await world([greeting]);
    await runtime.start("greeting", { id: "one", input: undefined });
    await runtime.send("one", { type: "END" });
    await runtime.start("greeting", { id: "two", input: undefined });
    expect(await runtime.view("two")).toMatchObject({ value: "in", context: { n: 1 } });
  });

  test("XS-5 #5663 ids of what a step asks for are derived, never drawn: the same events give the same ids", async () => {
    const rowsOf = async (): Promise<unknown> => {
      const { runtime, store } = await world([family, kid]);
      await runtime.start("family", { id: "f", input: undefined, eventId: "e0" });
      await runtime.send("f", { type: "SPAWN" }, { eventId: "e1" });
      await runtime.send("f", { type: "TELL" }, { eventId: "e2" });
      return Promise.all(["f", "f/named", "f/k0"].map((id) => store.journal(id, 0, 10)));
    };
    expect(await rowsOf()).toEqual(await rowsOf());
  });

  test.each([
    ["forward", Date.UTC(2030, 2, 30, 23)],
    ["back", Date.UTC(2030, 9, 26, 23)],
  ])("XS-5 case 101 a machine that waits 30 minutes goes 48 rounds in 24 hours on the night the clocks go %s, over restarts too", async (_direction, start) => {
    const rounds = setup({ types: {} as { context: { n: number } } }).createMachine({
      id: "rounds",
      version: "1",
      context: { n: 0 },
      initial: "wait",
      states: { wait: { after: { [hour / 2]: { target: "wait", reenter: true, actions: assign({ n: ({ context }) => context.n + 1 }) } } } },
    });
    let at = await world([rounds], {}, { clock: fakeClock(start) });
    await at.runtime.start("rounds", { id: "r", input: undefined });
    for (let quarter = 1; quarter <= 96; quarter += 1) {
      at.clock.advance(hour / 4);
      await expect.poll(async () => ((await at.store.nextDue()) ?? 0) > at.clock.now()).toBe(true);
      if (quarter % 10 === 0) at = await again(at, [rounds]);
    }
    expect((await at.runtime.view("r"))?.context).toEqual({ n: 48 });
  });

  test("XS-5 case 109 a guard that does not depend on context and event alone is found by replaying the journal", async () => {
    let isOpen = true;
    const moody = setup({ guards: { isOpen: () => isOpen } }).createMachine({
      id: "moody",
      version: "1",
      initial: "a",
      states: { a: { on: { GO: { guard: "isOpen", target: "b" } } }, b: {} },
    });
    const { runtime, store } = await world([moody]);
    await runtime.start("moody", { id: "m", input: undefined });
    await runtime.send("m", { type: "GO" });
    const [record] = await store.load(["m"]);
    if (!record) throw new Error("it was started");
    const replayer = new Replayer(store, createRegistry([defineMachine(moody)]));
    expect(await replayer.replay(record)).toMatchObject({ outcome: "same" });
    isOpen = false;
    expect(await replayer.replay(record)).toMatchObject({ outcome: "different", revision: 2, event: "GO", stored: 'state "b"', derived: 'state "a"' });
  });
});

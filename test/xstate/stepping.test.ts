/** The traps of XState's pure functions, and reports of its users that concern stepping: each must not happen here. */
import { assign, createMachine, fromPromise, sendParent, sendTo, setup, spawnChild, stopChild, type AnyStateMachine } from "xstate";
import { describe, expect, test } from "vitest";
import { effect, effectAction } from "../../machines/define.ts";
import { createStepper } from "../../src/runtime/step.ts";
import { world } from "../runtime/kit.ts";
import { rest } from "./lost.ts";

describe("stepping", () => {
  const twice = setup({ types: {} as { context: { got: number[] } }, actors: { load: effect<number, undefined>("load") } }).createMachine({
    id: "twice",
    version: "1",
    context: { got: [] },
    initial: "a",
    states: {
      a: {
        invoke: { id: "load", src: "load", onDone: { target: "b", actions: assign({ got: ({ context, event }) => [...context.got, event.output] }) } },
        on: { AGAIN: { target: "a", reenter: true } },
      },
      b: { on: { AGAIN: "a" } },
    },
  });

  test("XS-6 a late result of an earlier attempt does not move a later one of the same id", async () => {
    const ends: ((output: { output: number }) => void)[] = [];
    const at = await world([twice], { load: () => new Promise((resolve) => ends.push(resolve)) });
    await at.runtime.adopt("t");
    await at.runtime.start("twice", { id: "t", input: undefined });
    await at.runtime.send("t", { type: "AGAIN" });
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    ends[0]?.({ output: 1 });
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(await at.runtime.view("t")).toMatchObject({ value: "a", context: { got: [] } });
    ends[1]?.({ output: 2 });
    await rest(at);
    expect(await at.runtime.view("t")).toMatchObject({ value: "b", context: { got: [2] } });
  });

  test("XS-6 the end of a child that its parent has stopped does not move a later child of the same name", async () => {
    // The child tells its parent in the step in which it ends: the parent starts another before it hears of the end.
    const brief = setup({}).createMachine({
      id: "brief",
      version: "1",
      initial: "on",
      states: { on: { on: { END: { target: "off", actions: sendParent({ type: "SWAP" }) } } }, off: { type: "final" } },
    });
    const holding = setup({ actors: { brief } }).createMachine({
      id: "holding",
      version: "1",
      initial: "a",
      states: { a: { invoke: { id: "b", src: "brief", onDone: "over" }, on: { SWAP: { target: "a", reenter: true } } }, over: {} },
    });
    const { runtime } = await world([holding, brief]);
    await runtime.start("holding", { id: "h", input: undefined });
    await runtime.send("h/b", { type: "END" });
    expect((await runtime.view("h"))?.value).toBe("a");
    const [live] = (await runtime.view("h.none")) === null ? [await runtime.view("h/b.2")] : [];
    expect(live).toMatchObject({ value: "on", record: { status: "active" } });
  });

  test("XS-6 #3353 the same invoke twice in a row runs twice", async () => {
    let calls = 0;
    const at = await world([twice], { load: async () => ({ output: (calls += 1) }) });
    await at.runtime.adopt("t");
    await at.runtime.start("twice", { id: "t", input: undefined });
    await rest(at);
    await at.runtime.send("t", { type: "AGAIN" });
    await rest(at);
    expect(await at.runtime.view("t")).toMatchObject({ value: "b", context: { got: [1, 2] } });
  });

  test("XS-6 a finished snapshot takes nothing, though its machine has a transition for the event", () => {
    const machine = createMachine({ id: "ended", version: "1", initial: "a", on: { BACK: ".a" }, states: { a: { on: { END: "b" } }, b: { type: "final" } } });
    const stepper = createStepper(machine);
    const ended = stepper.step(stepper.init("e", null, undefined).next, { type: "END" });
    expect(ended.status).toBe("done");
    expect(stepper.step(ended.next, { type: "BACK" })).toMatchObject({ changed: false, status: "done" });
  });

  test("XS-6 an event that nothing is there for, or whose guards fail, is ignored and leaves no row", async () => {
    const guarded = createMachine({ id: "guarded", version: "1", on: { GO: { guard: () => false, target: ".b" } }, initial: "a", states: { a: {}, b: {} } });
    const { runtime, store } = await world([guarded]);
    await runtime.start("guarded", { id: "g", input: undefined });
    expect((await runtime.send("g", { type: "GO" })).status).toBe("ignored");
    expect((await runtime.send("g", { type: "NEVER" })).status).toBe("ignored");
    expect(await store.journal("g", 0, 10)).toHaveLength(1);
  });

  const boom = (): never => {
    throw new Error("boom");
  };
  test.each([
    ["guard", { on: { GO: { guard: boom, target: ".b" } }, initial: "a", states: { a: {}, b: {} } }],
    ["assign", { on: { GO: { actions: assign(boom) } } }],
    ["params", { on: { GO: { actions: { type: "note", params: boom } } } }],
    ["target of a sendTo", { on: { GO: { actions: sendTo(boom as never, { type: "x" } as never) } } }],
    ["event of a sendTo", { on: { GO: { actions: sendTo(({ self }) => self, boom as never) } } }],
    ["input of a child", { on: { GO: { actions: spawnChild("kid" as never, { id: "k", input: boom } as never) } } }],
  ])("XS-6 a throwing %s refuses the event, and the actor goes on", async (_what, config) => {
    const base = setup({ actors: { kid: createMachine({ id: "kid", version: "1" }) }, actions: { note: effectAction("note") } }) as unknown as {
      createMachine(config: object): AnyStateMachine;
    };
    const machine = base.createMachine({ id: "fragile", version: "1", context: {}, ...config });
    const { runtime, store } = await world([machine]);
    await runtime.start("fragile", { id: "f", input: undefined });
    await expect(runtime.send("f", { type: "GO" })).rejects.toThrow("boom");
    expect(await store.journal("f", 0, 10)).toHaveLength(1);
    expect(await runtime.view("f")).toMatchObject({ record: { status: "active", revision: 1 } });
  });

  test("XS-6 a machine that throws in its first transition is not started, and its parent hears of it as of any error", async () => {
    const broken = createMachine({ id: "broken", version: "1", context: boom });
    const hopeful = setup({ types: {} as { context: { why: string } }, actors: { broken } }).createMachine({
      id: "hopeful",
      version: "1",
      context: { why: "" },
      initial: "a",
      states: {
        a: {
          invoke: { id: "b", src: "broken", onError: { target: "c", actions: assign({ why: ({ event }) => (event.error as { message: string }).message }) } },
        },
        c: {},
      },
    });
    const { runtime } = await world([hopeful, broken]);
    await expect(runtime.start("broken", { id: "x", input: undefined })).rejects.toThrow("boom");
    expect(await runtime.view("x")).toBeNull();
    await runtime.start("hopeful", { id: "h", input: undefined });
    expect(await runtime.view("h")).toMatchObject({ value: "c", context: { why: "boom" } });
  });

  test("XS-6 #5120 sendParent without a parent refuses the event and breaks nothing", async () => {
    const orphan = setup({}).createMachine({ id: "orphan", version: "1", on: { CRY: { actions: sendParent({ type: "help" }) } } });
    const { runtime } = await world([orphan]);
    await runtime.start("orphan", { id: "o", input: undefined });
    await expect(runtime.send("o", { type: "CRY" })).rejects.toThrow("#_parent");
    expect((await runtime.view("o"))?.record.status).toBe("active");
  });

  test("XS-6 #5051 #4617 an event for a child whose state is just left goes from the exit action; from the transition it is refused", async () => {
    const kid = createMachine({
      id: "kid",
      version: "1",
      types: {} as { context: { n: number } },
      context: { n: 0 },
      on: { BYE: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
    });
    const base = setup({ actors: { kid } });
    const leaving = (exit: boolean): AnyStateMachine =>
      base.createMachine({
        id: exit ? "exits" : "transits",
        version: "1",
        initial: "in",
        states: {
          in: {
            invoke: { id: "k", src: "kid" },
            ...(exit ? { exit: sendTo("k", { type: "BYE" }) } : {}),
            on: { OUT: { target: "out", ...(exit ? {} : { actions: sendTo("k", { type: "BYE" }) }) } },
          },
          out: {},
        },
      });
    const { runtime } = await world([leaving(true), leaving(false), kid]);
    await runtime.start("exits", { id: "e", input: undefined });
    await runtime.send("e", { type: "OUT" });
    expect(await runtime.view("e/k")).toMatchObject({ context: { n: 1 }, record: { status: "stopped" } });
    await runtime.start("transits", { id: "t", input: undefined });
    await expect(runtime.send("t", { type: "OUT" })).rejects.toThrow("Unable to send event to actor 'k'");
    expect((await runtime.view("t"))?.value).toBe("in");
  });

  test("XS-6 #5153 a machine that fails leaves nothing of its own running", async () => {
    const kid = createMachine({ id: "kid", version: "1" });
    const failing = setup({ actors: { kid, work: fromPromise(() => new Promise<never>(() => {})), bad: effect<null, undefined>("bad") } }).createMachine({
      id: "failing",
      version: "1",
      invoke: [
        { id: "k", src: "kid" },
        { id: "w", src: "work" },
        { id: "b", src: "bad" },
      ],
      after: { 1000: {} },
    });
    const at = await world([failing, kid], {
      bad: async () => {
        throw new Error("no");
      },
    });
    await at.runtime.adopt("f");
    await at.runtime.start("failing", { id: "f", input: undefined });
    await expect.poll(async () => (await at.runtime.view("f"))?.record.status).toBe("error");
    expect((await at.runtime.view("f/k"))?.record.status).toBe("stopped");
    expect((await at.store.query("effects", { actor: "f" })).items.map(({ invokeId, state }) => [invokeId, state])).toEqual([
      ["w", "dropped"],
      ["b", "failed"],
    ]);
    expect(await at.store.nextDue()).toBeNull();
  });

  test("XS-6 #5454 #5439 a system id holds from the first transition on, is free when its actor stops, and can be given again in the same step", async () => {
    const kid = createMachine({
      id: "kid",
      version: "1",
      types: {} as { context: { n: number } },
      context: { n: 0 },
      on: { ADD: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
    });
    const naming = setup({ actors: { kid } }).createMachine({
      id: "naming",
      version: "1",
      initial: "a",
      entry: sendTo(({ system }) => system.get("it"), { type: "ADD" }),
      states: {
        a: {
          invoke: { id: "k", src: "kid", systemId: "it" },
          entry: sendTo(({ system }) => system.get("it") ?? "k", { type: "ADD" }),
          on: { AGAIN: { target: "a", reenter: true } },
        },
      },
    });
    const { runtime } = await world([naming, kid]);
    await runtime.start("naming", { id: "n", input: undefined });
    for (let round = 0; round < 3; round += 1) await runtime.send("n", { type: "AGAIN" });
    expect((await runtime.view("n/k"))?.record).toMatchObject({ status: "stopped", systemId: "it" });
    expect((await runtime.view("n/k.4"))?.record).toMatchObject({ status: "active", systemId: "it" });
  });

  test("XS-6 events that arrive together are all taken, each once", async () => {
    const counting = setup({ types: {} as { context: { seen: number[] }; events: { type: "ADD"; n: number } } }).createMachine({
      id: "counting",
      version: "1",
      context: { seen: [] },
      on: { ADD: { actions: assign({ seen: ({ context, event }) => [...context.seen, event.n] }) } },
    });
    const { runtime } = await world([counting]);
    await runtime.start("counting", { id: "c", input: undefined });
    const all = Array.from({ length: 300 }, (_, n) => n);
    await Promise.all(all.map((n) => runtime.send("c", { type: "ADD", n })));
    expect((await runtime.view("c"))?.context).toEqual({ seen: all });
  });

  test("XS-6 the end of a child that comes while its parent is in a step is heard after that step", async () => {
    const kid = setup({}).createMachine({ id: "kid", version: "1", initial: "on", states: { on: { on: { END: "off" } }, off: { type: "final" } } });
    const asking = setup({ types: {} as { context: { seen: string[] } }, actors: { kid } }).createMachine({
      id: "asking",
      version: "1",
      context: { seen: [] },
      invoke: { id: "k", src: "kid", onDone: { actions: assign({ seen: ({ context }) => [...context.seen, "done"] }) } },
      on: { GO: { actions: [sendTo("k", { type: "END" }), assign({ seen: ({ context }) => [...context.seen, "went"] })] } },
    });
    const { runtime } = await world([asking, kid]);
    await runtime.start("asking", { id: "a", input: undefined });
    await runtime.send("a", { type: "GO" });
    expect((await runtime.view("a"))?.context).toEqual({ seen: ["went", "done"] });
  });

  test("XS-6 a child that is stopped while it is in a step comes to its end first, and takes nothing of what waits for it", async () => {
    const kid = setup({ types: {} as { context: { seen: string[] } } }).createMachine({
      id: "kid",
      version: "1",
      context: { seen: [] },
      on: {
        GO: { actions: [sendParent({ type: "END_ME" }), sendParent({ type: "GOODBYE" }), assign({ seen: ({ context }) => [...context.seen, "went"] })] },
        LATE: { actions: assign({ seen: ({ context }) => [...context.seen, "late"] }) },
      },
    });
    const strict = setup({ types: {} as { context: { heard: number } }, actors: { kid } }).createMachine({
      id: "strict",
      version: "1",
      context: { heard: 0 },
      invoke: { id: "k", src: "kid" },
      on: { END_ME: { actions: [sendTo("k", { type: "LATE" }), stopChild("k")] }, GOODBYE: { actions: assign({ heard: ({ context }) => context.heard + 1 }) } },
    });
    const { runtime } = await world([strict, kid]);
    await runtime.start("strict", { id: "s", input: undefined });
    await runtime.send("s/k", { type: "GO" });
    expect(await runtime.view("s/k")).toMatchObject({ context: { seen: ["went"] }, record: { status: "stopped", revision: 3 } });
    expect((await runtime.view("s"))?.context).toEqual({ heard: 1 });
  });

  test("XS-6 stopping what is not there is nothing", async () => {
    const stopping = setup({ types: {} as { context: { n: number } } }).createMachine({
      id: "stopping",
      version: "1",
      context: { n: 0 },
      on: { GO: { actions: [stopChild("nobody"), assign({ n: ({ context }) => context.n + 1 })] } },
    });
    const { runtime } = await world([stopping]);
    await runtime.start("stopping", { id: "s", input: undefined });
    expect((await runtime.send("s", { type: "GO" })).status).toBe("applied");
  });
});

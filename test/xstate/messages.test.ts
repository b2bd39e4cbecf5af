/** What leaves a machine: messages and references, what is told, what may be lost; and what a step may not leave behind. */
import { assign, createMachine, emit, enqueueActions, forwardTo, log, sendTo, setup, type AnyActorRef, type AnyStateMachine } from "xstate";
import { describe, expect, test } from "vitest";
import { actorRef } from "../../machines/actorRef.ts";
import { effectAction, volatileAction } from "../../machines/define.ts";
import { createRuntime } from "../../src/runtime/createRuntime.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { world } from "../runtime/kit.ts";
import { again } from "./lost.ts";

type Heard = { readonly type: string; readonly from?: unknown; readonly id?: unknown; readonly at?: unknown };

const listener = setup({ types: {} as { context: { heard: Heard[] }; events: Heard } }).createMachine({
  id: "listener",
  version: "1",
  context: { heard: [] },
  on: { "*": { actions: assign({ heard: ({ context, event }) => [...context.heard, event] }) } },
});

/** What a listener has heard. */
const heardBy = async (runtime: Runtime, id: string): Promise<readonly Heard[]> =>
  ((await runtime.view(id))?.context as { readonly heard: readonly Heard[] } | undefined)?.heard ?? [];

describe("references", () => {
  const caller = setup({
    types: {} as {
      context: { friend: AnyActorRef | null; kid: AnyActorRef };
      events:
        | { type: "MEET"; friend: AnyActorRef }
        | { type: "CALL" }
        | { type: "CALL_LATER" }
        | { type: "SHOW" }
        | { type: "hello"; from: AnyActorRef }
        | { type: "SAME"; ref: AnyActorRef };
      emitted: { type: "same"; is: boolean };
    },
    actors: { listener },
  }).createMachine({
    id: "caller",
    version: "1",
    context: ({ spawn }) => ({ friend: null, kid: spawn("listener", { id: "kid" }) }),
    on: {
      MEET: { actions: assign({ friend: ({ event }) => event.friend }) },
      CALL: {
        actions: sendTo(
          ({ context, self }) => context.friend ?? self,
          ({ self }) => ({ type: "hello", from: self }),
        ),
      },
      CALL_LATER: {
        actions: sendTo(
          ({ context, self }) => context.friend ?? self,
          ({ self }) => ({ type: "hello", from: self }),
          { delay: 1000 },
        ),
      },
      SHOW: { actions: sendTo("kid", ({ context }) => ({ type: "shown", from: context.kid })) },
      SAME: { actions: emit(({ context, event }) => ({ type: "same", is: event.ref === context.kid })) },
    },
  });

  test("XS-7 a machine sends to an actor of another tree, by a reference that is kept over a restore, now and later", async () => {
    const first = await world([caller, listener]);
    await first.runtime.start("listener", { id: "far", input: undefined });
    await first.runtime.start("caller", { id: "c", input: undefined });
    await first.runtime.send("c", { type: "MEET", friend: actorRef("far") });
    const second = await again(first, [caller, listener]);
    await second.runtime.send("c", { type: "CALL" });
    await second.runtime.send("c", { type: "CALL_LATER" });
    second.clock.advance(1000);
    await expect.poll(async () => (await heardBy(second.runtime, "far")).length).toBe(2);
    const heard = await heardBy(second.runtime, "far");
    expect(heard).toEqual([0, 1].map(() => expect.objectContaining({ type: "hello", from: { xstate$$type: 1, id: "c", actor: "c" } })));
  });

  test("XS-7 a reference that comes back to the parent of its actor is that parent's own child", async () => {
    const { runtime, changes } = await world([caller, listener]);
    await runtime.start("caller", { id: "c", input: undefined });
    await runtime.send("c", { type: "SHOW" });
    const [shown] = await heardBy(runtime, "c/kid");
    expect(shown).toMatchObject({ from: { xstate$$type: 1, id: "kid", actor: "c/kid" } });
    await runtime.send("c", { type: "SAME", ref: shown?.from });
    expect(changes.filter(({ kind }) => kind === "emitted")).toMatchObject([{ event: { type: "same", is: true } }]);
  });

  test("XS-7 what is sent to an actor that is not there is lost, and nothing else", async () => {
    const { runtime } = await world([caller, listener]);
    await runtime.start("caller", { id: "c", input: undefined });
    await runtime.send("c", { type: "MEET", friend: actorRef("nobody") });
    expect((await runtime.send("c", { type: "CALL" })).status).toBe("applied");
  });
});

describe("messages", () => {
  test("XS-8 an event that is sent on leaves its envelope behind; fields that are its own it keeps", async () => {
    const passing = setup({ actors: { listener } }).createMachine({
      id: "passing",
      version: "1",
      invoke: { id: "l", src: "listener" },
      on: { "*": { actions: forwardTo("l") } },
    });
    const wide = setup({ actors: { listener } }).createMachine({
      id: "wide",
      version: "1",
      invoke: { id: "l", src: "listener", onDone: {}, onError: {} },
      on: { "*": { actions: forwardTo("l") } },
    });
    await expect(world([passing, listener])).rejects.toThrow("takes");
    const { runtime, store } = await world([wide, listener]);
    await runtime.start("wide", { id: "w", input: undefined });
    await runtime.send("w", { type: "plain", n: 1 }, { eventId: "e1" });
    await runtime.send("w", { type: "own", id: 5, at: "home" }, { eventId: "e2" });
    const heard = await heardBy(runtime, "w/l");
    expect(heard).toMatchObject([
      { type: "plain", n: 1, id: "e1/1", at: expect.any(Number) },
      { type: "own", id: 5, at: "home" },
    ]);
    const rows = await store.journal("w/l", 2, 10);
    expect(rows.map(({ eventId, payload }) => [eventId, payload && "json" in payload && JSON.parse(payload.json)])).toEqual([
      ["e1/1", { n: 1 }],
      ["e2/1", { id: 5, at: "home" }],
    ]);
  });

  test("XS-8 what a machine was given and what it gives is nobody else's: changing it outside changes nothing inside", async () => {
    const keeping = setup({
      types: {} as {
        context: { list: number[] };
        input: { list: number[] };
        events: { type: "KEEP"; list: number[] } | { type: "LOOK" };
        emitted: { type: "list"; list: number[] };
      },
    }).createMachine({
      id: "keeping",
      version: "1",
      context: ({ input }) => ({ list: input.list }),
      on: { KEEP: { actions: assign({ list: ({ event }) => event.list }) }, LOOK: { actions: emit(({ context }) => ({ type: "list", list: context.list })) } },
    });
    const { runtime, changes } = await world([keeping]);
    const given = [1];
    await runtime.start("keeping", { id: "k", input: { list: given } });
    given.push(2);
    await runtime.send("k", { type: "LOOK" });
    const sent = [3];
    await runtime.send("k", { type: "KEEP", list: sent });
    sent.push(4);
    await runtime.send("k", { type: "LOOK" });
    expect(changes.flatMap((change) => (change.kind === "emitted" ? [change.event["list"]] : []))).toEqual([[1], [3]]);
  });
});

describe("what is told and what may be lost", () => {
  const telling = (act: () => void): AnyStateMachine =>
    setup({ types: {} as { context: { n: number }; emitted: { type: "counted"; n: number } }, actions: { beep: volatileAction(act) } }).createMachine({
      id: "telling",
      version: "1",
      context: { n: 0 },
      on: {
        GO: {
          actions: [
            assign({ n: ({ context }) => context.n + 1 }),
            log(({ context }) => context.n, "count"),
            emit(({ context }) => ({ type: "counted", n: context.n })),
            "beep",
          ],
        },
        BAD: {
          actions: [
            "beep",
            emit({ type: "counted", n: -1 }),
            assign(() => {
              throw new Error("no");
            }),
          ],
        },
      },
    });

  test("XS-9 emitted events, logs and volatile actions come after the commit, once, and not at all when the event is refused", async () => {
    const seen: unknown[] = [];
    let stored: () => Promise<number> = async () => 0;
    const { runtime, store } = await world([telling(() => seen.push(["beep", stored()]))]);
    stored = async () => (await store.load(["t"]))[0]?.revision ?? 0;
    runtime.subscribe((change) => {
      if (change.kind === "emitted") seen.push([change.event.type, stored()]);
      if (change.kind === "log") seen.push([change.label, change.value, stored()]);
    });
    await runtime.start("telling", { id: "t", input: undefined });
    await runtime.send("t", { type: "GO" });
    await expect(runtime.send("t", { type: "BAD" })).rejects.toThrow("no");
    const told = await Promise.all(seen.map(async (one) => Promise.all(one as unknown[])));
    expect(told).toEqual([
      ["count", 1, 2],
      ["counted", 2],
      ["beep", 2],
    ]);
  });

  test("XS-9 a volatile action gets copies, cannot send, and what it throws is only reported", async () => {
    const spying = setup({
      types: {} as { context: { list: number[] } },
      actions: {
        spy: volatileAction(({ context, self }: { context: { list: number[] }; self: AnyActorRef }) => {
          context.list.push(99);
          self.send({ type: "GO" });
        }),
      },
    }).createMachine({
      id: "spying",
      version: "1",
      context: { list: [] },
      on: { GO: { actions: [assign({ list: ({ context }) => [...context.list, 1] }), "spy"] } },
    });
    const { runtime, errors } = await world([spying]);
    await runtime.start("spying", { id: "s", input: undefined });
    await runtime.send("s", { type: "GO" });
    await runtime.send("s", { type: "GO" });
    expect((await runtime.view("s"))?.context).toEqual({ list: [1, 1] });
    expect(errors.map(String)).toEqual([expect.stringContaining("called send()"), expect.stringContaining("called send()")]);
  });
});

describe("a step that comes to nothing", () => {
  const careless = setup({
    types: {} as { context: { list: number[] } },
    actions: {
      push: assign(({ context }) => {
        context.list.push(context.list.length);
        return { list: context.list };
      }),
      fail: assign(() => {
        throw new Error("no");
      }),
      pay: effectAction("pay"),
    },
  }).createMachine({ id: "careless", version: "1", context: { list: [] }, on: { ADD: { actions: "push" }, BAD: { actions: ["push", "fail"] } } });

  test("XS-10 a refused event leaves no trace in memory, even of an assign that changed its context in place", async () => {
    const { runtime } = await world([careless]);
    await runtime.start("careless", { id: "c", input: undefined });
    await runtime.send("c", { type: "ADD" });
    const group = await Promise.allSettled([runtime.send("c", { type: "ADD" }), runtime.send("c", { type: "BAD" }), runtime.send("c", { type: "ADD" })]);
    expect(group.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await expect(runtime.send("c", { type: "BAD" })).rejects.toThrow("no");
    expect((await runtime.view("c"))?.context).toEqual({ list: [0, 1, 2] });
    await runtime.send("c", { type: "ADD" });
    expect((await runtime.view("c"))?.context).toEqual({ list: [0, 1, 2, 3] });
  });

  test("XS-10 a machine that looks for a name is stepped once as far as anybody sees", async () => {
    const asking = setup({ types: {} as { context: { list: number[] } } }).createMachine({
      id: "asking",
      version: "1",
      context: { list: [] },
      on: {
        GO: {
          actions: [
            assign(({ context }) => {
              context.list.push(1);
              return { list: context.list };
            }),
            enqueueActions(({ system, enqueue }) => {
              if (system.get("nobody") === undefined) enqueue.emit({ type: "alone" } as never);
            }),
          ],
        },
      },
    });
    const { runtime, changes } = await world([asking]);
    await runtime.start("asking", { id: "a", input: undefined });
    await runtime.send("a", { type: "GO" });
    expect((await runtime.view("a"))?.context).toEqual({ list: [1] });
    expect(changes.filter(({ kind }) => kind === "emitted")).toHaveLength(1);
  });

  test("XS-10 an endless loop of microsteps or of starting children is refused with nothing stored", async () => {
    const looping = createMachine({ id: "looping", version: "1", initial: "a", states: { a: { on: { GO: "b" } }, b: { always: "c" }, c: { always: "b" } } });
    const raising = createMachine({ id: "raising", version: "1", on: { GO: { actions: enqueueActions(({ enqueue }) => enqueue.raise({ type: "GO" })) } } });
    const nesting = setup({ actors: {} as { self: AnyStateMachine } }).createMachine({ id: "nesting", version: "1", invoke: { id: "n", src: "self" } });
    const endless: AnyStateMachine = nesting.provide({ actors: { self: nesting } });
    Object.assign(nesting.implementations.actors, { self: nesting });
    const { runtime, store } = await world([looping, raising]);
    for (const id of ["looping", "raising"]) {
      await runtime.start(id, { id, input: undefined });
      await expect(runtime.send(id, { type: "GO" })).rejects.toThrow("Infinite loop detected");
      expect(await store.journal(id, 0, 10)).toHaveLength(1);
    }
    const other = await createRuntime({ store, executors: {}, definitions: createRegistry([defineMachine(endless)]) });
    await expect(other.start("nesting", { id: "n", input: undefined })).rejects.toThrow("more than 1000 steps");
    expect(await store.load(["n", "n/n"])).toEqual([]);
    await other.close();
  });
});

import { assign, fromPromise, setup, spawnChild, type AnyStateMachine } from "xstate";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { effect, volatileAction } from "../../machines/define.ts";
import { definitionDigest } from "../../src/runtime/definitionDigest.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import { createDefinitions } from "../../src/runtime/restore.ts";
import { Upgrades } from "./restoreKit.ts";

/** A machine of this chart, with sources, guards and actions to name. */
const chart = (version: string, config: object, id = "work") =>
  setup({
    types: {} as { context: object; events: { type: string } },
    actors: {
      load: effect<{ ok: boolean }, unknown>("test.load"),
      fetch: fromPromise(async () => 1),
      part: setup({}).createMachine({ id: "part", version: "1" }),
    },
    actions: { spawnPart: spawnChild("part", { id: "p" }), note: volatileAction(() => {}) },
    guards: { ready: () => true },
    delays: { soon: 1000 },
  }).createMachine({ id, version, ...config } as never) as unknown as AnyStateMachine; // charts are data here: their types are not under test

const linear = { initial: "waiting", states: { waiting: { on: { go: "done" } }, done: { type: "final" } } };

async function storedIn(config: object, events: readonly string[] = []): Promise<Upgrades> {
  const upgrades = new Upgrades();
  const runtime = await upgrades.open([defineMachine(chart("1", config))]);
  await runtime.start("work", { id: "a", input: undefined });
  for (const type of events) await runtime.send("a", { type });
  return upgrades;
}

/** What a machine of another chart, taken for the same version, says of the stored actor. */
async function refusal(stored: object, events: readonly string[], now: object): Promise<string> {
  const upgrades = await storedIn(stored, events);
  const before = await upgrades.record("a");
  const runtime = await upgrades.open([defineMachine(chart("1", now))]);
  const error: unknown = await runtime.send("a", { type: "go" }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "restoreRefused", subject: "a" });
  expect(await upgrades.record("a")).toEqual(before);
  return error instanceof Error ? error.message : "";
}

describe("what is registered", () => {
  test("RESTORE-1 an actor whose machine is not registered is refused by name with the closest, and nothing of it changes", async () => {
    const upgrades = await storedIn(linear);
    const runtime = await upgrades.open([defineMachine(chart("1", linear, "works")), defineMachine(chart("1", linear, "other"))]);
    await expect(runtime.send("a", { type: "go" })).rejects.toThrow(
      'Actor "a" was saved by machine "work" version 1, which is not registered; closest: "works"',
    );
    expect((await upgrades.record("a")).revision).toBe(1);
  });

  test("RESTORE-1 an actor of a version that is gone is told what is registered and which ways there are", async () => {
    const upgrades = await storedIn(linear);
    const migrated = defineMachine(chart("3", linear), { migrations: [{ from: "2", to: "3", migrate: (persisted) => persisted }] });
    const runtime = await upgrades.open([migrated]);
    await expect(runtime.send("a", { type: "go" })).rejects.toThrow(
      "only version 3 is registered, which has migrations 2 to 3. Keep version 1 registered beside it, or give a migration from 1",
    );
  });

  test("RESTORE-1 an actor goes on with its own version while that is registered beside a newer one", async () => {
    const upgrades = await storedIn(linear);
    const newer = defineMachine(chart("2", { initial: "elsewhere", states: { elsewhere: {} } }), {
      migrations: [{ from: "1", to: "2", migrate: () => expect.unreachable() }],
    });
    const runtime = await upgrades.open([defineMachine(chart("1", linear)), newer]);
    expect(await runtime.send("a", { type: "go" })).toMatchObject({ status: "applied" });
    expect(await upgrades.record("a")).toMatchObject({ machineVersion: "1", status: "done" });
  });
});

describe("what does not fit", () => {
  const nested = { initial: "working", states: { working: { initial: "drafting", states: { drafting: {}, checking: {} } }, done: {} } };
  const regions = {
    type: "parallel",
    states: { sound: { initial: "on", states: { on: {}, off: {} } }, light: { initial: "dim", states: { dim: {}, bright: {} } } },
  };

  test.each([
    ["a state that was renamed", linear, { initial: "awaiting", states: { awaiting: {}, done: {} } }, 'state "waiting" is gone; closest: "awaiting"'],
    [
      "one below another state",
      nested,
      { initial: "working", states: { working: { initial: "draftings", states: { draftings: {}, checking: {} } } } },
      'state "working.drafting" is gone; closest: "draftings"',
    ],

    [
      "one of a region",
      regions,
      { type: "parallel", states: { sound: regions.states.sound, light: { initial: "low", states: { low: {}, bright: {} } } } },
      'state "light.dim" is gone',
    ],
    [
      "a region that is gone",
      regions,
      { type: "parallel", states: { sound: regions.states.sound, lights: regions.states.light } },
      'state "light" is gone; closest: "lights"',
    ],
  ])("RESTORE-2 case 110 case 112 %s is named", async (_, before, now, text) => {
    expect(await refusal(before, [], now)).toContain(text);
  });

  test("RESTORE-2 case 112 every region that does not fit is named at once", async () => {
    const now = { type: "parallel", states: { sound: { initial: "loud", states: { loud: {} } }, light: { initial: "bright", states: { bright: {} } } } };
    expect(await refusal(regions, [], now)).toMatch(/state "sound\.on" is gone.*; state "light\.dim" is gone/);
  });

  const withHistory = (name: string) => ({
    initial: "on",
    states: {
      on: { initial: "a", states: { a: { on: { next: "b" } }, b: {}, [name]: { type: "history" } }, on: { off: "off" } },
      off: { on: { back: `on.${name}` } },
    },
  });

  test.each([
    [
      "a state that has states inside now",
      linear,
      [],
      { initial: "waiting", states: { waiting: { initial: "x", states: { x: {}, y: {} } }, done: {} } },
      'state "waiting" had no states inside and now is one with "x", "y"',
    ],
    ["a new region", { type: "parallel", states: { sound: regions.states.sound } }, [], regions, 'state "light" is a new region of machine "work"'],
    [
      "a state that became parallel",
      nested,
      [],
      { initial: "working", states: { working: { type: "parallel", states: { drafting: {}, checking: {} } } } },
      'state "working" is parallel now, and the actor is in "drafting" of it only',
    ],
    [
      "a parallel state that no longer is",
      regions,
      [],
      { initial: "sound", states: { sound: regions.states.sound, light: regions.states.light } },
      "was parallel and is not any more",
    ],
    ["a machine that had no states", {}, [], linear, 'which state of machine "work" the actor is in is not stored; it has: "waiting", "done"'],
    ["a state that lost its states", nested, [], { initial: "working", states: { working: {}, done: {} } }, 'state "working" has no states inside any more'],
    [
      "a history state that was renamed",
      withHistory("memory"),
      ["next", "off"],
      withHistory("memories"),
      'history state "work.on.memory" is gone, and what it remembers would be lost; closest: "work.on.memories"',
    ],
    [
      "a state that a history remembers",
      withHistory("memory"),
      ["next", "off"],
      { ...withHistory("memory"), states: { ...withHistory("memory").states, on: { initial: "a", states: { a: {}, c: {}, memory: { type: "history" } } } } },
      'state "work.on.b", which history state "work.on.memory" remembers, is gone',
    ],
    [
      "a child whose source is gone",
      { initial: "x", states: { x: { invoke: { id: "l", src: "load" } } } },
      [],
      { initial: "x", states: { x: {} } },
      'child "l" is running, and no state that the actor is in invokes it',
    ],
    [
      "an invoke that was renamed",
      { initial: "x", states: { x: { invoke: { id: "l", src: "load" } } } },
      [],
      { initial: "x", states: { x: { invoke: { id: "m", src: "load" } } } },
      'state "x" invokes "m" ("load"), and no such child is running',
    ],
  ])("RESTORE-3 %s, of which XState says nothing, is named", async (_, before, events, now, text) => {
    expect(await refusal(before, events, now)).toContain(text);
  });

  test("RESTORE-3 a source that is gone or has become another thing is named", () => {
    const stored = (src: string, link: object) =>
      ({
        id: "a",
        revision: 1,
        machineId: "work",
        machineVersion: "1",
        definitionDigest: definition.digest,
        status: "active",
        parent: null,
        childKey: null,
        systemId: null,
        root: "a",
        createdAt: 0,
        updatedAt: 0,
        snapshot: JSON.stringify({
          status: "active",
          value: "waiting",
          context: {},
          historyValue: {},
          children: { c: { src, snapshot: { status: "active", ...link } } },
        }),
      }) as const;
    const definition = defineMachine(chart("1", linear));
    const { hydrate } = createDefinitions(createRegistry([definition]));
    expect(() => hydrate(definition, stored("loads", { effect: "k" }))).toThrow(
      'child "c" comes from "loads", which is not among the machine\'s actors any more; closest: "load"',
    );
    expect(() => hydrate(definition, stored("part", { effect: "k" }))).toThrow('child "c" runs as a promise or an effect, but "part" is a machine now');
    expect(() => hydrate(definition, stored("load", { actor: "k" }))).toThrow('child "c" runs as a machine, but "load" is a promise or an effect now');
    expect(hydrate(definition, stored("fetch", { effect: "k" })).snapshot.value).toBe("waiting");
  });

  test("RESTORE-4 a context that does not fit its schema is refused with the path, before the event is seen", async () => {
    const upgrades = new Upgrades();
    const machine = chart("1", { ...linear, context: { order: { id: 7 } } });
    const first = await upgrades.open([defineMachine(machine)]);
    await first.start("work", { id: "a", input: undefined });
    const second = await upgrades.open([defineMachine(machine, { context: z.object({ order: z.object({ id: z.string() }), owner: z.string() }) })]);
    await expect(second.send("a", { type: "go" })).rejects.toThrow(
      /context does not fit its schema at "order\.id".*context does not fit its schema at "owner"/s,
    );
    const third = await upgrades.open([defineMachine(machine, { context: z.object({ order: z.object({ id: z.number() }) }) })]);
    expect(await third.send("a", { type: "go" })).toMatchObject({ status: "applied" });
  });
});

describe("the digest of a definition", () => {
  const digest = (config: object): string => definitionDigest(chart("1", config));

  test.each([
    ["a description", { ...linear, description: "What it is" }, linear],
    ["a state's meta and description", { initial: "a", states: { a: { meta: { color: "red" }, description: "Waits" } } }, { initial: "a", states: { a: {} } }],
    ["a transition's description", { on: { go: { actions: "note", description: "Goes" } } }, { on: { go: { actions: "note" } } }],
  ])("RESTORE-5 does not change with %s", (_, one, other) => {
    expect(digest(one)).toBe(digest(other));
  });

  const states = (waiting: object) => ({ initial: "waiting", states: { waiting, done: {} } });
  test.each([
    ["another target", states({ on: { go: "done" } }), states({ on: { go: "waiting" } })],
    ["another guard", states({ on: { go: { target: "done", guard: "ready" } } }), states({ on: { go: "done" } })],
    ["another delay", states({ after: { 10: "done" } }), states({ after: { 20: "done" } })],
    ["another source", states({ invoke: { id: "i", src: "load" } }), states({ invoke: { id: "i", src: "fetch" } })],
    ["another entry action", states({ entry: "note" }), states({ entry: "spawnPart" })],
    ["the settings of an action of XState's", states({ entry: spawnChild("part", { id: "p" }) }), states({ entry: spawnChild("part", { id: "q" }) })],
    ["a state named meta", states({}), { initial: "waiting", states: { waiting: {}, done: {}, meta: {} } }],
    ["an event named description", states({ on: {} }), states({ on: { description: "done" } })],
  ])("RESTORE-5 changes with %s", (_, one, other) => {
    expect(digest(one)).not.toBe(digest(other));
  });

  test("RESTORE-5 changes with the number of a named delay, not with the inside of a function", () => {
    const delayed = (soon: number) =>
      setup({ delays: { soon } }).createMachine({ id: "d", version: "1", initial: "a", states: { a: { after: { soon: "b" } }, b: {} } });
    expect(definitionDigest(delayed(10))).not.toBe(definitionDigest(delayed(20)));
    const assigning = (by: number) => setup({}).createMachine({ id: "d", version: "1", context: { n: 0 }, on: { add: { actions: assign({ n: () => by }) } } });
    expect(definitionDigest(assigning(1))).toBe(definitionDigest(assigning(2)));
  });

  test("RESTORE-5 is made of the version alone where an identity is given", () => {
    const of = (config: object, identity?: string) => defineMachine(chart("1", config), identity === undefined ? {} : { identity }).digest;
    expect(of(linear, "pawl")).toBe(of(states({}), "pawl"));
    expect(of(linear, "pawl")).not.toBe(of(linear, "pawl 2"));
    expect(of(linear)).not.toBe(of(states({})));
  });
});

describe("an actor that cannot be restored", () => {
  const timed = { initial: "waiting", states: { waiting: { after: { 1000: "done" } }, done: { type: "final" } } };

  test("RESTORE-6 case 97 keeps no other's timers from firing, and its own fires once it can be restored", async () => {
    const upgrades = new Upgrades();
    const both = [defineMachine(chart("1", timed)), defineMachine(chart("1", timed, "other"))];
    const first = await upgrades.open(both);
    await first.start("work", { id: "a", input: undefined });
    await first.start("other", { id: "b", input: undefined });
    upgrades.clock.advance(500);
    await first.start("other", { id: "c", input: undefined });
    await upgrades.open(both.slice(1));
    upgrades.clock.advance(500);
    await expect.poll(async () => (await upgrades.record("b")).status).toBe("done");
    upgrades.clock.advance(500);
    await expect.poll(async () => (await upgrades.record("c")).status).toBe("done");
    expect(await upgrades.record("a")).toMatchObject({ revision: 1, status: "active" });
    expect(upgrades.errors).toEqual([expect.objectContaining({ code: "restoreRefused", subject: "a" })]);
    await upgrades.open(both);
    await expect.poll(async () => (await upgrades.record("a")).status).toBe("done");
  });

  test("RESTORE-7 is stopped with what holds it, and its effects with it", async () => {
    const upgrades = new Upgrades();
    const child = { initial: "x", states: { x: { invoke: { id: "l", src: "load" } } } };
    const parent = (childMachine: AnyStateMachine) =>
      setup({ actors: { child: childMachine } }).createMachine({
        id: "parent",
        version: "1",
        initial: "on",
        states: { on: { invoke: { id: "child", src: "child" }, on: { off: "off" } }, off: {} },
      });
    const first = await upgrades.open([defineMachine(parent(chart("1", child))), defineMachine(chart("1", child))]);
    await first.start("parent", { id: "p", input: undefined });
    const second = await upgrades.open([defineMachine(parent(chart("2", child))), defineMachine(chart("2", child))]);
    await expect(second.send("p/child", { type: "go" })).rejects.toThrow("only version 2 is registered");
    expect(await second.send("p", { type: "off" })).toMatchObject({ status: "applied" });
    expect(await upgrades.record("p/child")).toMatchObject({ status: "stopped", machineVersion: "1", revision: 2 });
    expect((await upgrades.store.effects(["p/child@1:0"]))[0]).toMatchObject({ state: "dropped" });
  });
});

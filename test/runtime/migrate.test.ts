import { raise, setup, spawnChild, type AnyStateMachine } from "xstate";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { effect } from "../../machines/define.ts";
import type { PersistedActor } from "../../src/runtime/definition.ts";
import { defineMachine, type DefinitionExtras } from "../../src/runtime/registry.ts";
import { Upgrades } from "./restoreKit.ts";

const minute = 60_000;

/** An order in three versions: 2 renames its states and a child, 3 adds a field and a reminder. */
const order = (version: string, config: object): AnyStateMachine =>
  setup({
    types: {} as { context: object; events: { type: string } },
    actors: { pay: effect<{ paid: number }, unknown>("shop.pay"), look: effect<number, unknown>("shop.look"), part: part("1") },
    delays: { patience: () => 5 * minute },
  }).createMachine({ id: "order", version, ...config } as never) as unknown as AnyStateMachine; // charts are data here: their types are not under test

const part = (version: string): AnyStateMachine =>
  setup({ types: {} as { output: number } }).createMachine({
    id: "part",
    version,
    initial: "a",
    states: { a: { on: { go: "b" } }, b: { type: "final" } },
    output: 7,
  });

const paying = (state: string, invoke: string) => ({
  initial: state,
  context: { total: 12 },
  states: {
    [state]: { invoke: { id: invoke, src: "pay", onDone: "paid" }, after: { [10 * minute]: "late" } },
    paid: { type: "final" },
    late: { type: "final" },
  },
});

const toPaying = { from: "1", to: "2", migrate: (persisted: PersistedActor) => ({ ...persisted, value: "paying" }) };

const pending = (): { executors: { "shop.pay": () => Promise<{ output: { paid: number } }> }; pay: () => void } => {
  let pay = (): void => {};
  const paid = new Promise<{ output: { paid: number } }>((resolve) => (pay = () => resolve({ output: { paid: 12 } })));
  return { executors: { "shop.pay": () => paid }, pay };
};

describe("a migration", () => {
  test("RESTORE-10 is one commit, journalled with both versions and a base of its own", async () => {
    const upgrades = new Upgrades();
    const first = await upgrades.open([defineMachine(order("1", paying("charging", "pay")))]);
    await first.start("order", { id: "o", input: undefined });
    const commit = vi.spyOn(upgrades.store, "commit");
    const definition = defineMachine(order("2", paying("paying", "pay")), { migrations: [toPaying] });
    await upgrades.open([definition]);
    expect(commit.mock.calls.map(([commits]) => commits.length)).toEqual([1]);
    expect(await upgrades.record("o")).toMatchObject({ revision: 2, machineVersion: "2", definitionDigest: definition.digest });
    const [, row] = await upgrades.store.journal("o", 1, 10);
    expect(row).toMatchObject({ type: "pawl.migrated", payload: { json: '{"from":"1","to":"2"}' }, machineVersion: "2", stateValue: '"paying"' });
    expect(row?.snapshot).toBe((await upgrades.record("o")).snapshot);
  });

  test("RESTORE-10 goes through every version on the way, forward only, and only once", async () => {
    const upgrades = new Upgrades();
    const first = await upgrades.open([defineMachine(order("1", paying("charging", "pay")))]);
    await first.start("order", { id: "o", input: undefined });
    const seen: string[] = [];
    const step = (from: string, to: string) => ({
      from,
      to,
      migrate: (persisted: PersistedActor) => (seen.push(to), { ...persisted, value: "paying", context: { ...Object(persisted.context), [`v${to}`]: true } }),
    });
    const third = defineMachine(order("3", paying("paying", "pay")), { migrations: [step("2", "3"), step("1", "2"), step("3", "1")] });
    await upgrades.open([third]);
    await upgrades.open([third]);
    expect(seen).toEqual(["2", "3"]);
    expect(JSON.parse((await upgrades.record("o")).snapshot)).toMatchObject({ context: { total: 12, v2: true, v3: true } });
  });

  test("RESTORE-10 happens with the next event too, when nobody opened the runtime since, and the event counts", async () => {
    const upgrades = new Upgrades();
    const lazy = (version: string) => order(version, { initial: "a", states: { a: { on: { go: "b" } }, b: {} } });
    const first = await upgrades.open([defineMachine(lazy("1"))]);
    await first.start("order", { id: "o", input: undefined });
    const second = await upgrades.open([defineMachine(lazy("2"), { migrations: [{ from: "1", to: "2", migrate: (persisted) => persisted }] })]);
    const before = await upgrades.record("o");
    expect(await second.send("o", { type: "go" }, { expectedRevision: before.revision })).toMatchObject({ status: "applied", revision: before.revision + 1 });
    expect((await upgrades.store.journal("o", 1, 10)).map((row) => [row.type, row.machineVersion])).toEqual([
      ["xstate.init", "1"],
      ["pawl.migrated", "2"],
      ["go", "2"],
    ]);
  });

  test("RESTORE-11 carries a timer to the state that took the place of its own, due when it was", async () => {
    const upgrades = new Upgrades();
    const first = await upgrades.open([defineMachine(order("1", paying("charging", "pay")))]);
    await first.start("order", { id: "o", input: undefined });
    const due = upgrades.clock.now() + 10 * minute;
    upgrades.clock.advance(4 * minute);
    await upgrades.open([defineMachine(order("2", paying("paying", "pay")), { migrations: [toPaying] })]);
    expect(await upgrades.store.timers("o")).toEqual([expect.objectContaining({ key: `xstate.after.${10 * minute}.order.paying`, dueAt: due })]);
    upgrades.clock.advance(6 * minute);
    await expect.poll(async () => (await upgrades.record("o")).snapshot).toContain('"value":"late"');
  });

  test("RESTORE-11 carries an effect to the invoke that took the place of its own: it is not asked for again, and its result arrives", async () => {
    const upgrades = new Upgrades();
    const { executors, pay } = pending();
    const first = await upgrades.open([defineMachine(order("1", paying("charging", "charge")))]);
    await first.start("order", { id: "o", input: undefined });
    const second = await upgrades.open([defineMachine(order("2", paying("paying", "pay")), { migrations: [toPaying] })], { executors });
    expect((await upgrades.store.query("effects", {})).items).toEqual([expect.objectContaining({ key: "o@1:0", invokeId: "charge", state: "planned" })]);
    await second.adopt("o");
    pay();
    await expect.poll(async () => (await upgrades.record("o")).status).toBe("done");
    expect((await upgrades.store.journal("o", 3, 1))[0]?.type).toBe("xstate.done.actor.pay");
  });

  test("RESTORE-11 carries a child actor to the invoke that took the place of its own", async () => {
    const upgrades = new Upgrades();
    const holding = (version: string, invoke: string) =>
      order(version, { initial: "on", states: { on: { invoke: { id: invoke, src: "part", onDone: "off" } }, off: { type: "final" } } });
    const first = await upgrades.open([defineMachine(holding("1", "child")), defineMachine(part("1"))]);
    await first.start("order", { id: "o", input: undefined });
    const second = await upgrades.open([
      defineMachine(holding("2", "kid"), { migrations: [{ from: "1", to: "2", migrate: (persisted) => persisted }] }),
      defineMachine(part("1")),
    ]);
    await second.send("o/child", { type: "go" });
    expect(await upgrades.record("o")).toMatchObject({ status: "done", machineVersion: "2" });
  });

  test("RESTORE-12 arms what a new version waits for, starts what it invokes, and ends what it no longer wants", async () => {
    const upgrades = new Upgrades();
    const first = await upgrades.open([
      defineMachine(order("1", { initial: "a", states: { a: { invoke: { id: "pay", src: "pay" }, after: { 1000: "b" } }, b: {} } })),
    ]);
    await first.start("order", { id: "o", input: undefined });
    upgrades.clock.advance(500);
    const now = upgrades.clock.now();
    const chart = {
      initial: "a",
      context: { what: "x" },
      states: {
        a: {
          invoke: [
            { id: "look", src: "look", input: ({ context }: { context: object }) => ({ given: context }), onDone: "seen" },
            { id: "part", src: "part" },
          ],
          after: { patience: "b" },
        },
        b: {},
        seen: { type: "final" },
      },
    };
    const migrations = [{ from: "1", to: "2", migrate: (persisted: PersistedActor) => ({ ...persisted, context: { what: "y" } }) }];
    const second = await upgrades.open([defineMachine(order("2", chart), { migrations }), defineMachine(part("1"))], {
      executors: { "shop.look": async (task) => ({ output: task.input }) },
    });
    expect(await upgrades.store.timers("o")).toEqual([expect.objectContaining({ key: "xstate.after.patience.order.a", dueAt: now + 5 * minute })]);
    expect((await upgrades.store.query("effects", {})).items.map(({ key, state }) => [key, state])).toEqual([
      ["o@1:0", "dropped"],
      ["o@2:0", "planned"],
    ]);
    expect(await upgrades.record("o/part")).toMatchObject({ status: "active", parent: "o", childKey: "part" });
    await second.adopt("o");
    await expect.poll(async () => (await upgrades.record("o")).status).toBe("done");
    const last = (await upgrades.store.journal("o", 3, 10)).at(0);
    expect(last?.payload).toEqual({ json: expect.stringContaining('"output":{"given":{"what":"y"}}') });
    expect(await upgrades.record("o/part")).toMatchObject({ status: "stopped" });
  });

  test("RESTORE-12 leaves alone what it cannot judge: children that an action may have spawned, timers of the author's own", async () => {
    const upgrades = new Upgrades();
    const spawning = (version: string) =>
      order(version, { initial: "a", states: { a: {} }, entry: [spawnChild("part", { id: "p" }), raise({ type: "later" }, { id: "mine", delay: minute })] });
    const first = await upgrades.open([defineMachine(spawning("1")), defineMachine(part("1"))]);
    await first.start("order", { id: "o", input: undefined });
    await upgrades.open([defineMachine(spawning("2"), { migrations: [{ from: "1", to: "2", migrate: (persisted) => persisted }] }), defineMachine(part("1"))]);
    expect(await upgrades.record("o")).toMatchObject({ machineVersion: "2" });
    expect(await upgrades.record("o/p")).toMatchObject({ status: "active" });
    expect((await upgrades.store.timers("o")).map(({ key }) => key)).toEqual(["mine"]);
  });
});

describe("a migration that cannot be", () => {
  const attempt = async (
    migrate: (persisted: PersistedActor) => PersistedActor,
    extras: DefinitionExtras = {},
  ): Promise<{ message: string; upgrades: Upgrades }> => {
    const upgrades = new Upgrades();
    const first = await upgrades.open([defineMachine(order("1", paying("charging", "pay")))]);
    await first.start("order", { id: "o", input: undefined });
    const before = await upgrades.record("o");
    const second = await upgrades.open([defineMachine(order("2", paying("paying", "pay")), { ...extras, migrations: [{ from: "1", to: "2", migrate }] })]);
    const error: unknown = await second.send("o", { type: "go" }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "restoreRefused", subject: "o" });
    expect(await upgrades.record("o")).toEqual(before);
    expect(upgrades.errors).toHaveLength(1);
    return { message: error instanceof Error ? error.message : "", upgrades };
  };

  test.each<[string, (persisted: PersistedActor) => PersistedActor, string]>([
    [
      "a hook that throws",
      () => {
        throw new Error("no total");
      },
      "could not be migrated from 1 to 2: no total",
    ],
    ["a state that does not exist", (persisted) => persisted, 'state "charging" is gone'],
    ["a value that JSON cannot carry", (persisted) => ({ ...persisted, context: { at: new Date(0) } }), 'holds a Date at "context.at"'],
    ["an end that is not the machine's", (persisted) => ({ ...persisted, value: "paid", status: "done" }), 'set its status to "done"'],
  ])("RESTORE-13 with %s is refused and changes nothing", async (_, migrate, text) => {
    expect((await attempt(migrate)).message).toContain(text);
  });

  test("RESTORE-13 with a context that does not fit the schema is refused with the path", async () => {
    const { message } = await attempt((persisted) => ({ ...persisted, value: "paying" }), { context: z.object({ total: z.string() }) });
    expect(message).toContain('context does not fit its schema at "total"');
  });

  test("RESTORE-14 waits for the backup, which is made once; without it nothing is migrated", async () => {
    const upgrades = new Upgrades();
    const first = await upgrades.open([defineMachine(order("1", paying("charging", "pay")))]);
    await first.start("order", { id: "o", input: undefined });
    await first.start("order", { id: "p", input: undefined });
    const second = defineMachine(order("2", paying("paying", "pay")), { migrations: [toPaying] });
    await upgrades.open([second], { beforeMigration: () => Promise.reject(new Error("no room for a backup")) });
    expect(await upgrades.record("o")).toMatchObject({ revision: 1, machineVersion: "1" });
    expect(upgrades.errors.map(String)).toEqual(Array.from({ length: 2 }, () => expect.stringContaining("no room for a backup")));
    const seen: number[] = [];
    await upgrades.open([second], { beforeMigration: async () => void seen.push((await upgrades.record("o")).revision) });
    expect(seen).toEqual([1]);
    expect(await upgrades.record("p")).toMatchObject({ revision: 2, machineVersion: "2" });
  });
});

import { assign, setup, type AnyStateMachine } from "xstate";
import { describe, expect, test } from "vitest";
import type { ActorRecord } from "../../persistence/index.ts";
import { dryRun, type RestoreFinding } from "../../src/runtime/dryRun.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import { Replayer, type Replay } from "../../src/runtime/replay.ts";
import { Upgrades } from "./restoreKit.ts";

const part = setup({ types: {} as { events: { type: "end" } } }).createMachine({
  id: "part",
  version: "1",
  initial: "a",
  states: { a: { on: { end: "b" } }, b: { type: "final" } },
});

/** Counts, keeps the time and a reference to a child, and throws when it is told to. */
const counter = (by: () => number, version = "1") =>
  setup({
    types: {} as {
      context: { n: number; at: number; ref: unknown };
      events: { type: "add"; at?: number } | { type: "spawn" } | { type: "boom" } | { type: "end" };
    },
    actors: { part },
  }).createMachine({
    id: "counter",
    version,
    context: { n: 0, at: 0, ref: null },
    initial: "on",
    states: {
      on: {
        on: {
          add: { actions: assign({ n: ({ context }) => context.n + by(), at: ({ event }) => event.at ?? -1 }) },
          spawn: { actions: assign({ ref: ({ spawn }) => spawn("part", { id: "kid" }) }) },
          boom: {
            actions: assign({
              n: () => {
                throw new Error("no");
              },
            }),
          },
          end: "off",
        },
      },
      off: { type: "final" },
    },
  });

const one = (): number => 1;
const definitions = (by = one) => [defineMachine(counter(by)), defineMachine(part)];

async function counted(steps: number): Promise<Upgrades> {
  const upgrades = new Upgrades();
  const runtime = await upgrades.open(definitions());
  await runtime.start("counter", { id: "c", input: undefined });
  for (let step = 0; step < steps; step += 1) {
    upgrades.clock.advance(1_000);
    await runtime.send("c", { type: "add" });
  }
  return upgrades;
}

const replay = async (upgrades: Upgrades, by = one, id = "c"): Promise<Replay> =>
  new Replayer(upgrades.store, createRegistry(definitions(by))).replay(await upgrades.record(id));

describe("replay", () => {
  test("RESTORE-20 derives every step since the last base and finds the same", async () => {
    expect(await replay(await counted(30))).toEqual({ outcome: "same", base: 1, steps: 31 });
    expect(await replay(await counted(120))).toEqual({ outcome: "same", base: 100, steps: 21 });
  });

  test("RESTORE-20 an event's own time and id, children, and rows that are no steps are derived as they were", async () => {
    const upgrades = await counted(1);
    const runtime = await upgrades.open(definitions());
    await runtime.send("c", { type: "add", at: 7 });
    await runtime.send("c", { type: "spawn" });
    expect(JSON.parse((await upgrades.record("c")).snapshot)).toMatchObject({ context: { at: 7, ref: { actor: "c/kid" } } });
    await runtime.send("c/kid", { type: "end" });
    await runtime.send("c", { type: "end" });
    expect(await replay(upgrades)).toMatchObject({ outcome: "same", base: 1 });
    expect(await replay(upgrades, one, "c/kid")).toMatchObject({ outcome: "same", steps: 2 });
  });

  test("RESTORE-21 the first step of an impure machine is named with what was stored and what came out", async () => {
    const upgrades = await counted(30);
    let calls = 0;
    expect(await replay(upgrades, () => ((calls += 1) === 10 ? 2 : 1))).toMatchObject({
      outcome: "different",
      base: 1,
      steps: 10,
      revision: 11,
      event: "add",
      stored: expect.stringContaining("a context with hash"),
    });
    expect(
      await replay(upgrades, () => {
        throw new Error("gone");
      }),
    ).toMatchObject({ outcome: "different", revision: 2, derived: "the machine threw: gone" });
  });

  test("RESTORE-21 a row that was changed is found", async () => {
    const upgrades = await counted(3);
    const changed = async (parts: Partial<ActorRecord>): Promise<Replay> =>
      new Replayer(upgrades.store, createRegistry(definitions())).replay({ ...(await upgrades.record("c")), ...parts });
    expect(await changed({})).toMatchObject({ outcome: "same" });
    const snapshot = (await upgrades.record("c")).snapshot;
    expect(await changed({ snapshot: snapshot.replace('"n":3', '"n":4') })).toMatchObject({
      outcome: "different",
      stored: expect.stringContaining("in the actor's row"),
    });
    expect(await changed({ snapshot: snapshot.replace('"on"', '"off"') })).toMatchObject({ outcome: "different", stored: 'state "off" in the actor\'s row' });
    expect(await changed({ revision: 5 })).toMatchObject({ outcome: "different", stored: "revision 5" });
  });

  test("RESTORE-22 missing or changed code, a missing value and a missing base are not replayable, never different", async () => {
    const upgrades = await counted(3);
    const record = await upgrades.record("c");
    const by = (...machines: readonly Parameters<typeof defineMachine>[0][]) =>
      new Replayer(upgrades.store, createRegistry(machines.map((machine) => defineMachine(machine)))).replay(record);
    expect(await by(part)).toEqual({ outcome: "notReplayable", reason: 'machine "counter" version 1, which took revision 1, is not registered' });
    expect(await by(counter(one, "2"))).toMatchObject({ outcome: "notReplayable" });
    expect(await by(setup({}).createMachine({ id: "counter", version: "1", initial: "on", states: { on: {} } }))).toMatchObject({
      outcome: "notReplayable",
      reason: expect.stringContaining("with another definition"),
    });
    const runtime = await upgrades.open(definitions());
    await runtime.send("c", { type: "add", at: 1, note: "x".repeat(9_000) });
    const blobless = new Replayer({ ...upgrades.store, blob: async () => null }, createRegistry(definitions()));
    expect(await blobless.replay(await upgrades.record("c"))).toMatchObject({
      outcome: "notReplayable",
      reason: expect.stringContaining("the event of revision 5 cannot be read"),
    });
    const baseless = new Replayer(
      { ...upgrades.store, journal: async (...asked) => (await upgrades.store.journal(...asked)).map((row) => ({ ...row, snapshot: null })) },
      createRegistry(definitions()),
    );
    expect(await baseless.replay(record)).toEqual({ outcome: "notReplayable", reason: "its journal has no base before revision 4" });
  });
});

describe("a dry run", () => {
  const waiting = (version: string, config: object) =>
    setup({ types: {} as { events: { type: string } }, actors: { part } }).createMachine({
      id: "waiting",
      version,
      ...config,
    } as never) as unknown as AnyStateMachine; // charts are data here: their types are not under test
  const chart = { initial: "a", states: { a: { invoke: { id: "kid", src: "part" }, after: { 1000: "b" } }, b: {} } };
  const findings = async (upgrades: Upgrades, now: ReturnType<typeof definitions>): Promise<readonly RestoreFinding[]> => {
    const found: RestoreFinding[] = [];
    for await (const finding of dryRun(upgrades.store, createRegistry(now))) found.push(finding);
    return found;
  };

  test("RESTORE-23 says of every living actor whether it goes on, is migrated and how, or is refused and why, and changes nothing", async () => {
    const upgrades = new Upgrades();
    const first = [...definitions(), defineMachine(waiting("1", chart))];
    const runtime = await upgrades.open(first);
    await runtime.start("counter", { id: "c", input: undefined });
    await runtime.start("counter", { id: "over", input: undefined });
    await runtime.send("over", { type: "end" });
    await runtime.start("waiting", { id: "w", input: undefined });
    expect((await findings(upgrades, first)).map(({ actor, outcome }) => [actor, outcome])).toEqual([
      ["c", "fits"],
      ["w", "fits"],
      ["w/kid", "fits"],
    ]);
    const before = await upgrades.record("w");
    const newer = { initial: "z", states: { z: { invoke: { id: "child", src: "part" }, after: { 1000: "b", 5000: "b" } }, b: {} } };
    const migrating = defineMachine(waiting("2", newer), { migrations: [{ from: "1", to: "2", migrate: (persisted) => ({ ...persisted, value: "z" }) }] });
    expect(await findings(upgrades, [migrating, defineMachine(part)])).toMatchObject([
      { actor: "c", outcome: "refused", problems: [expect.stringContaining('machine "counter" version 1, which is not registered')] },
      {
        actor: "w",
        outcome: "migrates",
        to: "2",
        problems: ['carries timer "xstate.after.1000.waiting.a" on as "xstate.after.1000.waiting.z"', 'arms timer "xstate.after.5000.waiting.z"'],
      },
      { actor: "w/kid", outcome: "fits" },
    ]);
    expect(await upgrades.record("w")).toEqual(before);
  });

  test("RESTORE-23 finds the timer and the child that an active state waits for and that are not there", async () => {
    const upgrades = new Upgrades();
    const now = [defineMachine(waiting("1", chart)), defineMachine(part)];
    const runtime = await upgrades.open(now);
    await runtime.start("waiting", { id: "w", input: undefined });
    const { store } = upgrades;
    const lost = { query: store.query, timers: async () => [] };
    const found: RestoreFinding[] = [];
    for await (const finding of dryRun(lost, createRegistry(now))) found.push(finding);
    expect(found[0]).toMatchObject({ actor: "w", outcome: "gaps", problems: ['state "a" waits for its delay "1000", and no such timer is armed'] });
  });
});

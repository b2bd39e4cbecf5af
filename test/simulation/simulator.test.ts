/** The simulator itself: the same seed does the same, a failing one says how to repeat it and what little of it is needed. */
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { authors } from "./authors/scenario.ts";
import { Held, turn } from "./core/hold.ts";
import { randomOf } from "./core/random.ts";
import { commandOf, reportOf } from "./core/report.ts";
import { shrink } from "./core/shrink.ts";
import { simulate, type Scenario } from "./core/simulate.ts";
import { clients, hosts } from "./hosts/scenario.ts";
import { runFleet } from "./fleet.ts";
import { must, type Choice, type Part, type World } from "./core/world.ts";

describe("repeating", () => {
  test("SIM-15 the same seed gives the same trace, and another seed another", async () => {
    for (const seed of [1, 2, 3, 7, 11]) {
      const [first, second] = [await simulate({ scenario: authors(), seed, steps: 300 }), await simulate({ scenario: authors(), seed, steps: 300 })];
      expect(second.hash, `seed ${seed}`).toBe(first.hash);
      expect(first.trace.length).toBeGreaterThan(300);
    }
    expect((await simulate({ scenario: authors(), seed: 12, steps: 50 })).hash).not.toBe((await simulate({ scenario: authors(), seed: 13, steps: 50 })).hash);
  });

  test("SIM-15 a host with its files does the same too", async () => {
    const [first, second] = [await simulate({ scenario: hosts(), seed: 4, steps: 150 }), await simulate({ scenario: hosts(), seed: 4, steps: 150 })];
    expect(second.trace).toEqual(first.trace);
    expect(first.trace.length).toBeGreaterThan(150);
  });

  test("SIM-15 clients on their connections do too", async () => {
    const [first, second] = [await simulate({ scenario: clients(), seed: 5, steps: 120 }), await simulate({ scenario: clients(), seed: 5, steps: 120 })];
    expect(second.trace).toEqual(first.trace);
    expect(first.trace.length).toBeGreaterThan(120);
  });

  test("SIM-15 a seed does in a process of its own what it does after others", { timeout: 60_000 }, async () => {
    const [alone, after] = [await last("hosts", 6, 1), await last("hosts", 5, 2)];
    expect(after).toBe(alone);
    expect(alone).not.toBe("");
  });

  test("SIM-15 the recorded schedule does what the seed did", async () => {
    const scenario = authors();
    const first = await simulate({ scenario, seed: 5, steps: 200 });
    const again = await simulate({ scenario, seed: 5, steps: 200, schedule: first.schedule });
    expect(again.hash).toBe(first.hash);
  });

  test("SIM-15 numbers depend on seed and name alone, and are spread", () => {
    const drawn = (seed: number, name: string): number[] =>
      Array.from(
        { length: 5 },
        (
          (random) => () =>
            random.below(1000)
        )(randomOf(seed, name)),
      );
    expect(drawn(1, "a")).toEqual(drawn(1, "a"));
    expect(drawn(1, "a")).not.toEqual(drawn(2, "a"));
    expect(drawn(1, "a")).not.toEqual(drawn(1, "b"));
    const random = randomOf(3, "spread");
    const counts = Array.from({ length: 10 }, () => 0);
    for (let i = 0; i < 10_000; i += 1) counts[random.below(10)] = (counts[random.below(10)] ?? 0) + 1;
    expect(Math.min(...counts)).toBeGreaterThan(700);
  });
});

/** The trace of the last of these seeds, run in a new process. */
async function last(scenario: string, from: number, count: number): Promise<string> {
  return (await runFleet({ batches: [{ scenario, from, count }], steps: 150 })).all.hash;
}

/** A world whose rule breaks when "bad" happens after two "odd"s, whatever else happens. */
const frail: Scenario = {
  name: "frail",
  async build(world: World) {
    let [odds, isBroken] = [0, false];
    const part: Part = {
      name: "do",
      choices: (): readonly Choice[] => ["odd", "even", "bad"].map((what) => ({ op: `do ${what}`, weight: what === "bad" ? 1 : 10 })),
      perform([what]) {
        if (what === "odd") odds += 1;
        if (what === "bad" && odds >= 2) isBroken = true;
        return true;
      },
      need: () => null,
    };
    world.parts.push(part);
    world.rules.push({ check: () => must(!isBroken, "SIM-99", () => "it broke") });
    return { close: async () => {} };
  },
};

describe("failing", () => {
  test("SIM-15 a failing schedule is shrunk to what it takes", async () => {
    const plan = { scenario: frail, seed: 4, steps: 200 };
    const failed = await simulate(plan);
    expect(failed.violation?.rule).toBe("SIM-99");
    const shortest = await shrink(plan, failed);
    expect(shortest.schedule).toEqual(["do odd", "do odd", "do bad"]);
    expect(failed.schedule.length).toBeGreaterThan(5);
  });

  test("SIM-15 the report has the rule, one command, the short schedule and what happened", async () => {
    const plan = { scenario: frail, seed: 4, steps: 200 };
    const failed = await simulate(plan);
    const shortest = await shrink(plan, failed);
    expect(commandOf(plan)).toBe("npm run simulate -- --scenario frail --seed 4 --steps 200");
    const report = reportOf(plan, failed, shortest);
    expect(report).toContain("SIM-99 does not hold (frail, seed 4): it broke");
    expect(report.match(/npm run simulate/g)).toHaveLength(1);
    expect(report).toContain(`3 of ${failed.schedule.length} ops`);
    expect(report).toContain("  do odd\n  do odd\n  do bad\n");
    expect(report).toContain("> do bad");
  });

  test("SIM-14 an error that reaches nobody fails the seed", async () => {
    const careless: Scenario = {
      name: "careless",
      async build(world) {
        world.parts.push({
          name: "drop",
          choices: () => [{ op: "drop", weight: 1 }],
          perform: () => {
            void Promise.reject(new Error("nobody hears this"));
            return true;
          },
          need: () => null,
        });
        return { close: async () => {} };
      },
    };
    const { violation } = await simulate({ scenario: careless, seed: 1, steps: 3 });
    expect(violation).toMatchObject({ rule: "SIM-14", message: expect.stringContaining("nobody hears this") });
  });

  test("SIM-13 a world that does not come to rest fails", async () => {
    const restless: Scenario = {
      name: "restless",
      async build(world) {
        world.parts.push({ name: "spin", choices: () => [], perform: () => true, need: () => "spin" });
        return { close: async () => {} };
      },
    };
    expect((await simulate({ scenario: restless, seed: 1, steps: 1 })).violation).toMatchObject({
      rule: "SIM-13",
      message: expect.stringContaining('needs "spin"'),
    });
  });
});

describe("what is taken hold of", () => {
  test("SIM-15 time, timers, turns, randomness and files move only when they are let", async () => {
    const before = { now: Date.now, timeout: setTimeout, immediate: setImmediate, read: readFile };
    const held = new Held(5000);
    const seen: string[] = [];
    try {
      setImmediate(() => seen.push("turn"));
      setTimeout(() => seen.push("timer"), 100);
      clearTimeout(setTimeout(() => seen.push("never"), 1));
      await turn();
      expect(seen).toEqual([]);
      expect(Date.now()).toBe(5000);
      expect(Math.random()).toBe(Math.random());
      held.setWall(1000);
      held.pass(99);
      expect([held.ripe, held.fire(), Date.now()]).toEqual([0, false, 1099]);
      held.pass(1);
      expect([held.runImmediate(), held.fire(), held.fire(), held.runImmediate()]).toEqual([true, true, false, false]);
      expect(seen).toEqual(["turn", "timer"]);
      // No thread works on it: it is there one microtask later.
      let isRead = false;
      const reading = readFile(new URL(import.meta.url)).then(() => (isRead = true));
      await Promise.resolve();
      await Promise.resolve();
      expect(isRead).toBe(true);
      await reading;
      await expect(readFile(tmpdir())).rejects.toThrow("EISDIR");
    } finally {
      held.release();
    }
    expect({ now: Date.now, timeout: setTimeout, immediate: setImmediate }).toEqual({ now: before.now, timeout: before.timeout, immediate: before.immediate });
  });
});

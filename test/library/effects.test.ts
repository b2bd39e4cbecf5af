import { describe, expect, test } from "vitest";
import { assign, setup } from "xstate";
import { memoryStore, type SqliteStore } from "../../persistence/index.ts";
import {
  durable,
  effect,
  effectAction,
  executor,
  isPawlError,
  NotApplied,
  openPawl,
  RetryableError,
  TerminalError,
  type EffectOptions,
  type Executors,
  type Observation,
} from "../../src/index.ts";
import { backoffMs } from "../../src/runtime/attempt.ts";
import { fakeClock, type FakeClock } from "../../src/testing.ts";
import { afterwards, turns } from "./kit.ts";

type Input = { readonly of: string };

/** One state that invokes one effect, and can be left. */
const jobMachine = (options: EffectOptions<Input> = {}) =>
  setup({
    types: {} as {
      context: { got: unknown; why: unknown; heard: string[] };
      events: { type: "leave" } | { type: "effect.ambiguous"; effect: string } | { type: "effect.settled"; effect: string };
    },
    actors: { job: effect<string, Input>("job", options) },
    actions: { hear: assign({ heard: ({ context, event }) => [...context.heard, event.type] }) },
  }).createMachine({
    id: "job",
    version: "1",
    context: { got: null, why: null, heard: [] },
    initial: "working",
    states: {
      working: {
        invoke: {
          id: "job",
          src: "job",
          input: { of: "x" },
          onDone: { target: "worked", actions: assign({ got: ({ event }) => event.output }) },
          onError: { target: "failed", actions: assign({ why: ({ event }) => event.error }) },
        },
        on: { leave: "left", "effect.ambiguous": { actions: "hear" }, "effect.settled": { actions: "hear" } },
      },
      worked: {},
      failed: {},
      left: {},
    },
  });

const key = "j@1:0";

interface World {
  readonly store: SqliteStore;
  readonly clock: FakeClock;
}

function newWorld(): World {
  const store = memoryStore();
  afterwards(() => store.close());
  return { store, clock: fakeClock() };
}

async function open(
  { store, clock }: World,
  options: EffectOptions<Input>,
  job: Executors[string],
  more: { concurrency?: number; onError?: (error: unknown) => void } = {},
) {
  const machine = jobMachine(options);
  const pawl = await openPawl({ store, clock, machines: [machine], executors: { job }, ...more });
  afterwards(() => pawl.close());
  return { pawl, machine, ref: pawl.actor(machine, "j"), effectNow: async () => (await pawl.effects({ key })).items[0] };
}

const never = new Promise<never>(() => {});

/** The outside: what was made there, by key, and an executor that makes it and then does as it is told. */
function outside(afterwardsDo: () => Promise<string> = async () => "made") {
  const made: string[] = [];
  const asked: number[] = [];
  let answers = true;
  return {
    made,
    asked,
    goDumb: () => (answers = false),
    comeBack: () => (answers = true),
    job: {
      run: async (task: { idempotencyKey: string }) => {
        made.push(task.idempotencyKey);
        return { output: await afterwardsDo() };
      },
      observe: async (task: { idempotencyKey: string; attempt: number }) => {
        asked.push(task.attempt);
        if (!answers) throw new Error("the provider is down");
        return made.includes(task.idempotencyKey) ? ({ happened: true, output: "found" } as const) : ({ happened: false } as const);
      },
    } satisfies Executors[string],
  };
}

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error: unknown) => (isPawlError(error) ? [error.code, error.message] : error),
  );

describe("observing", () => {
  test("EFFECT-31, case 57 an attempt that happened before its process was lost is found, and not made again", async () => {
    const world = newWorld();
    const there = outside(() => never);
    const first = await open(world, {}, there.job);
    await first.pawl.start(first.machine, { id: "j" });
    await turns();
    // No close: the process is lost after the creation.
    const second = await open(world, {}, there.job);
    await second.pawl.settled();
    expect(await second.pawl.get(second.ref)).toMatchObject({ value: "worked", context: { got: "found" } });
    expect([there.made, there.asked]).toEqual([[key], [2]]);
  });

  test("EFFECT-31 an attempt that did not happen is made again under the same key, and a first one is not looked for", async () => {
    const world = newWorld();
    const there = outside();
    const lost = await open(world, {}, { run: () => never, observe: async () => expect.unreachable() });
    await lost.pawl.start(lost.machine, { id: "j" });
    await turns();
    const next = await open(world, {}, there.job);
    await next.pawl.settled();
    expect([there.made, there.asked]).toEqual([[key], [2]]);
    expect((await next.pawl.get(next.ref))?.context.got).toBe("made");
  });

  test("EFFECT-31 before its last chance is counted as gone, an interrupted attempt is looked for", async () => {
    const world = newWorld();
    const there = outside(() => never);
    const first = await open(world, { maxInterrupted: 1 }, there.job);
    await first.pawl.start(first.machine, { id: "j" });
    await turns();
    const second = await open(world, { maxInterrupted: 1 }, there.job);
    await second.pawl.settled();
    expect([(await second.pawl.get(second.ref))?.value, there.asked]).toEqual(["worked", [1]]);
  });

  test("EFFECT-32 a `once` attempt that threw is confirmed when it is seen to have happened", async () => {
    const there = outside(() => Promise.reject(new Error("connection lost")));
    const { pawl, machine, ref } = await open(newWorld(), { once: true }, there.job);
    await pawl.start(machine, { id: "j" });
    await pawl.settled();
    expect(await pawl.get(ref)).toMatchObject({ value: "worked", context: { got: "found", heard: [] } });
  });

  test("EFFECT-32 one that surely did not happen fails with its error, and is tried again under a policy", async () => {
    let runs = 0;
    const job: Executors[string] = {
      run: async () => {
        runs += 1;
        throw new Error("no route");
      },
      observe: async () => ({ happened: false }),
    };
    const plain = await open(newWorld(), { once: true }, job);
    await plain.pawl.start(plain.machine, { id: "j" });
    await plain.pawl.settled();
    expect(await plain.pawl.get(plain.ref)).toMatchObject({ value: "failed", context: { why: { reason: "effectFailed", message: "no route" } } });
    runs = 0;
    const world = newWorld();
    const retried = await open(world, { once: true, retry: { maxAttempts: 2, initialMs: 100 } }, job);
    await retried.pawl.start(retried.machine, { id: "j" });
    await retried.pawl.settled();
    expect(runs).toBe(1);
    world.clock.advance(100);
    await retried.pawl.settled();
    expect([runs, (await retried.pawl.get(retried.ref))?.value]).toEqual([2, "failed"]);
  });

  test("EFFECT-32 while nobody can tell it is ambiguous; it leaves when it is asked again, or at the next opening", async () => {
    for (const way of ["asked", "opened"] as const) {
      const world = newWorld();
      const there = outside(() => Promise.reject(new Error("connection lost")));
      there.goDumb();
      const first = await open(world, { once: true }, there.job);
      await first.pawl.start(first.machine, { id: "j" });
      await first.pawl.settled();
      expect(await first.effectNow()).toMatchObject({ state: "ambiguous", error: { message: "connection lost" } });
      expect((await first.pawl.observeEffect(key)).state).toBe("ambiguous");
      there.comeBack();
      if (way === "asked") expect((await first.pawl.observeEffect(key)).state).toBe("confirmed");
      await first.pawl.close();
      const second = await open(world, { once: true }, there.job);
      await second.pawl.settled();
      expect(await second.pawl.get(second.ref)).toMatchObject({ value: "worked", context: { got: "found", heard: ["effect.ambiguous", "effect.settled"] } });
      expect(there.made).toEqual([key]);
    }
  });

  test("EFFECT-33 a `once` effect whose process was lost runs again only when it surely did not happen", async () => {
    for (const [seen, expected] of [
      [{ happened: false }, { value: "worked", context: { got: "second" } }],
      [
        { happened: true, output: "first" },
        { value: "worked", context: { got: "first" } },
      ],
      [null, { value: "working", context: { heard: ["effect.ambiguous"] } }],
    ] as const) {
      const world = newWorld();
      const lost = await open(world, { once: true }, () => never);
      await lost.pawl.start(lost.machine, { id: "j" });
      await turns();
      const runs: number[] = [];
      const next = await open(
        world,
        { once: true },
        {
          run: async ({ attempt }) => {
            runs.push(attempt);
            return { output: "second" };
          },
          // Before the second attempt it is looked for once more.
          observe: async (): Promise<Observation<string>> => seen,
        },
      );
      await next.pawl.settled();
      expect(await next.pawl.get(next.ref), JSON.stringify(seen)).toMatchObject(expected);
      expect(runs).toEqual(seen?.happened === false ? [2] : []);
    }
  });

  test("EFFECT-33 what nobody wants any more is not made because it was not made before", async () => {
    const there = outside(() => never);
    const { pawl, machine, ref, effectNow } = await open(
      newWorld(),
      { once: true },
      { ...there.job, run: () => never, observe: async () => ({ happened: false }) },
    );
    await pawl.start(machine, { id: "j" });
    await turns();
    await pawl.send(ref, { type: "leave" });
    expect((await effectNow())?.state).toBe("ambiguous");
    expect((await pawl.observeEffect(key)).state).toBe("dropped");
  });

  test("EFFECT-33 an observer that hangs is waited for 30 s, and one that is not there is said so", async () => {
    const world = newWorld();
    const hanging = await open(world, { once: true }, { run: async () => Promise.reject(new Error("lost")), observe: () => never });
    await hanging.pawl.start(hanging.machine, { id: "j" });
    await turns();
    expect((await hanging.effectNow())?.state).toBe("attempting");
    world.clock.advance(30_000);
    await hanging.pawl.settled();
    expect((await hanging.effectNow())?.state).toBe("ambiguous");
    await hanging.pawl.close();
    const blind = await open(world, { once: true }, () => never);
    expect(await refusal(blind.pawl.observeEffect(key))).toEqual(["refused", expect.stringContaining('no "observe"')]);
  });
});

describe("late words", () => {
  test("EFFECT-34 a `once` attempt that ran out of time is ambiguous, and its late result or NotApplied settles it", async () => {
    for (const late of ["result", "notApplied", "error"] as const) {
      const world = newWorld();
      const { promise, resolve, reject } = Promise.withResolvers<{ output: string }>();
      const { pawl, machine, ref, effectNow } = await open(world, { once: true, timeoutMs: 1000 }, () => promise);
      await pawl.start(machine, { id: "j" });
      await turns();
      world.clock.advance(1000);
      await pawl.settled();
      expect(await effectNow()).toMatchObject({ state: "ambiguous", error: { reason: "nodeTimedOut" } });
      if (late === "result") resolve({ output: "late" });
      else reject(late === "notApplied" ? new NotApplied("it was never sent") : new Error("lost"));
      await turns();
      await pawl.settled();
      const expected = { result: ["confirmed", "worked"], notApplied: ["failed", "failed"], error: ["ambiguous", "working"] }[late];
      expect([(await effectNow())?.state, (await pawl.get(ref))?.value]).toEqual(expected);
    }
  });
});

describe("signs of life", () => {
  test("EFFECT-35 a silent attempt is given up as interrupted and made again, three times in all; one that gives signs goes on", async () => {
    const world = newWorld();
    const reasons: unknown[] = [];
    const { pawl, machine, ref } = await open(world, { heartbeatMs: 1000 }, async (task) => {
      task.signal.addEventListener("abort", () => reasons.push([task.attempt, task.signal.reason]));
      return never;
    });
    await pawl.start(machine, { id: "j" });
    for (let second = 0; second < 4; second += 1) {
      await turns();
      world.clock.advance(1000);
    }
    await pawl.settled();
    expect(reasons).toEqual([
      [1, "silent"],
      [2, "silent"],
      [3, "silent"],
    ]);
    expect(await pawl.get(ref)).toMatchObject({
      value: "failed",
      context: { why: { reason: "workerCrashed", message: "It gave no sign of life for 1000 ms." } },
    });
  });

  test("EFFECT-35 heartbeat and report are signs of life; a `once` attempt that falls silent is ambiguous", async () => {
    for (const sign of ["heartbeat", "report"] as const) {
      const world = newWorld();
      const stop = Promise.withResolvers<void>();
      const { pawl, machine, effectNow } = await open(world, { once: true, heartbeatMs: 1000 }, async (task) => {
        for (let beat = 0; beat < 10; beat += 1) {
          await new Promise<void>((resolve) => void world.clock.schedule(world.clock.now() + 900, resolve));
          if (sign === "report") task.report("still here");
          else task.heartbeat();
        }
        await stop.promise;
        return { output: "done" };
      });
      await pawl.start(machine, { id: "j" });
      for (let beat = 0; beat < 10; beat += 1) {
        await turns();
        world.clock.advance(900);
      }
      await turns();
      expect((await effectNow())?.state).toBe("attempting");
      world.clock.advance(1000);
      await pawl.settled();
      expect((await effectNow())?.state).toBe("ambiguous");
      stop.resolve();
      await turns();
      await pawl.settled();
      expect((await effectNow())?.state).toBe("confirmed");
    }
  });
});

describe("policies", () => {
  test("EFFECT-36 a policy that cannot be kept is refused where the machine is written, by its setting", async () => {
    for (const [options, setting] of [
      [{ retry: { maxAttempts: 0, initialMs: 1 } }, "retry.maxAttempts"],
      [{ retry: { maxAttempts: 101, initialMs: 1 } }, "retry.maxAttempts"],
      [{ retry: { maxAttempts: 2, initialMs: -1 } }, "retry.initialMs"],
      [{ retry: { maxAttempts: 2, initialMs: 1, factor: 0.5 } }, "retry.factor"],
      [{ retry: { maxAttempts: 2, initialMs: 1, maxMs: Number.NaN } }, "retry.maxMs"],
      [{ timeoutMs: 0 }, "timeoutMs"],
      [{ timeoutMs: Number.POSITIVE_INFINITY }, "timeoutMs"],
      [{ heartbeatMs: -5 }, "heartbeatMs"],
      [{ maxInterrupted: 1.5 }, "maxInterrupted"],
    ] as const) {
      const wrong = (): unknown => effect("job", options);
      expect(wrong, setting).toThrow(expect.objectContaining({ code: "invalidMachine", path: setting }));
      expect(() => durable(async () => 1, options)).toThrow(setting);
      expect(() => effectAction("job", options)).toThrow(setting);
    }
  });

  test("EFFECT-36 a policy made of the input that cannot be kept refuses the event, with nothing stored", async () => {
    const { pawl, machine } = await open(newWorld(), { timeoutMs: () => -1 }, async () => ({ output: "x" }));
    expect(await refusal(pawl.start(machine, { id: "j" }))).toEqual(["invalidMachine", expect.stringMatching(/"job" of actor "j": timeoutMs is -1/)]);
    expect(await pawl.get("j")).toBeNull();
  });

  test("EFFECT-37 waits grow to their bound, chance shortens them by up to half, and a provider's wait is taken as it is", () => {
    const policy = { maxAttempts: 9, initialMs: 1000, factor: 3, maxMs: 10_000 };
    const waits = (random: number): number[] => [1, 2, 3, 4, 80].map((attempt) => backoffMs(policy, attempt, new Error("x"), () => random));
    expect(waits(0.999_999_999)).toEqual([1000, 3000, 9000, 10_000, 10_000]);
    expect(waits(0)).toEqual([500, 1500, 4500, 5000, 5000]);
    expect(backoffMs(policy, 1, new RetryableError("busy", { retryAfterMs: 86_400_000 }), () => 0)).toBe(86_400_000);
    for (const retryAfterMs of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(backoffMs(policy, 1, new RetryableError("busy", { retryAfterMs }), () => 0)).toBe(500);
    expect(backoffMs({ maxAttempts: 3, initialMs: 1_000_000 }, 3, new Error("x"), () => 0.999_999_999)).toBe(60_000);
  });

  test("EFFECT-37 a TerminalError is not tried again, and its code reaches the machine", async () => {
    let runs = 0;
    const { pawl, machine, ref } = await open(newWorld(), { retry: { maxAttempts: 5, initialMs: 1 } }, async () => {
      runs += 1;
      throw new TerminalError("card declined", "declined");
    });
    await pawl.start(machine, { id: "j" });
    await pawl.settled();
    expect([runs, (await pawl.get(ref))?.context.why]).toEqual([1, { reason: "declined", message: "card declined" }]);
  });

  test("EFFECT-37 a retry's time is kept over a restart", async () => {
    const world = newWorld();
    const first = await open(world, { retry: { maxAttempts: 2, initialMs: 1 } }, async () => {
      throw new RetryableError("busy", { retryAfterMs: 60_000 });
    });
    await first.pawl.start(first.machine, { id: "j" });
    await first.pawl.settled();
    await first.pawl.close();
    world.clock.advance(59_999);
    let runs = 0;
    const second = await open(world, { retry: { maxAttempts: 2, initialMs: 1 } }, async () => ({ output: String((runs += 1)) }));
    await second.pawl.settled();
    expect(runs).toBe(0);
    world.clock.advance(1);
    await second.pawl.settled();
    expect([runs, (await second.pawl.get(second.ref))?.value]).toEqual([1, "worked"]);
  });
});

describe("many at once", () => {
  test("EFFECT-38 no more run at once than allowed; one that is left while it waits its turn never begins", async () => {
    const { promise, resolve } = Promise.withResolvers<{ output: string }>();
    const begun: string[] = [];
    let most = 0;
    let running = 0;
    const { pawl, machine } = await open(
      newWorld(),
      {},
      async (task) => {
        begun.push(task.actor);
        most = Math.max(most, (running += 1));
        const end = await promise;
        running -= 1;
        return end;
      },
      { concurrency: 2 },
    );
    const refs = [];
    for (let i = 0; i < 5; i += 1) refs.push(await pawl.start(machine, { id: `j${i}` }));
    await turns();
    expect(begun).toEqual(["j0", "j1"]);
    const left = refs[3];
    if (left) await pawl.send(left, { type: "leave" });
    resolve({ output: "x" });
    await pawl.settled();
    expect([begun, most]).toEqual([["j0", "j1", "j2", "j4"], 2]);
    expect((await pawl.effects({ actor: "j3" })).items[0]?.state).toBe("dropped");
  });

  test("EFFECT-38 those that waited their turn at a graceful stop begin later, and count no interruption", async () => {
    const world = newWorld();
    const first = await open(world, {}, (task) => new Promise((_, reject) => task.signal.addEventListener("abort", () => reject(new Error("stopped")))), {
      concurrency: 1,
    });
    for (let i = 0; i < 3; i += 1) await first.pawl.start(first.machine, { id: `j${i}` });
    await turns();
    await first.pawl.close();
    const attempts: number[] = [];
    const second = await open(world, {}, async (task) => {
      attempts.push(task.attempt);
      return { output: "x" };
    });
    await second.pawl.settled();
    expect(attempts).toEqual([2, 2, 2]);
    expect((await second.pawl.effects()).items.map(({ state, interruptions }) => [state, interruptions])).toEqual([
      ["confirmed", 0],
      ["confirmed", 0],
      ["confirmed", 0],
    ]);
  });

  test("EFFECT-40 a key that is used for another request is an error that names it", async () => {
    const twice = setup({
      types: {} as { events: { type: "again"; of: string }; context: { of: string } },
      actors: { job: effect<string, Input>("job", { visit: () => "the-same" }) },
    }).createMachine({
      id: "twice",
      version: "1",
      context: { of: "a" },
      initial: "working",
      states: {
        working: { invoke: { id: "job", src: "job", input: ({ context }) => ({ of: context.of }), onDone: "worked" } },
        worked: { on: { again: { target: "working", actions: assign({ of: ({ event }) => event.of }) } } },
      },
    });
    const other = await openPawl({ store: memoryStore(), machines: [twice], executors: { job: async () => ({ output: "x" }) } });
    afterwards(() => other.close());
    const actor = await other.start(twice, { id: "t" });
    await other.settled();
    expect(await refusal(other.send(actor, { type: "again", of: "b" }))).toEqual(["keyReused", expect.stringContaining("one_effect_per_visit")]);
    expect(await other.get(actor)).toMatchObject({ value: "worked", context: { of: "a" } });
  });

  test("EFFECT-42, case 97 effects of a machine that is gone stay as they are and are told; the others run", async () => {
    const world = newWorld();
    const gone = setup({ actors: { work: durable(() => never) } }).createMachine({ id: "gone", version: "1", invoke: { id: "work", src: "work" } });
    const first = await openPawl({ ...world, machines: [gone, jobMachine()], executors: { job: () => never } });
    await first.start(gone, { id: "g" });
    await first.start(jobMachine(), { id: "j" });
    await turns();
    const errors: unknown[] = [];
    const second = await open(world, {}, async () => ({ output: "x" }), { onError: (error) => errors.push(error) });
    await second.pawl.settled();
    expect((await second.pawl.get(second.ref))?.value).toBe("worked");
    expect((await second.pawl.effects({ actor: "g" })).items[0]).toMatchObject({ state: "planned", attempt: 1, interruptions: 0 });
    expect(errors.map((error) => isPawlError(error) && error.code)).toEqual(["restoreRefused"]);
  });
});

describe("executors", () => {
  test("EFFECT-41 executor() is typed by the effect that it executes, of an actor or of an action", async () => {
    const seen: unknown[] = [];
    const note = effectAction<{ readonly text: string }>("note");
    const machine = setup({ types: {} as { events: { type: "go" } }, actions: { note } }).createMachine({
      id: "noting",
      version: "1",
      on: { go: { actions: { type: "note", params: { text: "hi" } } } },
    });
    const pawl = await openPawl({
      store: memoryStore(),
      machines: [machine],
      executors: executor(note, async ({ input, attempt, idempotencyKey }) => void seen.push([input.text, attempt, idempotencyKey])),
    });
    afterwards(() => pawl.close());
    await pawl.send(await pawl.start(machine, { id: "n" }), { type: "go" });
    await pawl.settled();
    expect(seen).toEqual([["hi", 1, "n@2:0"]]);
    expect(() =>
      executor(
        durable(async () => 1),
        async () => 1,
      ),
    ).toThrow("names no effect");
  });
});

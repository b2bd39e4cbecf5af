/** What a lost process means for the effect that it worked on: with an executor that says so, on a clock that stands still. */
import { describe, expect, test } from "vitest";
import { setup } from "xstate";
import { memoryStore } from "../../persistence/index.ts";
import { effect, openPawl, type EffectOptions } from "../../src/index.ts";
import { Interrupted, type Executor } from "../../src/runtime/executor.ts";
import { fakeClock } from "../../src/testing.ts";
import { afterwards } from "../library/kit.ts";

const key = "j@1:0";

/** An actor that asks for one effect. `next` moves the clock and waits until nothing happens any more. */
async function started(options: EffectOptions<unknown>, job: Executor) {
  const machine = setup({ actors: { job: effect<string, unknown>("job", options) } }).createMachine({
    id: "job",
    version: "1",
    initial: "working",
    states: { working: { invoke: { src: "job", onDone: "worked", onError: "failed" } }, worked: {}, failed: {} },
  });
  const store = memoryStore();
  const clock = fakeClock();
  const pawl = await openPawl({ store, clock, machines: [machine], executors: { job } });
  afterwards(async () => {
    await pawl.close();
    await store.close();
  });
  await pawl.start(machine, { id: "j" });
  const next = async (ms = 0) => {
    clock.advance(ms);
    await pawl.settled();
    const [row] = await store.effects([key]);
    return { state: row?.state, attempt: row?.attempt, interruptions: row?.interruptions, error: row?.error ?? null };
  };
  return { next, clock };
}

const lost = new Interrupted("It ended with exit code 7.");
const noProcess = new Interrupted("No process could be started.", { hasBegun: false });
const error = { reason: "workerCrashed", message: lost.message };

describe("a process that was lost", () => {
  test("WORKER-2 the attempt is interrupted, made again at once, and counted", async () => {
    let runs = 0;
    const { next } = await started({ maxInterrupted: 3 }, async () => {
      runs += 1;
      throw lost;
    });
    expect(await next()).toEqual({ state: "failed", attempt: 3, interruptions: 3, error });
    expect(runs).toBe(3);
  });

  test("WORKER-2 without a bound it is made again until it succeeds", async () => {
    const { next } = await started({}, async ({ attempt }) => {
      if (attempt < 20) throw lost;
      return { output: "there" };
    });
    expect(await next()).toEqual({ state: "confirmed", attempt: 20, interruptions: 19, error: null });
  });

  test("WORKER-3 a `once` effect is ambiguous", async () => {
    const { next } = await started({ once: true, maxInterrupted: 3, retry: { maxAttempts: 3, initialMs: 1 } }, async () => Promise.reject(lost));
    expect(await next(60_000)).toEqual({ state: "ambiguous", attempt: 1, interruptions: 1, error });
  });

  test("WORKER-2 one that ran out of time before has timed out", async () => {
    const { next } = await started({ timeoutMs: 50 }, ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(lost))));
    expect(await next(50)).toMatchObject({ state: "failed", attempt: 1, interruptions: 0, error: { reason: "nodeTimedOut" } });
  });
});

describe("no process to be had", () => {
  test("WORKER-13 it is tried again every 30 s, and counts for nothing", async () => {
    const { next } = await started({ maxInterrupted: 3 }, async ({ attempt }) => {
      if (attempt < 6) throw noProcess;
      return { output: "there" };
    });
    const waits = { state: "planned", interruptions: 0, error: { reason: "workerCrashed", message: noProcess.message } };
    expect(await next()).toEqual({ ...waits, attempt: 2 });
    expect(await next(29_999)).toEqual({ ...waits, attempt: 2 });
    expect(await next(1)).toEqual({ ...waits, attempt: 3 });
    for (const attempt of [4, 5, 6]) expect(await next(30_000)).toEqual({ ...waits, attempt });
    expect(await next(30_000)).toEqual({ state: "confirmed", attempt: 6, interruptions: 0, error: null });
  });

  test("WORKER-13 a `once` effect surely did not happen: it is tried three times, and fails", async () => {
    const { next } = await started({ once: true, maxInterrupted: 3 }, async () => Promise.reject(noProcess));
    expect(await next()).toMatchObject({ state: "planned", attempt: 2 });
    expect(await next(30_000)).toMatchObject({ state: "planned", attempt: 3 });
    expect(await next(30_000)).toEqual({ state: "failed", attempt: 3, interruptions: 3, error: { reason: "workerCrashed", message: noProcess.message } });
  });
});

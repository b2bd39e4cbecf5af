/** Steps that are taken elsewhere, and what others do meanwhile. The one who takes them here answers when the test says so. */
import { assign, sendParent, setup, type AnyStateMachine } from "xstate";
import { expect, test, onTestFinished, vi } from "vitest";
import { memoryStore } from "../../persistence/index.ts";
import { PawlError } from "../../src/errors.ts";
import { AskedSteps } from "../../src/runtime/askedSteps.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { createRuntime } from "../../src/runtime/createRuntime.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { StepAnswers } from "../../src/runtime/stepAnswers.ts";
import { createElsewhereStepper } from "../../src/runtime/stepElsewhere.ts";
import type { StepRequest } from "../../src/runtime/stepWire.ts";

const counter = (id: string) =>
  setup({ types: {} as { context: { seen: string[] }; events: { type: "add"; name: string } | { type: "late" } } }).createMachine({
    id,
    version: "1",
    context: { seen: [] },
    on: {
      add: { actions: assign({ seen: ({ context, event }) => [...context.seen, event.name] }) },
      late: { actions: assign({ seen: ({ context }) => [...context.seen, "late"] }) },
    },
    initial: "counting",
    states: { counting: { after: { 1000: { actions: assign({ seen: ({ context }) => [...context.seen, "timer"] }) } } } },
  });

interface Question {
  readonly request: StepRequest;
  /** Answers as the machine does. */
  answer(): void;
  fail(error: Error): void;
}

/** `far` machines are stepped by whoever holds `questions` while `isHeld`, else after so many turns of the loop. */
async function far(farMachines: readonly AnyStateMachine[], nearMachines: readonly AnyStateMachine[] = []) {
  const store = memoryStore();
  const clock = fakeClock();
  const answers = new StepAnswers();
  const asked = new AskedSteps();
  const questions: Question[] = [];
  const errors: unknown[] = [];
  const world = { isHeld: false, turns: 0, questions, errors, store, clock };
  const definitions = farMachines.map((machine) => {
    const stepper = createElsewhereStepper({
      machine: machine.id,
      asked,
      ask: async (request) => {
        for (let turn = 0; turn < world.turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        if (!world.isHeld) return answers.answer(machine, request);
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        questions.push({ request, answer: resolve, fail: reject });
        await promise;
        return answers.answer(machine, request);
      },
      child: (_src, { id, version }) => ({ machineId: id, version }),
      inputOf: (given) => given,
      perform: (_actor, name) => answers.perform(name),
      maxInterrupted: null,
    });
    return { ...defineMachine(machine), machine: setup({}).createMachine({ id: machine.id }), stepper };
  });
  const runtime: Runtime = await createRuntime({
    store,
    clock,
    executors: {},
    definitions: createRegistry([...definitions, ...nearMachines.map((machine) => defineMachine(machine))]),
    onError: (error) => errors.push(error),
  });
  onTestFinished(async () => {
    await runtime.close();
    await store.close();
  });
  await runtime.recover();
  return Object.assign(world, { runtime });
}

const seen = async (runtime: Runtime, actor: string): Promise<unknown> => (await runtime.view(actor))?.context;
const until = (isSo: () => boolean): Promise<boolean> => vi.waitUntil(isSo, { timeout: 10_000, interval: 2 });

test("MACH-2 what waits for a step elsewhere holds up nobody's events and timers", async () => {
  const world = await far([counter("far")], [counter("near")]);
  const { runtime, clock, questions } = world;
  await runtime.start("far", { id: "f", input: undefined });
  await runtime.start("near", { id: "n", input: undefined });
  world.isHeld = true;
  const waiting = runtime.send("f", { type: "add", name: "one" });
  await until(() => questions.length === 1);
  expect(await runtime.send("n", { type: "add", name: "one" })).toMatchObject({ status: "applied" });
  // Both are due: the far one's timer waits behind its event, the near one's does not.
  clock.advance(1000);
  await vi.waitFor(async () => expect(await seen(runtime, "n")).toEqual({ seen: ["one", "timer"] }), { timeout: 10_000 });
  expect(await seen(runtime, "f")).toEqual({ seen: [] });
  world.isHeld = false;
  questions[0]?.answer();
  expect(await waiting).toMatchObject({ status: "applied", revision: 2 });
  await runtime.settled();
  expect(await seen(runtime, "f")).toEqual({ seen: ["one", "timer"] });
  expect(world.errors).toEqual([]);
});

test("MACH-3 what waits for one actor keeps its order, one question at a time, and other actors of its machine do not wait for it", async () => {
  const world = await far([counter("far")]);
  const { runtime, questions } = world;
  for (const id of ["f", "g"]) await runtime.start("far", { id, input: undefined });
  world.isHeld = true;
  const sent = ["a", "b", "c"].map((name) => runtime.send("f", { type: "add", name }));
  await until(() => questions.length === 1);
  const other = runtime.send("g", { type: "add", name: "x" });
  await until(() => questions.length === 2);
  expect(questions.map(({ request }) => request.actor)).toEqual(["f", "g"]);
  questions[1]?.answer();
  expect(await other).toMatchObject({ status: "applied" });
  world.isHeld = false;
  questions[0]?.answer();
  expect((await Promise.all(sent)).map(({ revision }) => revision)).toEqual([2, 3, 4]);
  expect(await seen(runtime, "f")).toEqual({ seen: ["a", "b", "c"] });
});

test("MACH-4 an answer counts for the event that it was asked for, whatever was committed meanwhile, unless the machine read the time", async () => {
  const stamped = setup({ types: {} as { context: { at: number[] }; events: { type: "note"; at?: number } | { type: "plain" } } }).createMachine({
    id: "stamped",
    version: "1",
    context: { at: [] },
    on: {
      note: { actions: assign({ at: ({ context, event }) => [...context.at, event.at ?? 0] }) },
      plain: { actions: assign({ at: ({ context }) => [...context.at, -1] }) },
    },
  });
  const world = await far([stamped], [counter("near")]);
  const { runtime, questions, clock } = world;
  await runtime.start("stamped", { id: "s", input: undefined });
  await runtime.start("near", { id: "n", input: undefined });
  const moved = async (type: "note" | "plain"): Promise<number> => {
    world.isHeld = true;
    const before = questions.length;
    const waiting = runtime.send("s", { type });
    await until(() => questions.length === before + 1);
    clock.advance(5);
    await runtime.send("n", { type: "add", name: "x" });
    world.isHeld = false;
    questions.at(-1)?.answer();
    await waiting;
    return questions.length - before;
  };
  await moved("plain");
  const plain = await runtime.view("s");
  expect(plain?.context).toEqual({ at: [-1] });
  await moved("note");
  const rows = await world.store.journal("s", 1, 10);
  // The time that the machine saw is the time that is journalled, which is that of the latest commit before.
  expect((await runtime.view("s"))?.context).toEqual({ at: [-1, rows.at(-1)?.at] });
  expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted((a, b) => a - b));
});

test("MACH-4 a dispatch whose time moves on with each try is computed in its group at last", async () => {
  const stamped = setup({ types: {} as { context: { at: number }; events: { type: "note"; at?: number } } }).createMachine({
    id: "stamped",
    version: "1",
    context: { at: 0 },
    on: { note: { actions: assign({ at: ({ event }) => event.at ?? 0 }) } },
  });
  const world = await far([stamped], [counter("near")]);
  const { runtime, clock } = world;
  await runtime.start("stamped", { id: "s", input: undefined });
  await runtime.start("near", { id: "n", input: undefined });
  let done = false;
  world.turns = 20;
  const waiting = runtime.send("s", { type: "note" }).finally(() => (done = true));
  // Somebody else commits at a later time again and again: each answer is for a time that has passed.
  for (let turn = 0; turn < 500 && !done; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1);
    await runtime.send("n", { type: "add", name: "x" });
  }
  expect(done).toBe(true);
  expect(await waiting).toMatchObject({ status: "applied" });
});

test("MACH-4 what was set aside comes after what its group has computed meanwhile: time does not run back in the journal", async () => {
  const hands = { answer: () => {} };
  const helper = setup({ types: {} as { context: { n: number } } }).createMachine({
    id: "helper",
    version: "1",
    context: { n: 0 },
    on: {
      // Not pure: the answer comes while a group is computed.
      help: {
        actions: assign({
          n: ({ context }) => {
            hands.answer();
            return context.n + 1;
          },
        }),
      },
    },
  });
  const world = await far([counter("far")], [helper]);
  const { runtime, questions, clock, store } = world;
  await runtime.start("far", { id: "f", input: undefined });
  await runtime.start("helper", { id: "h", input: undefined });
  world.isHeld = true;
  const waiting = runtime.send("f", { type: "add", name: "one" });
  await until(() => questions.length === 1);
  clock.advance(50);
  hands.answer = () => questions[0]?.answer();
  await Promise.all(Array.from({ length: 40 }, () => runtime.send("h", { type: "help" })));
  await waiting;
  const rows = (await Promise.all(["f", "h"].map((id) => store.journal(id, 1, 100)))).flat().toSorted((a, b) => a.seq - b.seq);
  expect(rows.some(({ actor }, index) => actor === "f" && index > 2 && index < rows.length - 1)).toBe(true);
  expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted((a, b) => a - b));
});

test("MACH-5 a machine that throws elsewhere refuses an event from outside, and is faulted at an internal one until that is tried again", async () => {
  const guarded = { isBroken: true };
  const fragile = setup({ types: {} as { context: { n: number } } }).createMachine({
    id: "fragile",
    version: "1",
    context: { n: 0 },
    on: { poke: { actions: assign(() => fail("poked")) } },
    initial: "waiting",
    states: { waiting: { after: { 100: { target: "over", guard: () => (guarded.isBroken ? fail("due") : true) } } }, over: { type: "final" } },
  });
  const { runtime, clock } = await far([fragile]);
  await runtime.start("fragile", { id: "f", input: undefined });
  await expect(runtime.send("f", { type: "poke" })).rejects.toThrow("it broke when poked");
  clock.advance(100);
  await runtime.settled();
  expect((await runtime.fault("f"))?.message).toContain("it broke when due");
  expect(await runtime.retryFault("f")).toMatchObject({ status: "refused", code: "faulted" });
  guarded.isBroken = false;
  expect(await runtime.retryFault("f")).toMatchObject({ status: "applied" });
  expect((await runtime.view("f"))?.record.status).toBe("done");
});

test("MACH-6 a step that is lost for good faults its actor with the reason, and the actor's parent hears of it as of any fault", async () => {
  const child = setup({}).createMachine({
    id: "child",
    version: "1",
    initial: "waiting",
    states: { waiting: { after: { 100: { actions: sendParent({ type: "told" }) } } } },
  });
  const parent = setup({ types: {} as { context: { heard: string } }, actors: { child } }).createMachine({
    id: "parent",
    version: "1",
    context: { heard: "" },
    invoke: { src: "child", id: "child" },
    on: { told: {}, "pawl.childFaulted": { actions: assign({ heard: ({ event }) => ("message" in event ? String(event["message"]) : "") }) } },
  });
  const world = await far([child], [parent]);
  const { runtime, clock, questions } = world;
  await runtime.start("parent", { id: "p", input: undefined });
  world.isHeld = true;
  clock.advance(100);
  await until(() => questions.length === 1);
  questions[0]?.fail(new PawlError("stepLost", "The worker process was lost."));
  await vi.waitFor(async () => expect(await seen(runtime, "p")).toEqual({ heard: "The worker process was lost." }), { timeout: 10_000 });
  world.isHeld = false;
  expect(await runtime.retryFault("p/child")).toMatchObject({ status: "applied" });
});

test("MACH-7 a runtime that closes leaves what waits for a step elsewhere, and the next one goes on with it", async () => {
  const world = await far([counter("far")]);
  const { runtime, clock, questions, store } = world;
  await runtime.start("far", { id: "f", input: undefined });
  world.isHeld = true;
  const waiting = runtime.send("f", { type: "add", name: "one" });
  const told = waiting.catch((error: unknown) => error);
  await until(() => questions.length === 1);
  clock.advance(1000);
  await runtime.close();
  expect(await told).toMatchObject({ code: "closed" });
  expect(world.errors).toEqual([]);
  expect((await store.timers("f")).length).toBe(1);
});

function fail(when: string): never {
  throw new Error(`it broke when ${when}`);
}

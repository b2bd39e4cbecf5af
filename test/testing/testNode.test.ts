import { assign, fromPromise, raise, sendParent, setup } from "xstate";
import { describe, expect, test } from "vitest";
import { testNode } from "../../src/testing/testNode.ts";
import { compute, machineNode } from "../../src/workflow/authoring.ts";

const worker = setup({ types: {} as { output: { readonly done: true } } }).createMachine({
  id: "worker",
  version: "1",
  initial: "on",
  states: { on: { after: { 10: "off" } }, off: { type: "final" } },
  output: { done: true },
});

const review = setup({
  types: {} as {
    context: { readonly tries: number; readonly verdict: string | null };
    input: { readonly tries: number };
    events: { readonly type: "review.answered"; readonly verdict: string } | { readonly type: "review.withdrawn" };
    output: { readonly verdict: string };
  },
  actors: {
    ask: fromPromise<string, { readonly n: number }>(async () => "asked"),
    worker,
  },
  guards: { mayTry: ({ context }) => context.tries > 0 },
  delays: { patience: ({ context }) => 1_000 * (context.tries + 1) },
}).createMachine({
  id: "review",
  version: "1",
  context: ({ input }) => ({ tries: input.tries, verdict: null }),
  initial: "asking",
  states: {
    asking: {
      invoke: {
        id: "ask",
        src: "ask",
        input: ({ context }) => ({ n: context.tries }),
        onDone: "waiting",
        onError: [{ guard: "mayTry", target: "asking", reenter: true, actions: assign({ tries: ({ context }) => context.tries - 1 }) }, { target: "over" }],
      },
    },
    waiting: {
      type: "parallel",
      states: {
        person: { initial: "open", states: { open: { after: { patience: "late" } }, late: { entry: sendParent({ type: "review.late" }) } } },
        work: { initial: "busy", states: { busy: { invoke: { id: "worker", src: "worker", onDone: "idle", onError: "idle" } }, idle: {} } },
      },
      on: {
        "review.answered": { target: "over", actions: assign({ verdict: ({ event }) => event.verdict }) },
        "review.withdrawn": "over",
      },
    },
    over: { type: "final" },
    forgotten: {},
  },
  output: ({ context }) => ({ verdict: context.verdict ?? "none" }),
});

const events = [{ type: "review.answered", verdict: "yes" }, { type: "review.withdrawn" }];

describe("walking through a machine", () => {
  test("KIT-1 a good machine is walked through whole: what it ended with, and what no walk entered", async () => {
    const report = await testNode(review, { input: { tries: 2 }, events });
    expect(new Set(report.outputs)).toEqual(new Set([{ verdict: "yes" }, { verdict: "none" }]));
    expect(report.unvisited).toEqual(["review.forgotten"]);
    // Three rounds of asking, four times the parallel states of each, the end with and without a verdict of each, and the last failure.
    expect(report.states).toBe(3 + 3 * 4 + 3 * 2);
    expect(report.steps).toBeGreaterThan(report.states);
  });

  test("KIT-2 a context that cannot be stored is named with the place", async () => {
    const dated = setup({}).createMachine({
      id: "dated",
      context: { at: null as unknown },
      initial: "a",
      states: { a: { on: { go: { target: "b", actions: assign({ at: () => new Map() }) } } }, b: { type: "final" } },
    });
    await expect(testNode(dated, { events: [{ type: "go" }] })).rejects.toMatchObject({
      code: "invalidMachine",
      message: expect.stringMatching(/^Machine "dated", at go after start: it cannot be stored: .*"at"/s),
    });
  });

  test("KIT-2 a machine that keeps something outside of its context is found when it is read back", async () => {
    let count = 0;
    const forgetful = setup({ guards: { every: () => (count += 1) % 2 === 0 } }).createMachine({
      id: "forgetful",
      initial: "a",
      states: { a: { on: { go: [{ guard: "every", target: "b" }, { target: "c" }] } }, b: { type: "final" }, c: { type: "final" } },
    });
    await expect(testNode(forgetful, { events: [{ type: "go" }] })).rejects.toThrow(/at go after start: it comes to something else when it was stored/);
  });

  test("KIT-3 a machine that can never end any more is named with the way there", async () => {
    const trap = setup({}).createMachine({
      id: "trap",
      initial: "a",
      states: { a: { on: { go: "b", end: "over" } }, b: { on: { back: "c" } }, c: { on: { back: "b" } }, over: { type: "final" } },
    });
    await expect(testNode(trap, { events: ["go", "end", "back"].map((type) => ({ type })) })).rejects.toThrow(/at go after start: it never ends from then on/);
  });

  test("KIT-3 a context that grows without end is no test without end", async () => {
    const counting = setup({ types: {} as { context: { readonly n: number } } }).createMachine({
      id: "counting",
      context: { n: 0 },
      initial: "a",
      states: { a: { on: { more: { actions: assign({ n: ({ context }) => context.n + 1 }) }, end: "b" } }, b: { type: "final" } },
    });
    await expect(testNode(counting, { events: [{ type: "more" }, { type: "end" }], maxStates: 50 })).rejects.toThrow(/more than 50 different snapshots/);
  });

  test("KIT-4 what throws is named with the event and the way, and one that takes any event may move at a strange one", async () => {
    const throwing = setup({ actors: { ask: fromPromise(async () => 1) } }).createMachine({
      id: "throwing",
      context: { text: "" },
      initial: "a",
      states: {
        a: {
          invoke: {
            id: "ask",
            src: "ask",
            onDone: { target: "b", actions: assign({ text: ({ event }) => (event.output as unknown as { text: string }).text.trim() }) },
          },
        },
        b: { type: "final" },
      },
    });
    await expect(testNode(throwing)).rejects.toThrow(/^Machine "throwing", at the end of "ask" after start: it throws: /);
    await testNode(throwing, { ends: { ask: [{ output: { text: " x " } }] } });
    const wild = setup({}).createMachine({ id: "wild", initial: "a", states: { a: { on: { "*": "b" } }, b: { type: "final" } } });
    expect(await testNode(wild, { events: [{ type: "anything" }] })).toMatchObject({ unvisited: [], states: 2 });
  });

  test("KIT-4 a machine that breaks the author rules is refused before anything is tried", async () => {
    const rude = setup({ actions: { shout: () => {} } }).createMachine({ id: "rude", initial: "a", states: { a: { entry: "shout", type: "final" } } });
    await expect(testNode(rude)).rejects.toMatchObject({ code: "invalidMachine", message: expect.stringContaining("shout") });
  });

  test("KIT-1 a node of a machine is walked through as its machine; another node is refused", async () => {
    const node = machineNode(worker, {});
    expect(await testNode(node)).toEqual(await testNode(worker));
    await expect(testNode(compute(() => 1))).rejects.toMatchObject({ code: "invalidInput", message: expect.stringContaining("compute") });
  });

  test("KIT-1 delayed raises, cancelled delays and stopped children are followed", async () => {
    const timed = setup({}).createMachine({
      id: "timed",
      initial: "a",
      states: {
        a: { entry: raise({ type: "late" }, { id: "late", delay: 500 }), on: { late: "b", early: "c" }, after: { 2_000: "never" } },
        b: { type: "final" },
        c: { after: { 1: "b" } },
        never: { type: "final" },
      },
    });
    const report = await testNode(timed, { events: [{ type: "early" }] });
    expect(report.unvisited).toEqual([]);
  });
});

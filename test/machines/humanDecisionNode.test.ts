import { afterEach, expect, test } from "vitest";
import { assign, setup } from "xstate";
import { decisionMachine, parseDecisionEvent } from "../../machines/decisionMachine.ts";
import { answerWhenFinished, projectDecision } from "../../machines/decisionProjection.ts";
import { preparedDecision } from "../../machines/contracts/buildRequest.ts";
import { visited, type NodeFailure, type NodeInput, type NodeOutput } from "../../machines/define.ts";
import { humanDecisionNode } from "../../machines/nodes/humanDecisionNode.ts";
import type { Store } from "../../persistence/store.ts";
import { decisionCodes } from "../../src/decisionCode.ts";
import { fakeClock, type FakeClock } from "../../src/runtime/clock.ts";
import { createRuntime } from "../../src/runtime/createRuntime.ts";
import { EffectFailure, type Executor } from "../../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { build, createdAt } from "../contracts/decisionFixture.ts";
import { fileStore } from "../runtime/kit.ts";
import { afterMs, ann, bob, deadlineAt } from "./decisionKit.ts";

/** Stands for a graph: one visit of the node, and what came of it. */
const graph = setup({
  types: {} as {
    context: { waiting: string[]; output: NodeOutput | NodeFailure | null; error: unknown };
    events: { type: "node.waiting"; node: string } | { type: "leave" };
  },
  actors: { approve: visited(humanDecisionNode, (input: NodeInput) => input.visit) },
  actions: {
    note: assign({ waiting: ({ context, event }) => (event.type === "node.waiting" ? [...context.waiting, event.node] : context.waiting) }),
    keep: assign({ output: (_, output: NodeOutput | NodeFailure) => output }),
    keepError: assign({ error: ({ event }) => event }),
  },
}).createMachine({
  id: "graph",
  version: "1",
  context: { waiting: [], output: null, error: null },
  initial: "approve",
  states: {
    approve: {
      invoke: {
        id: "approve",
        src: "approve",
        input: { run: "r_1", node: "approve", visit: "approve.3", once: false },
        onDone: { target: "ended", actions: { type: "keep", params: ({ event }: { event: { output: NodeOutput | NodeFailure } }) => event.output } },
        onError: { target: "ended", actions: "keepError" },
      },
      on: { "node.waiting": { actions: "note" }, leave: "ended" },
    },
    ended: {},
  },
});

const decision = "r_1/graph/approve.3/decision";
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The effect as the host runs it, but for the author's callbacks. */
const asking =
  (change: Parameters<typeof build>[0] = {}): Executor =>
  async () => {
    const built = build(change);
    return preparedDecision(built, [...decisionCodes(built.request.digests.request)][0] ?? "");
  };

async function runtimeOn(store: Store, clock: FakeClock, prepare: Executor): Promise<Runtime> {
  const definitions = createRegistry([
    defineMachine(graph),
    defineMachine(humanDecisionNode),
    defineMachine(decisionMachine, { parseEvent: parseDecisionEvent, project: projectDecision, whenFinished: answerWhenFinished, unhandled: "refused" }),
  ]);
  const runtime = await createRuntime({
    store,
    clock,
    definitions,
    executors: { "pawl.decision.prepare": prepare },
    onError: (error) => {
      throw error;
    },
  });
  closers.push(() => runtime.close());
  return runtime;
}

async function asked(prepare: Executor = asking()) {
  const { store } = await fileStore();
  const clock = fakeClock(createdAt + 40);
  const runtime = await runtimeOn(store, clock, prepare);
  await runtime.start("graph", { id: "r_1/graph", input: undefined });
  await runtime.adopt("r_1/graph");
  await runtime.settled();
  return { store, clock, runtime };
}

/** Lets a timer that fell due read the store and commit. */
async function settledTimers(runtime: Runtime): Promise<void> {
  for (let i = 0; i < 20; i += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await runtime.settled();
  }
}

const outcome = async (runtime: Runtime) => {
  const { value, context } = (await runtime.view("r_1/graph")) ?? {};
  return { value, context };
};
const rows = async (store: Store) => (await store.query("decisions", {})).items;
const answer = (change: Record<string, unknown> = {}) => ({ type: "decision.submit", choice: "go", idempotencyKey: "k1", source: ann, ...change });

test("DEC-20 the node tells its graph that it waits, opens the decision, and its subject stays out of both snapshots", async () => {
  const { runtime, store } = await asked();
  expect(await outcome(runtime)).toMatchObject({ value: "approve", context: { waiting: ["approve"] } });
  expect(await rows(store)).toMatchObject([{ id: decision, run: "r_1", node: "approve", state: "open", choice: null, deadlineAt: null }]);
  const actors = await store.load(["r_1/graph", "r_1/graph/approve.3", decision]);
  expect(actors).toHaveLength(3);
  for (const { snapshot } of actors) expect(snapshot).not.toContain('"steps":["a","b"]');
  expect(await runtime.view("r_1/graph/approve.3")).toMatchObject({ value: "asking", context: { node: "approve", visit: "approve.3" } });
});

test("DEC-21 an accepted answer ends node and graph in the same commit, with the response as output", async () => {
  const { runtime, store } = await asked();
  const receipt = await runtime.send(decision, answer({ choice: "replan", input: "less" }));
  expect(receipt).toMatchObject({ status: "applied", reply: { code: "accepted", receipt: { response: { choice: "replan", input: "less" } } } });
  expect(await outcome(runtime)).toMatchObject({ value: "ended", context: { output: { case: "replan", value: { choice: "replan", input: "less" } } } });
  expect(await rows(store)).toMatchObject([{ state: "accepted", choice: "replan", settledAt: createdAt + 40 }]);
});

test("DEC-5 case 24 an answer repeated after the settlement gets the saved result, another one the winner", async () => {
  const { runtime } = await asked();
  const first = await runtime.send(decision, answer(), { eventId: "e1" });
  expect(await runtime.send(decision, answer(), { eventId: "e1" })).toEqual({ ...first, status: "duplicate" });
  expect(await runtime.send(decision, answer(), { eventId: "e2" })).toMatchObject({
    status: "refused",
    code: "duplicate",
    reply: { receipt: { response: { choice: "go" } } },
  });
  expect(await runtime.send(decision, answer({ idempotencyKey: "k2", choice: "stop", source: bob }))).toMatchObject({
    status: "refused",
    code: "alreadyDecided",
  });
});

test("DEC-3 refused answers leave the decision open for the right one", async () => {
  const { runtime } = await asked();
  expect(await runtime.send(decision, answer({ choice: "no" }))).toMatchObject({ status: "applied", reply: { code: "invalid" } });
  expect(await runtime.send(decision, answer({ idempotencyKey: "k2", source: { kind: "model", channel: "tool", actor: "m" } }))).toMatchObject({
    reply: { code: "humanOnly" },
  });
  await expect(runtime.send(decision, answer({ force: true }))).rejects.toMatchObject({ code: "invalidInput" });
  expect(await outcome(runtime)).toMatchObject({ value: "approve" });
  expect(await runtime.send(decision, answer({ idempotencyKey: "k3" }))).toMatchObject({ reply: { code: "accepted" } });
});

test("DEC-12 the default holds at its absolute time, over a restart of the process", async () => {
  const { runtime, store, clock } = await asked(asking({ onTimeout: { afterMs, response: { choice: "stop" } } }));
  expect(await store.timers(decision)).toMatchObject([{ dueAt: deadlineAt + 1 }]);
  clock.set(deadlineAt);
  await settledTimers(runtime);
  expect(await outcome(runtime)).toMatchObject({ value: "approve" });
  await runtime.close();
  const later = fakeClock(deadlineAt);
  const next = await runtimeOn(store, later, asking());
  await next.recover();
  later.set(deadlineAt + 1);
  await settledTimers(next);
  expect(await outcome(next)).toMatchObject({ value: "ended", context: { output: { case: "stop", value: { choice: "stop" } } } });
  expect(await rows(store)).toMatchObject([{ state: "defaulted", choice: "stop", settledAt: deadlineAt + 1 }]);
  expect(await next.send(decision, answer())).toMatchObject({ status: "refused", code: "defaulted" });
});

test("DEC-2 case 29 an answer that is read at the deadline itself beats the default, and one answer wins", async () => {
  const { runtime, store, clock } = await asked(asking({ onTimeout: { afterMs, response: { choice: "stop" } } }));
  clock.set(deadlineAt);
  const receipts = await Promise.all([
    runtime.send(decision, answer()),
    runtime.send(decision, answer({ choice: "replan", input: "x", idempotencyKey: "k2", source: bob })),
  ]);
  await settledTimers(runtime);
  expect(receipts.map(({ code, reply }) => code ?? reply)).toMatchObject([{ code: "accepted" }, "alreadyDecided"]);
  expect(await rows(store)).toMatchObject([{ state: "accepted", choice: "go" }]);
  expect(await store.timers(decision)).toEqual([]);
  expect(await outcome(runtime)).toMatchObject({ context: { output: { case: "go" } } });
});

test("DEC-21 an expiry ends the node with the reason that takes the timedOut route", async () => {
  const { runtime, clock } = await asked(asking({ request: { expiresAt: deadlineAt } }));
  clock.set(deadlineAt + 1);
  await settledTimers(runtime);
  expect(await outcome(runtime)).toMatchObject({ context: { output: { failed: { reason: "decisionExpired" } } } });
});

test("DEC-20 a request that cannot be made fails the visit with its reason, and nobody is asked", async () => {
  for (const prepare of [
    asking({ request: { title: "" } }),
    async () => {
      throw new EffectFailure("nodeFailed", "the request callback threw");
    },
  ]) {
    const { runtime, store } = await asked(prepare);
    const { context } = await outcome(runtime);
    expect(context).toMatchObject({
      waiting: [],
      output: { failed: { reason: expect.any(String), message: expect.stringMatching(/request\.title|callback threw/) } },
    });
    expect(await rows(store)).toEqual([]);
  }
});

test("DEC-1 a graph that leaves the node stops the decision, which then counts as cancelled", async () => {
  const { runtime, store } = await asked(asking({ onTimeout: { afterMs, response: { choice: "stop" } } }));
  await runtime.send("r_1/graph", { type: "leave" });
  expect(await rows(store)).toMatchObject([{ state: "cancelled", choice: null }]);
  expect(await store.timers(decision)).toEqual([]);
  expect(await runtime.send(decision, answer())).toMatchObject({ status: "refused", code: "cancelled" });
});

test("DEC-1 a cancelled decision fails its node with decisionCancelled", async () => {
  const { runtime } = await asked();
  expect(await runtime.send(decision, { type: "decision.cancel", reason: "replaced" })).toMatchObject({ status: "applied", reply: { code: "cancelled" } });
  expect(await outcome(runtime)).toMatchObject({ context: { output: { failed: { reason: "decisionCancelled" } } } });
});

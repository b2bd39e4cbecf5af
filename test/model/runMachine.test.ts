import { sendParent, setup, type AnyStateMachine, type EventObject } from "xstate";
import { adjacencyMapToArray, getAdjacencyMap, getShortestPaths } from "xstate/graph";
import { describe, expect, test } from "vitest";
import { runMachine, type RunEnd, type RunInput } from "../../machines/runMachine.ts";
import { EffectFailure } from "../../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import { Replay, standstill } from "./replay.ts";

const id = "r_00000000000000000000000000";
const input: RunInput = { run: id, workflow: "model", source: "s", graph: "g", input: { json: "{}" }, session: null, cwd: "/" };

/** A graph that does as it is told: it stands for any compiled one. */
const toldGraph: AnyStateMachine = setup({
  types: {} as { context: { end: RunEnd | null }; events: { type: "tell"; event: EventObject } | { type: "end"; end: RunEnd }; output: RunEnd },
}).createMachine({
  id: "pawl.graph",
  version: "g",
  context: { end: null },
  initial: "on",
  states: {
    on: { on: { tell: { actions: sendParent(({ event }) => event.event) }, end: "off" } },
    off: { type: "final", output: ({ event }) => ("end" in event ? event.end : null) },
  },
  output: ({ event }) => (event as unknown as { output: RunEnd }).output, // the event of the end carries the final state's output
});

const at = standstill;
const completed: RunEnd = { outcome: "completed", node: "last", visit: `${id}/graph/last.1` };
const failed: RunEnd = { outcome: "failed", node: "last", visit: null, reason: "nodeFailed", message: "no" };
const timedOut: RunEnd = { ...failed, outcome: "timedOut", reason: "nodeTimedOut" };
const unloadable = { reason: "sourceUnloadable", message: "gone" };
const invalid = { reason: "invalidInput", message: "wrong" };

const events: readonly (EventObject & { readonly [key: string]: unknown })[] = [
  { type: "run.activate", at },
  { type: "run.cancel", by: "user", at },
  { type: "run.cancel", by: "agent", at },
  { type: "run.resume", at },
  { type: "xstate.done.actor.prepare", output: { ready: true }, actorId: "prepare", at },
  { type: "xstate.error.actor.prepare", error: unloadable, actorId: "prepare", at },
  { type: "xstate.error.actor.prepare", error: invalid, actorId: "prepare", at },
  { type: "graph.waiting", node: "ask", visit: `${id}/graph/ask.1`, at },
  { type: "graph.ambiguous", node: "pay", visit: `${id}/graph/pay.1`, effect: "e", at },
  { type: "graph.active", at },
  { type: "pawl.childFaulted", child: "graph", actor: `${id}/graph`, message: "broken", at },
  { type: "xstate.done.actor.graph", output: completed, actorId: "graph", at },
  { type: "xstate.done.actor.graph", output: failed, actorId: "graph", at },
  { type: "xstate.done.actor.graph", output: timedOut, actorId: "graph", at },
];

const options = { input, events, stopWhen: (snapshot: { status: string }) => snapshot.status !== "active" };
const paths = getShortestPaths(runMachine as AnyStateMachine, options as never);
const edges = adjacencyMapToArray(getAdjacencyMap(runMachine as AnyStateMachine, options as never)).map(({ state, event, nextState }) => ({
  from: state,
  event: event as (typeof events)[number],
  to: nextState,
}));

const registry = () => createRegistry([defineMachine(runMachine), defineMachine(toldGraph)]);

/** What makes this event happen to the run, in a directory that was just opened. */
async function happen(replay: Replay, event: (typeof events)[number]) {
  const { type, at: _at, ...payload } = event;
  if (type === "xstate.done.actor.prepare")
    return replay.step(id, { "pawl.run.prepare": async () => ({ output: { ready: true } }) }, async ({ runtime }) => runtime.adopt(id));
  if (type === "xstate.error.actor.prepare") {
    const { reason, message } = event["error"] as { reason: string; message: string };
    return replay.step(id, { "pawl.run.prepare": () => Promise.reject(new EffectFailure(reason, message)) }, async ({ runtime }) => runtime.adopt(id));
  }
  if (type === "xstate.done.actor.graph")
    return replay.step(id, {}, async ({ runtime }) => void (await runtime.send(await graphOf(runtime), { type: "end", end: event["output"] })));
  return replay.step(id, {}, async ({ runtime }) => void (await runtime.send(id, { type, ...payload })));
}

/** The graph actor that runs now. */
async function graphOf(runtime: { view(actor: string): Promise<unknown> }): Promise<string> {
  return (await runtime.view(`${id}/graph`)) ? `${id}/graph` : expect.unreachable("no graph runs");
}

/** Events of children can only happen while those children are there. */
const isPossible = (from: { value: unknown }, type: string): boolean => {
  const state = JSON.stringify(from.value);
  if (type.endsWith(".prepare")) return state === '"starting"';
  if (type.endsWith(".graph")) return state.includes("running");
  return true;
};

describe("the run's chart on the real runtime, its database opened anew before every step", () => {
  test("RUN-1 the model has every state of the chart", () => {
    const reached = new Set(paths.map((path) => JSON.stringify((path.state as { value: unknown }).value)));
    expect(reached.size).toBe(11);
  });

  const tried = edges.filter((edge) => isPossible(edge.from as { value: unknown }, edge.event.type));
  test.each(
    tried.map(
      (edge) =>
        [
          `${JSON.stringify((edge.from as { value: unknown }).value)} ${edge.event.type} ${JSON.stringify(edge.event["by"] ?? edge.event["output"] ?? edge.event["error"] ?? "")}`,
          edge,
        ] as const,
    ),
  )("RUN-2 %s", async (_name, edge) => {
    const path = paths.find((candidate) => JSON.stringify(candidate.state) === JSON.stringify(edge.from));
    expect(path, "a path to the edge's source").toBeDefined();
    const replay = new Replay(registry);
    try {
      await replay.step(id, {}, async ({ runtime }) => void (await runtime.start("pawl.run", { id, input })));
      let seen: Awaited<ReturnType<Replay["step"]>> = null;
      for (const step of path?.steps.slice(1) ?? []) await happen(replay, step.event as (typeof events)[number]);
      seen = await happen(replay, edge.event);
      const expected = edge.to as { value: unknown; context: unknown; status: string };
      expect({ value: seen?.value, context: seen?.context, status: seen?.record.status }).toEqual({
        value: expected.value,
        context: expected.context,
        status: expected.status,
      });
    } finally {
      replay.remove();
    }
  });
});

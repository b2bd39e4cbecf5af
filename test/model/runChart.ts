/** The run's chart as a model: what may happen to a run, its paths, and how each of it is made to happen on the real runtime. */
import { sendParent, setup, type AnyStateMachine, type EventObject } from "xstate";
import { adjacencyMapToArray, getAdjacencyMap, getShortestPaths } from "xstate/graph";
import { expect } from "vitest";
import { runMachine, type RunEnd, type RunInput } from "../../machines/runMachine.ts";
import { EffectFailure } from "../../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import { Replay, standstill } from "./replay.ts";

const id = "r_00000000000000000000000000";

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

export type ModelEvent = EventObject & { readonly [key: string]: unknown };

const events: readonly ModelEvent[] = [
  { type: "run.activate", at },
  { type: "run.cancel", by: "user", at },
  { type: "run.cancel", by: "agent", at },
  { type: "run.pause", at },
  { type: "run.resume", at },
  { type: "run.hold", at },
  { type: "xstate.done.actor.prepare", output: { ready: true }, actorId: "prepare", at },
  { type: "xstate.error.actor.prepare", error: unloadable, actorId: "prepare", at },
  { type: "xstate.error.actor.prepare", error: invalid, actorId: "prepare", at },
  { type: "graph.waiting", node: "ask", visit: `${id}/graph/ask.1`, at },
  { type: "graph.ambiguous", node: "pay", visit: `${id}/graph/pay.1`, effect: "e", at },
  { type: "graph.active", at },
  { type: "graph.paused", at },
  { type: "pawl.childFaulted", child: "graph", actor: `${id}/graph`, message: "broken", at },
  { type: "pawl.childMended", child: "graph", actor: `${id}/graph`, at },
  { type: "xstate.done.actor.graph", output: completed, actorId: "graph", at },
  { type: "xstate.done.actor.graph", output: failed, actorId: "graph", at },
  { type: "xstate.done.actor.graph", output: timedOut, actorId: "graph", at },
];

export interface ModelState {
  readonly value: unknown;
  readonly context: unknown;
  readonly status: string;
}

interface Edge {
  readonly event: ModelEvent;
  readonly to: ModelState;
}

/** One state that can be reached, the events that lead to it, and what the chart does there at each event that can happen. */
export interface Place {
  readonly name: string;
  readonly path: readonly ModelEvent[];
  readonly edges: readonly Edge[];
}

/** Every place of the chart for a run with this session. Moving to another session is `run.adopt` with its name. */
export function placesOf(session: string | null, other: string | null = null): readonly Place[] {
  const input: RunInput = { run: id, workflow: "model", source: "s", graph: "g", input: { json: "{}" }, session, cwd: "/" };
  const all = other === null ? events : [...events, { type: "run.adopt", session: other, at }];
  const options = { input, events: all, stopWhen: (snapshot: { status: string }) => snapshot.status !== "active" };
  // xstate/graph types its options by the machine's own events; these hold done and error events too.
  const paths = getShortestPaths(runMachine as AnyStateMachine, options as never);
  const edges = adjacencyMapToArray(getAdjacencyMap(runMachine as AnyStateMachine, options as never));
  return paths
    .filter((path) => path.state.status === "active")
    .map((path) => {
      const state = JSON.stringify(path.state);
      return {
        name: nameOf(path.state),
        path: path.steps.slice(1).map(({ event }) => event as ModelEvent), // one of `all`
        edges: edges
          .filter((edge) => JSON.stringify(edge.state) === state && isPossible(path.state, edge.event.type))
          .map((edge) => ({ event: edge.event as ModelEvent, to: edge.nextState })), // as above
      };
    });
}

/** A state with what of its context decides. */
function nameOf({ value, context }: { value: unknown; context: unknown }): string {
  const { pausedAt, at: place, reason, session } = context as { pausedAt: unknown; at: { node: string } | null; reason: unknown; session: string | null }; // runMachine's
  const words = [pausedAt === null ? "" : "paused", place === null ? "" : `at ${place.node}`, reason === null ? "" : "blocked", session ?? ""];
  return [JSON.stringify(value), ...words.filter((word) => word !== "")].join(", ");
}

/** Events of children can only happen while those children are there. */
const isPossible = (from: { value: unknown }, type: string): boolean => {
  const state = JSON.stringify(from.value);
  if (type.endsWith(".prepare")) return state === '"starting"';
  if (type.endsWith(".graph")) return state.includes("running");
  return true;
};

const registry = () => createRegistry([defineMachine(runMachine), defineMachine(toldGraph)]);

export async function begin(session: string | null): Promise<Replay> {
  const replay = new Replay(registry);
  const input: RunInput = { run: id, workflow: "model", source: "s", graph: "g", input: { json: "{}" }, session, cwd: "/" };
  await replay.step(id, {}, async ({ runtime }) => void (await runtime.start("pawl.run", { id, input })));
  return replay;
}

/** What makes this event happen to the run, in a directory that was just opened. */
export async function happen(replay: Replay, event: ModelEvent) {
  const { type, at: _at, ...payload } = event;
  if (type === "xstate.done.actor.prepare")
    return replay.step(id, { "pawl.run.prepare": async () => ({ output: { ready: true } }) }, async ({ runtime }) => runtime.adopt(id));
  if (type === "xstate.error.actor.prepare") {
    const { reason, message } = event["error"] as { reason: string; message: string }; // one of the two above
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

/** Takes every edge that leaves a place, each from a copy of the directory that stands there. */
export async function takeEdges(session: string | null, { path, edges }: Place): Promise<number> {
  const there = await begin(session);
  try {
    for (const event of path) await happen(there, event);
    for (const { event, to } of edges) {
      const replay = there.copy();
      try {
        const seen = await happen(replay, event);
        expect({ value: seen?.value, context: seen?.context, status: seen?.record.status }, JSON.stringify(event)).toEqual({
          value: to.value,
          context: to.context,
          status: to.status,
        });
      } finally {
        replay.remove();
      }
    }
    return edges.length;
  } finally {
    there.remove();
  }
}

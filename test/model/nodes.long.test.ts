import { describe, expect, test } from "vitest";
import { nodeMachines } from "../../src/workflow/nodeMachines.ts";
import type { RunEnd } from "../../machines/runMachine.ts";
import { at, nodeInput, placesOf, run, takeEdges, type NodeEvent, type NodeModel } from "./nodeChart.ts";

const done = (id: string, output: unknown): NodeEvent => ({ type: `xstate.done.actor.${id}`, output, actorId: id, at });
const failed = (id: string): NodeEvent => ({ type: `xstate.error.actor.${id}`, error: { reason: "nodeFailed", message: "no" }, actorId: id, at });
const due: NodeEvent = { type: "xstate.after.due.wait.waiting", ms: 1000, at: at + 1000 };

/** The end of an effect or child that is invoked only in this state. */
const only =
  (states: { readonly [id: string]: string }) =>
  ({ value }: { readonly value: unknown }, { type }: NodeEvent): boolean => {
    const id = /^xstate\.(?:done|error)\.actor\.([^.]+)/.exec(type)?.[1];
    return id === undefined || states[id] === undefined || states[id] === value;
  };

const asked: NodeModel = {
  machine: nodeMachines.wait,
  input: { ...nodeInput, at, wait: null, asksTimeout: false },
  events: [done("prepare", { timeoutMs: 5, wait: { forMs: 1000 } }), done("prepare", { timeoutMs: null, wait: { until: at } }), failed("prepare"), due],
  isPossible: (state, event) => only({ prepare: "preparing" })(state, event) && (event !== due || state.value === "waiting"),
  effects: { prepare: "pawl.wait.prepare" },
};
const fixed: NodeModel = { ...asked, input: { ...nodeInput, at, wait: { forMs: 1000 }, asksTimeout: false } };

const answered: NodeEvent = {
  type: "checkpoint.answered",
  case: "done",
  value: { ok: true },
  given: "digest",
  key: "k1",
  source: { kind: "human", channel: "terminal", actor: "ann" },
  at,
};
const checkpoint: NodeModel = {
  machine: nodeMachines.checkpoint,
  input: nodeInput,
  events: [done("prepare", { timeoutMs: 5, title: "t", prompt: "p" }), failed("prepare"), answered],
  isPossible: only({ prepare: "preparing" }),
  effects: { prepare: "pawl.checkpoint.prepare" },
};

const inner = { node: "ask", visit: `${run}/graph/step.1/graph/ask.1`, from: "below", at };
const completed: RunEnd = { outcome: "completed", node: "end", visit: `${run}/graph/step.1/graph/end.2` };
const below: readonly NodeEvent[] = [
  { type: "graph.waiting", ...inner },
  { type: "graph.ambiguous", effect: "e", ...inner },
  { type: "graph.active", from: "below", at },
  { type: "graph.paused", from: "below", at },
  { type: "graph.entered", from: "below", at },
];
const include: NodeModel = {
  machine: nodeMachines.include,
  input: { ...nodeInput, graph: "g", source: "s", path: `${run}/graph/step.1/graph`, limit: 3, frozen: false },
  events: [
    done("prepare", { timeoutMs: 5 }),
    failed("prepare"),
    ...["graph.pause", "graph.resume", "graph.freeze", "graph.thaw"].map((type) => ({ type, at })),
    ...below,
    done("graph", completed),
    done("graph", { outcome: "failed", node: "end", visit: null, reason: "maxSteps", message: "no" }),
    done("graph", { outcome: "timedOut", node: "end", visit: null, reason: "nodeTimedOut", message: "no" }),
  ],
  isPossible: (state, event) => only({ prepare: "preparing", graph: "running" })(state, event) && (!below.includes(event) || state.value === "running"),
  effects: { prepare: "pawl.include.prepare" },
};
const spent: NodeModel = { ...include, input: { ...include.input, limit: 0 } };

interface Batch {
  readonly open: readonly number[];
  readonly unknown: readonly string[];
}
const batchOf = (context: unknown): Batch => context as Batch; // batchNode's
const itemOf = (event: NodeEvent): number => Number(/item\.(\d+)$/.exec(event.type.startsWith("effect.") ? String(event["effect"]) : event.type)?.[1] ?? NaN);
const items = [0, 1];
const batch: NodeModel = {
  machine: nodeMachines.batch,
  input: { ...nodeInput, once: true, concurrency: 2, stopOnFailure: false, allowNonZeroExit: false, routes: false },
  events: [
    done("prepare", { timeoutMs: null, count: 2 }),
    failed("prepare"),
    ...items.flatMap((item): NodeEvent[] => [
      done(`item.${item}`, { status: "ok" }),
      done(`item.${item}`, { status: "failed" }),
      { type: "effect.ambiguous", effect: `item.${item}`, at },
      { type: "effect.settled", effect: `item.${item}`, at },
    ]),
    done("collect", { case: "done" }),
    failed("collect"),
  ],
  isPossible: (state, event) => {
    if (!only({ prepare: "preparing", collect: "collecting" })(state, event)) return false;
    const item = itemOf(event);
    if (Number.isNaN(item)) return true;
    const { open, unknown } = batchOf(state.context);
    const isUnknown = unknown.includes(`item.${item}`);
    return open.includes(item) && (event.type === "effect.settled" ? isUnknown : !isUnknown);
  },
  compared: (context, keys) => ({ ...batchOf(context), unknown: batchOf(context).unknown.map((key) => keys.get(key) ?? key) }),
  effects: { prepare: "pawl.batch.prepare", item: "pawl.batch.item", collect: "pawl.batch.collect" },
};
const oneByOne: NodeModel = {
  ...batch,
  input: { ...nodeInput, concurrency: 1, stopOnFailure: true, allowNonZeroExit: true, routes: true },
  events: [...batch.events.filter(({ type }) => !type.startsWith("effect.")), ...items.map((item) => failed(`item.${item}`))],
};

describe.each([
  ["WAIT-1 WAIT-3", "a wait whose time is asked for", asked, 2],
  ["WAIT-1", "a wait with a fixed time", fixed, 1],
  ["CHK-1 CHK-3", "a checkpoint", checkpoint, 2],
  ["INC-3 INC-6", "an included workflow", include, 9],
  ["INC-9", "an included workflow without an entry left", spent, 4],
  ["BATCH-2 BATCH-3", "a batch of once commands", batch, 12],
  ["BATCH-1 BATCH-6", "a batch that stops at the first failure", oneByOne, 4],
] as const)("%s the chart of %s, on the real runtime, its database opened anew before every event", (rules, _what, model, atLeast) => {
  const places = placesOf(model);

  test(`${rules} the model has the places that there are`, () => {
    expect(places.length).toBeGreaterThanOrEqual(atLeast);
  });

  test.each(places.map((place) => [place.name, place] as const))(`${rules} every event at %s`, { timeout: 60_000 }, async (_name, place) => {
    expect(await takeEdges(model, place)).toBeGreaterThan(0);
  });
});

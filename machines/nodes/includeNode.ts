/** A node that is a workflow of its own: the author's callback gives the input, the workflow's graph lives as an actor below, and its end node is the case.
 *  INC-1 the workflow begins with what its own schema made of the input. INC-2 its end is the node's: the id of the end node, with that node's output.
 *  INC-3 what it tells is told on with the inner place, and what the run says is told to it. */
import { assign, enqueueActions, sendParent, sendTo, setup, type DoneActorEvent } from "xstate";
import { effect, machineFromInput, type NodeFailure, type NodeInput, type NodeOutput } from "../define.ts";
import type { RunEnd } from "../runMachine.ts";
import { failureIn, outputIn, timeOf } from "./nodeEvents.ts";

export interface IncludeNodeInput extends NodeInput {
  /** Digest of the workflow's graph, and of the stored sources that it is part of. */
  readonly graph: string;
  readonly source: string;
  /** Id that the graph's actor will have. */
  readonly path: string;
  /** How many nodes it may enter. */
  readonly limit: number;
  /** Deadlines stand still. */
  readonly frozen: boolean;
}

export interface IncludeNodeContext extends IncludeNodeInput {
  /** No further node is entered. */
  readonly paused: boolean;
  readonly outcome: NodeOutput | NodeFailure | null;
}

interface GraphChildInput {
  readonly run: string;
  readonly graph: string;
  readonly source: string;
  readonly path: string;
  readonly limit: number;
  readonly frozen: boolean;
  readonly at: number;
}

type Place = { readonly node: string; readonly visit: string };
type NodeEvent =
  | DoneActorEvent<{ readonly timeoutMs: number | null }, "prepare">
  | DoneActorEvent<RunEnd, "graph">
  | { readonly type: "xstate.error.actor.prepare" | "xstate.error.actor.graph"; readonly error: unknown }
  /** What the graph below tells a run. */
  | ({ readonly type: "graph.waiting" } & Place)
  | ({ readonly type: "graph.ambiguous"; readonly effect: string } & Place)
  | { readonly type: "graph.active" | "graph.paused" | "graph.entered" }
  /** What the run says to its graph. */
  | { readonly type: "graph.pause" | "graph.resume" | "graph.freeze" | "graph.thaw" };

/** Of the effect whose row holds the input. */
export const includeInputVisit = "input";

/** To the graph below, as it came. */
const passOn = "passOn" as const;

export const includeNode = setup({
  types: {} as { context: IncludeNodeContext; input: IncludeNodeInput; events: NodeEvent; output: NodeOutput | NodeFailure },
  actors: {
    prepare: effect<{ readonly timeoutMs: number | null }, NodeInput>("pawl.include.prepare", {
      timeoutMs: 15 * 60_000,
      maxInterrupted: 3,
      visit: () => includeInputVisit,
    }),
    graph: machineFromInput<RunEnd, GraphChildInput>("pawl.graph", (input) => input.graph),
  },
  guards: {
    isSpent: ({ context }) => context.limit < 1,
    isPaused: ({ context }) => context.paused,
  },
  actions: {
    tellDeadline: enqueueActions(({ event, enqueue }) => {
      const given = outputIn(event) as { readonly timeoutMs: number | null }; // only the end of `prepare` comes with this action
      if (given.timeoutMs !== null) enqueue(sendParent({ type: "node.deadline", ms: given.timeoutMs }));
    }),
    tellWaiting: sendParent((_, { node, visit }: Place) => ({ type: "node.waiting", node, visit })),
    tellAmbiguous: sendParent((_, { node, visit, effect: key }: Place & { readonly effect: string }) => ({ type: "node.ambiguous", node, visit, effect: key })),
    tellActive: sendParent({ type: "node.active" }),
    tellPaused: sendParent({ type: "node.paused" }),
    tellEntered: sendParent({ type: "node.entered" }),
    passOn: sendTo("graph", ({ event }) => ({ type: event.type })),
    pause: assign({ paused: true }),
    unpause: assign({ paused: false, frozen: false }),
    freeze: assign({ frozen: true }),
    thaw: assign({ frozen: false }),
    recordEnd: assign({ outcome: (_, end: RunEnd): NodeOutput | NodeFailure => outcomeOf(end) }),
    recordFailure: assign({ outcome: ({ event }) => failureIn(event, "The included workflow could not go on.") }),
    recordSpent: assign({
      outcome: {
        failed: {
          reason: "maxSteps",
          message: "No entry into a node was left for the included workflow. Raise maxSteps, or look for a loop that does not end.",
        },
      },
    }),
  },
}).createMachine({
  id: "include",
  version: "1",
  context: ({ input: { run, node, visit, once, graph, source, path, limit, frozen } }) => ({
    run,
    node,
    visit,
    once,
    graph,
    source,
    path,
    limit,
    frozen,
    paused: false,
    outcome: null,
  }),
  output: ({ context }) => context.outcome ?? failureIn({}, "It ended without a word."),
  initial: "preparing",
  on: {
    "graph.pause": { actions: "pause" },
    "graph.resume": { actions: "unpause" },
    "graph.freeze": { actions: "freeze" },
    "graph.thaw": { actions: "thaw" },
  },
  states: {
    preparing: {
      invoke: {
        id: "prepare",
        src: "prepare",
        input: ({ context: { run, node, visit, once } }) => ({ run, node, visit, once }),
        onDone: [
          { guard: "isSpent", target: "ended", actions: "recordSpent" },
          { guard: "isPaused", target: "standing", actions: "tellDeadline" },
          { target: "running", actions: "tellDeadline" },
        ],
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    /** Its run was paused before the workflow began. */
    standing: { entry: "tellPaused", on: { "graph.resume": { target: "running", actions: "unpause" } } },
    running: {
      invoke: {
        id: "graph",
        src: "graph",
        input: ({ context: { run, graph, source, path, limit, frozen }, event }) => ({ run, graph, source, path, limit, frozen, at: timeOf(event) }),
        onDone: { target: "ended", actions: { type: "recordEnd", params: ({ event }) => event.output } },
        onError: { target: "ended", actions: "recordFailure" },
      },
      on: {
        "graph.pause": { actions: ["pause", passOn] },
        "graph.resume": { actions: ["unpause", passOn] },
        "graph.freeze": { actions: ["freeze", passOn] },
        "graph.thaw": { actions: ["thaw", passOn] },
        "graph.waiting": { actions: { type: "tellWaiting", params: ({ event }) => event } },
        "graph.ambiguous": { actions: { type: "tellAmbiguous", params: ({ event }) => event } },
        "graph.active": { actions: "tellActive" },
        "graph.paused": { actions: "tellPaused" },
        "graph.entered": { actions: "tellEntered" },
      },
    },
    ended: { type: "final" },
  },
  options: { maxIterations: 1000 },
});

/** The value stays with the inner visit that gave it. */
function outcomeOf(end: RunEnd): NodeOutput | NodeFailure {
  return end.outcome === "completed" ? { case: end.node, from: end.visit } : { failed: { reason: end.reason, message: end.message } };
}

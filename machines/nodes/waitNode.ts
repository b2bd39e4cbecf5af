/** A node that waits for a time: a delay from its entry, or a moment.
 *  WAIT-1 the due time is absolute and never moves. WAIT-2 a due time that has passed ends the visit at once. WAIT-3 only what a callback decides is
 *  asked for. */
import { assign, enqueueActions, sendParent, setup, type DoneActorEvent } from "xstate";
import { effect, type NodeFailure, type NodeInput, type NodeOutput } from "../define.ts";
import { failureIn, outputIn, timeOf } from "./nodeEvents.ts";

/** In ms. */
export type WaitTime = { readonly forMs: number } | { readonly until: number };

export interface WaitNodeInput extends NodeInput {
  /** Epoch ms of the entry. */
  readonly at: number;
  /** Null: the author's callbacks give it. */
  readonly wait: WaitTime | null;
  /** A callback gives the deadline. */
  readonly asksTimeout: boolean;
}

export interface WaitNodeContext extends NodeInput {
  readonly asks: boolean;
  /** Epoch ms; null until it is known. */
  readonly dueAt: number | null;
  readonly outcome: NodeOutput | NodeFailure | null;
}

/** What the author's callbacks gave. */
export interface PreparedWait {
  readonly timeoutMs: number | null;
  readonly wait: WaitTime;
}

/** The last moment that a Date can name. */
const endOfTime = 8.64e15;

const dueTime = (wait: WaitTime, at: number): number => Math.min(endOfTime, Math.ceil("until" in wait ? wait.until : at + wait.forMs));

type NodeEvent =
  | (DoneActorEvent<PreparedWait, "prepare"> & { readonly at?: number })
  | { readonly type: "xstate.error.actor.prepare"; readonly error: unknown };

export const waitNode = setup({
  types: {} as { context: WaitNodeContext; input: WaitNodeInput; events: NodeEvent; output: NodeOutput | NodeFailure },
  actors: {
    prepare: effect<PreparedWait, NodeInput>("pawl.wait.prepare", { timeoutMs: 15 * 60_000, maxInterrupted: 3 }),
  },
  guards: {
    asks: ({ context }) => context.asks,
    isOver: ({ context, event }) => (context.dueAt ?? 0) <= timeOf(event),
  },
  delays: { due: ({ context, event }) => Math.max(0, (context.dueAt ?? 0) - timeOf(event)) },
  actions: {
    tellDeadline: enqueueActions(({ event, enqueue }) => {
      const given = outputIn(event) as PreparedWait; // only the end of `prepare` comes with this action
      if (given.timeoutMs !== null) enqueue(sendParent({ type: "node.deadline", ms: given.timeoutMs }));
    }),
    tellWaiting: sendParent(({ context }) => ({ type: "node.waiting", node: context.node })),
    setDue: assign({ dueAt: ({ context, event }) => context.dueAt ?? dueTime((outputIn(event) as PreparedWait).wait, timeOf(event)) }), // as in tellDeadline
    recordEnd: assign({ outcome: ({ context }) => ({ case: "done", value: { dueAt: context.dueAt } }) }),
    recordFailure: assign({ outcome: ({ event }) => failureIn(event, "How long it waits could not be found out.") }),
  },
}).createMachine({
  id: "wait",
  version: "1",
  context: ({ input: { run, node, visit, once, at, wait, asksTimeout } }) => ({
    run,
    node,
    visit,
    once,
    asks: wait === null || asksTimeout,
    dueAt: wait === null ? null : dueTime(wait, at),
    outcome: null,
  }),
  output: ({ context }) => context.outcome ?? failureIn({}, "It ended without a word."),
  initial: "entered",
  states: {
    entered: { always: [{ guard: "asks", target: "preparing" }, { target: "pending" }] },
    preparing: {
      invoke: {
        id: "prepare",
        src: "prepare",
        input: ({ context: { run, node, visit, once } }) => ({ run, node, visit, once }),
        onDone: { target: "pending", actions: ["tellDeadline", "setDue"] },
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    pending: { always: [{ guard: "isOver", target: "ended", actions: "recordEnd" }, { target: "waiting" }] },
    waiting: { entry: "tellWaiting", after: { due: { target: "ended", actions: "recordEnd" } } },
    ended: { type: "final" },
  },
  options: { maxIterations: 1000 },
});

/** A node that runs many commands, some at a time: each is an effect of its own, so that what has ended is never run again, and what is unknown is settled
 *  by itself.
 *  BATCH-1 at most so many commands run at a time. BATCH-2 each command's result is saved as it ends. BATCH-3 an unknown outcome parks the run when nothing
 *  else of the batch is left to do. */
import { assign, enqueueActions, sendParent, setup, type DoneActorEvent } from "xstate";
import { effect, type NodeFailure, type NodeInput, type NodeOutput } from "../define.ts";
import { failureIn, outputIn } from "./nodeEvents.ts";

export interface BatchSettings {
  readonly concurrency: number;
  readonly stopOnFailure: boolean;
  readonly allowNonZeroExit: boolean;
  /** The author's code names the case to take, by the results. */
  readonly routes: boolean;
}

export type BatchNodeInput = NodeInput & BatchSettings;

/** Of one command. `item`: its place in the list, from 0. */
export interface BatchItemInput extends NodeInput {
  readonly item: number;
}

/** Its whole result is in the effect's row. */
export interface BatchItemOutput {
  readonly status: "ok" | "failed";
}

export interface BatchCollectInput extends NodeInput {
  readonly count: number;
  readonly allowNonZeroExit: boolean;
  readonly routes: boolean;
}

export interface BatchNodeContext extends NodeInput, BatchSettings {
  /** Commands in all, and those that have begun. */
  readonly count: number;
  readonly begun: number;
  /** Places of those that have begun and not ended. */
  readonly open: readonly number[];
  /** Keys of the effects among them whose outcome is unknown. */
  readonly unknown: readonly string[];
  readonly hasFailed: boolean;
  readonly outcome: NodeOutput | NodeFailure | null;
}

type NodeEvent =
  | DoneActorEvent<{ readonly count: number; readonly timeoutMs: number | null }, "prepare">
  | DoneActorEvent<{ readonly case: string }, "collect">
  | (DoneActorEvent<BatchItemOutput, `item.${number}`> & { readonly actorId: string })
  | { readonly type: `xstate.error.actor.item.${number}`; readonly error: unknown }
  | { readonly type: "xstate.error.actor.prepare" | "xstate.error.actor.collect"; readonly error: unknown }
  /** The runtime's word on an effect of this actor. */
  | { readonly type: "effect.ambiguous" | "effect.settled"; readonly effect: string };

/** Of the effects whose rows hold the commands, and all results. */
export const batchCommandsVisit = "commands";
export const batchResultsVisit = "results";
export const batchItemVisit = (item: number): string => `item.${item}`;

const placeIn = ({ type }: { readonly type: string }): number => Number(type.slice(type.lastIndexOf(".") + 1));

/** Commands that have not begun, and will. */
const left = ({ count, begun, stopOnFailure, hasFailed }: BatchNodeContext): number => (stopOnFailure && hasFailed ? 0 : count - begun);

/** Those that run now. */
const running = ({ open, unknown }: BatchNodeContext): number => open.length - unknown.length;

const ofNode = ({ run, node, visit, once }: NodeInput): NodeInput => ({ run, node, visit, once });

export const batchNode = setup({
  types: {} as { context: BatchNodeContext; input: BatchNodeInput; events: NodeEvent; output: NodeOutput | NodeFailure },
  actors: {
    prepare: effect<{ readonly count: number; readonly timeoutMs: number | null }, NodeInput>("pawl.batch.prepare", {
      timeoutMs: 15 * 60_000,
      maxInterrupted: 3,
      visit: () => batchCommandsVisit,
    }),
    item: effect<BatchItemOutput, BatchItemInput>("pawl.batch.item", {
      once: (input) => input.once,
      maxInterrupted: 3,
      visit: (input) => batchItemVisit(input.item),
    }),
    collect: effect<{ readonly case: string }, BatchCollectInput>("pawl.batch.collect", {
      timeoutMs: 15 * 60_000,
      maxInterrupted: 3,
      visit: () => batchResultsVisit,
    }),
  },
  guards: { isOver: ({ context }) => context.open.length === 0 && left(context) === 0 },
  actions: {
    tellDeadline: enqueueActions(({ event, enqueue }) => {
      const given = outputIn(event) as { readonly timeoutMs: number | null }; // only the end of `prepare` comes with this action
      if (given.timeoutMs !== null) enqueue(sendParent({ type: "node.deadline", ms: given.timeoutMs }));
    }),
    count: assign({ count: ({ event }) => (outputIn(event) as { readonly count: number }).count }), // as in tellDeadline
    begin: enqueueActions(({ context, enqueue }) => {
      const places = Math.min(left(context), Math.max(0, context.concurrency - running(context)));
      if (places < 1) return;
      const items = Array.from({ length: places }, (_, index) => context.begun + index);
      for (const item of items) enqueue.spawnChild("item", { id: `item.${item}`, input: { ...ofNode(context), item } });
      enqueue.assign({ begun: context.begun + places, open: [...context.open, ...items] });
    }),
    /** An effect that has ended stays a child until it is stopped. */
    forget: enqueueActions(({ event, enqueue }) => enqueue.stopChild(`item.${placeIn(event)}`)),
    recordEnd: assign({
      open: ({ context, event }) => context.open.filter((item) => item !== placeIn(event)),
      hasFailed: ({ context, event }) => context.hasFailed || (outputIn(event) as BatchItemOutput | undefined)?.status !== "ok", // a command's own end, or an error without output
    }),
    noteUnknown: assign({ unknown: ({ context, event }) => ("effect" in event ? [...context.unknown, event.effect] : context.unknown) }),
    noteSettled: assign({ unknown: ({ context, event }) => context.unknown.filter((key) => !("effect" in event) || key !== event.effect) }),
    /** What a person must settle is asked when nothing else goes on. */
    tellIfStuck: enqueueActions(({ context, enqueue }) => {
      const [key] = context.unknown;
      if (key !== undefined && running(context) === 0 && left(context) === 0) enqueue(sendParent({ type: "node.ambiguous", effect: key }));
    }),
    tellActive: sendParent({ type: "node.active" }),
    recordResults: assign({ outcome: ({ event }) => ({ case: (outputIn(event) as { readonly case: string }).case, kept: batchResultsVisit }) }), // only the end of `collect` comes with this action
    recordFailure: assign({ outcome: ({ event }) => failureIn(event, "The batch ended with an error that says nothing.") }),
  },
}).createMachine({
  id: "batch",
  version: "1",
  context: ({ input: { run, node, visit, once, concurrency, stopOnFailure, allowNonZeroExit, routes } }) => ({
    run,
    node,
    visit,
    once,
    concurrency,
    stopOnFailure,
    allowNonZeroExit,
    routes,
    count: 0,
    begun: 0,
    open: [],
    unknown: [],
    hasFailed: false,
    outcome: null,
  }),
  output: ({ context }) => context.outcome ?? failureIn({}, "It ended without a word."),
  initial: "preparing",
  states: {
    preparing: {
      invoke: {
        id: "prepare",
        src: "prepare",
        input: ({ context }) => ofNode(context),
        onDone: { target: "working", actions: ["tellDeadline", "count"] },
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    working: {
      entry: "begin",
      always: { guard: "isOver", target: "collecting" },
      on: {
        "xstate.done.actor.item.*": { actions: ["forget", "recordEnd", "begin", "tellIfStuck"] },
        "xstate.error.actor.item.*": { actions: ["forget", "recordEnd", "begin", "tellIfStuck"] },
        "effect.ambiguous": { actions: ["noteUnknown", "begin", "tellIfStuck"] },
        "effect.settled": { actions: ["noteSettled", "tellActive", "tellIfStuck"] },
      },
    },
    collecting: {
      invoke: {
        id: "collect",
        src: "collect",
        input: ({ context }) => ({ ...ofNode(context), count: context.count, allowNonZeroExit: context.allowNonZeroExit, routes: context.routes }),
        onDone: { target: "ended", actions: "recordResults" },
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    ended: { type: "final" },
  },
  options: { maxIterations: 1000 },
});

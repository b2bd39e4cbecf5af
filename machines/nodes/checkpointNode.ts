/** A node that waits for one answer, from anybody: a person, a program, a model.
 *  CHK-1 its run is parked until it is answered. CHK-2 only an answer that the host has validated ends it. CHK-3 it is answered once. */
import { assign, enqueueActions, sendParent, setup, type DoneActorEvent } from "xstate";
import { z } from "zod";
import { effect, type NodeFailure, type NodeInput, type NodeOutput } from "../define.ts";
import { failureIn, outputIn } from "./nodeEvents.ts";

/** Who answered. */
export const AnswerSource = z.strictObject({ kind: z.enum(["human", "model", "program"]), channel: z.string().max(1024), actor: z.string().max(1024) });
export type AnswerSource = z.infer<typeof AnswerSource>;

/** An answer that fits the node's schema and rules. */
export const CheckpointAnswered = z.strictObject({
  type: z.literal("checkpoint.answered"),
  case: z.string(),
  /** What the schema made of it. */
  value: z.unknown(),
  /** Digest of what was given, and the key that it was given under. */
  given: z.string(),
  key: z.string(),
  source: AnswerSource,
});
export type CheckpointAnswered = z.infer<typeof CheckpointAnswered>;

/** What the author's callbacks gave. */
export interface PreparedCheckpoint {
  readonly timeoutMs: number | null;
  readonly title: string;
  readonly prompt: string;
}

export interface CheckpointNodeContext extends NodeInput {
  readonly title: string;
  readonly prompt: string;
  /** The one that counted; `at` in epoch ms. */
  readonly answer: (Pick<CheckpointAnswered, "given" | "key" | "source"> & { readonly at: number }) | null;
  readonly outcome: NodeOutput | NodeFailure | null;
}

type NodeEvent =
  | DoneActorEvent<PreparedCheckpoint, "prepare">
  | { readonly type: "xstate.error.actor.prepare"; readonly error: unknown }
  | (CheckpointAnswered & { readonly at?: number });

export const checkpointNode = setup({
  types: {} as { context: CheckpointNodeContext; input: NodeInput; events: NodeEvent; output: NodeOutput | NodeFailure },
  actors: { prepare: effect<PreparedCheckpoint, NodeInput>("pawl.checkpoint.prepare", { timeoutMs: 15 * 60_000, maxInterrupted: 3 }) },
  actions: {
    tellDeadline: enqueueActions(({ event, enqueue }) => {
      const given = outputIn(event) as PreparedCheckpoint; // only the end of `prepare` comes with this action
      if (given.timeoutMs !== null) enqueue(sendParent({ type: "node.deadline", ms: given.timeoutMs }));
    }),
    tellWaiting: sendParent(({ context }) => ({ type: "node.waiting", node: context.node })),
    keepQuestion: assign(({ event }) => {
      const { title, prompt } = outputIn(event) as PreparedCheckpoint; // as in tellDeadline
      return { title, prompt };
    }),
    recordAnswer: assign((_, { case: taken, value, given, key, source, at = 0 }: CheckpointAnswered & { readonly at?: number }) => ({
      answer: { given, key, source, at },
      outcome: { case: taken, value },
    })),
    recordFailure: assign({ outcome: ({ event }) => failureIn(event, "The checkpoint could not be made.") }),
  },
}).createMachine({
  id: "checkpoint",
  version: "1",
  context: ({ input: { run, node, visit, once } }) => ({ run, node, visit, once, title: "", prompt: "", answer: null, outcome: null }),
  output: ({ context }) => context.outcome ?? failureIn({}, "It ended without an answer."),
  initial: "preparing",
  states: {
    preparing: {
      invoke: {
        id: "prepare",
        src: "prepare",
        input: ({ context: { run, node, visit, once } }) => ({ run, node, visit, once }),
        onDone: { target: "waiting", actions: ["tellDeadline", "keepQuestion"] },
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    waiting: {
      entry: "tellWaiting",
      on: { "checkpoint.answered": { target: "ended", actions: { type: "recordAnswer", params: ({ event }) => event } } },
    },
    ended: { type: "final" },
  },
  options: { maxIterations: 1000 },
});

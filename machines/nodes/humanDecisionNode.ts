/** A node that asks people and waits: it prepares the request by an effect, tells its graph that it waits, and ends with the decision.
 *  DEC-20 a request that cannot be made fails the visit and asks nobody. DEC-21 the node ends once, with the decision's own outcome. */
import { assign, enqueueActions, sendParent, setup, type DoneActorEvent } from "xstate";
import type { PreparedDecision } from "../contracts/buildRequest.ts";
import { decisionMachine, type DecisionInput, type DecisionOutput } from "../decisionMachine.ts";
import { effect, type NodeFailure, type NodeInput, type NodeOutput } from "../define.ts";

export interface HumanDecisionNodeContext extends NodeInput {
  /** How the visit ended; null while it is open. */
  readonly outcome: NodeOutput | NodeFailure | null;
}

/** Runs the author's callbacks, makes the request and its code. The same name as `graphEffects.prepareDecision`. */
const prepareDecision = effect<PreparedDecision, NodeInput>("pawl.decision.prepare", { timeoutMs: 15 * 60_000, maxInterrupted: 3 });

type Stamped<E> = E & { readonly at?: number };
type NodeEvent =
  | Stamped<DoneActorEvent<PreparedDecision, "prepare">>
  | Stamped<DoneActorEvent<DecisionOutput, "decision">>
  | { readonly type: "xstate.error.actor.prepare" | "xstate.error.actor.decision"; readonly error: unknown };

export const humanDecisionNode = setup({
  types: {} as { context: HumanDecisionNodeContext; input: NodeInput; events: NodeEvent; output: NodeOutput | NodeFailure },
  actors: { prepareDecision, decision: decisionMachine },
  actions: {
    /** Only here it is known what a callback gave. */
    tellDeadline: enqueueActions(({ event, enqueue }) => {
      const timeoutMs = event.type === "xstate.done.actor.prepare" ? event.output.timeoutMs : null;
      if (typeof timeoutMs === "number") enqueue(sendParent({ type: "node.deadline", ms: timeoutMs }));
    }),
    tellWaiting: sendParent(({ context }) => ({ type: "node.waiting", node: context.node })),
    recordOutcome: assign({ outcome: ({ event }) => (event.type === "xstate.done.actor.decision" ? event.output : null) }),
    recordFailure: assign({ outcome: ({ event }): NodeFailure => ({ failed: failureOf("error" in event ? event.error : undefined) }) }),
  },
}).createMachine({
  id: "humanDecision",
  version: "1",
  context: ({ input }) => ({ ...input, outcome: null }),
  output: ({ context }) => context.outcome ?? { failed: failureOf(undefined) },
  initial: "preparing",
  states: {
    preparing: {
      invoke: {
        id: "prepare",
        src: "prepareDecision",
        input: ({ context: { run, node, visit, once } }) => ({ run, node, visit, once }),
        onDone: { target: "asking", actions: "tellDeadline" },
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    asking: {
      entry: "tellWaiting",
      invoke: {
        id: "decision",
        src: "decision",
        input: ({ event }) => decisionInput(event),
        onDone: { target: "ended", actions: "recordOutcome" },
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    ended: { type: "final" },
  },
  options: { maxIterations: 1000 },
});

/** The request goes from the effect's result straight into the decision: the node keeps no copy of it. */
function decisionInput(event: NodeEvent): DecisionInput {
  if (event.type !== "xstate.done.actor.prepare") throw new Error(`A decision opens when its request is prepared, not by "${event.type}".`);
  const { request, code, deadlineAt, defaultResponse } = event.output;
  return { request, code, deadlineAt, defaultResponse, openedAt: event.at ?? request.createdAt };
}

function failureOf(error: unknown): { readonly reason: string; readonly message: string } {
  const { reason, message } =
    typeof error === "object" && error !== null
      ? { reason: "reason" in error ? error.reason : undefined, message: "message" in error ? error.message : undefined }
      : { reason: undefined, message: error };
  return {
    reason: typeof reason === "string" ? reason : "nodeFailed",
    message: typeof message === "string" && message !== "" ? message : "The decision could not be asked.",
  };
}

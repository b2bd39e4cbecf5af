/** The vocabulary of compiled graphs: events, guards and actions by name. Pure. */
import { assign, enqueueActions, sendParent, sendTo, setup, type AnyActorLogic } from "xstate";
import { graphActor } from "../visitNames.ts";
import { stepsLeft } from "./actorInput.ts";
import type { Failure } from "./context.ts";
import type { GraphContext, GraphInput, GraphOutput, NodeFailure, NodeOutput, Visits } from "./graph.ts";
import { givenDeadline, isDue, ticking, type DeadlineEvent, type StepTimedOut } from "./stepDeadline.ts";

/** Where a paused graph stands between two nodes. No node can have such a name. */
export const pausedState = "$paused";

/** The states a graph ends in. No node can have such a name. */
export const endStates = { completed: "$completed", failed: "$failed", timedOut: "$timedOut" } as const;

/** Reasons that take a node's `timedOut` route; every other failure takes `failed`. */
const timeoutReasons: readonly string[] = ["nodeTimedOut", "decisionExpired"];

type GraphEvent =
  /** A child with a life of its own waits for people or time; `visit` is the inner one where that is in an included workflow. */
  | { readonly type: "node.waiting"; readonly node?: string; readonly visit?: string }
  /** It works again. */
  | { readonly type: "node.active" }
  /** The outcome of an effect below it is unknown, and nothing else of it goes on. */
  | { readonly type: "node.ambiguous"; readonly effect: string; readonly node?: string; readonly visit?: string }
  /** An included workflow has entered a node; it stands between two of its own. */
  | { readonly type: "node.entered" | "node.paused" }
  /** It counts its time only while its clock goes. */
  | { readonly type: "node.clockStopped" | "node.clockStarted" }
  | DeadlineEvent
  | StepTimedOut
  /** The run's word: no further node, or on with the next one. */
  | { readonly type: "graph.pause" | "graph.resume" }
  /** The run's word: deadlines stand still, or go on. */
  | { readonly type: "graph.freeze" | "graph.thaw" }
  /** The runtime's word on an effect of this actor. */
  | { readonly type: "effect.ambiguous" | "effect.settled"; readonly effect: string }
  | { readonly type: `xstate.done.actor.${string}`; readonly output: NodeOutput | NodeFailure }
  | { readonly type: `xstate.error.actor.${string}`; readonly error: unknown };

type AnyEvent = { readonly type: string };

const deadlineTimer = "deadline";

/** `as: "failed"` fits every failure, `"timedOut"` only an elapsed one. With `spent`: only when no entry into a node is left. */
export interface FailureParams extends PauseParams {
  readonly as: "failed" | "timedOut";
  readonly spent?: true;
}

/** With `paused` a guard holds only while the graph is. */
export interface PauseParams {
  readonly paused?: true;
}

/** Guards and actions for a graph whose states invoke these actors, by node id. */
export function graphSetup(actors: Record<string, AnyActorLogic>) {
  return setup({
    types: {} as { context: GraphContext; input: GraphInput; output: GraphOutput; events: GraphEvent },
    actors,
    guards: {
      took: ({ context, event }, params: { readonly case: string } & PauseParams) => holds(context, params) && outputOf(event)?.case === params.case,
      outOfSteps: ({ context, event }, params: { readonly cases: readonly string[] }) =>
        stepsLeft(context) < 1 && params.cases.includes(outputOf(event)?.case ?? ""),
      failed: ({ context, event }, params: FailureParams) =>
        holds(context, params) && isFailure(context, event, params.as) && (params.spent === undefined || stepsLeft(context) < 1),
      goesTo: ({ context }, params: { readonly node: string }) => context.target === params.node,
    },
    actions: {
      pause: assign({ paused: true }),
      /** Whether its run stands still, to a node that speaks to an agent. */
      tellHeld: sendTo(
        (_, params: { readonly node: string }) => params.node,
        ({ context }) => ({ type: "node.held", held: context.paused || context.frozen }),
      ),
      unpause: assign({ paused: false }),
      rememberTarget: assign({ target: (_, params: { readonly node: string }) => params.node }),
      goOn: assign({ paused: false, target: null }),
      tellPaused: sendParent({ type: "graph.paused" }),
      freeze: assign({ frozen: true }),
      thaw: assign({ frozen: false }),
      stopClock: assign({ deadline: ({ context }) => context.deadline && { ...context.deadline, stopped: true } }),
      startClock: assign({ deadline: ({ context }) => context.deadline && { ...context.deadline, stopped: false } }),
      setDeadline: assign({ deadline: ({ context, event }, params: { readonly ms: number | null }) => givenDeadline(context, params.ms, timeOf(event)) }),
      /** Makes the timer what the context says. */
      runDeadline: enqueueActions(({ context, event, enqueue }) => {
        const deadline = ticking(context, timeOf(event));
        if (deadline === null) return;
        enqueue.assign({ deadline });
        if (deadline.dueAt === null) enqueue.cancel(deadlineTimer);
        else enqueue.raise({ type: "step.timedOut", ms: deadline.ms }, { id: deadlineTimer, delay: Math.max(0, deadline.dueAt - timeOf(event)) });
      }),
      clearDeadline: enqueueActions(({ context, enqueue }) => {
        if (context.deadline === null) return;
        enqueue.cancel(deadlineTimer);
        enqueue.assign({ deadline: null });
      }),
      enter: assign({ step: ({ context }) => context.step + 1 }),
      recordAccepted: assign({
        visits: ({ context, event }, params: { readonly node: string }) =>
          recorded(context, params.node, { status: "accepted", case: outputOf(event)?.case ?? null, reason: null }),
      }),
      recordFailed: assign({
        visits: ({ context, event }, params: { readonly node: string; readonly as: "failed" | "timedOut" }) =>
          recorded(context, params.node, { status: params.as, case: null, reason: failureOf(event).reason }),
      }),
      complete: assign({
        end: ({ context }, params: { readonly node: string }): GraphOutput => ({
          outcome: "completed",
          node: params.node,
          visit: visitId(context, params.node),
        }),
      }),
      fail: assign({
        end: ({ context, event }, params: { readonly node: string; readonly as: "failed" | "timedOut" }): GraphOutput => ({
          outcome: params.as,
          node: params.node,
          visit: visitId(context, params.node),
          ...failureOf(event),
        }),
      }),
      failRouting: assign({
        end: ({ context, event }, params: { readonly node: string; readonly cases: readonly string[] }) =>
          routingFailure(context, params.node, outputOf(event), params.cases),
      }),
      failSteps: assign({ end: ({ context }, params: { readonly node: string }) => stepsFailure(context, params.node) }),
      tellWaiting: sendParent(({ context, event }, params: { readonly node: string }) => ({ type: "graph.waiting", ...placeOf(context, event, params.node) })),
      tellActive: sendParent({ type: "graph.active" }),
      tellAmbiguous: sendParent(({ context, event }, params: { readonly node: string }) => ({
        type: "graph.ambiguous",
        ...placeOf(context, event, params.node),
        effect: "effect" in event ? event.effect : "",
      })),
      /** Its entries count for whatever includes it; a run's own graph counts for itself alone. */
      tellEntered: enqueueActions(({ context, enqueue }) => {
        if (isIncluded(context)) enqueue(sendParent({ type: "graph.entered" }));
      }),
      countIncluded: assign({ included: ({ context }) => context.included + 1 }),
      /** To the workflow that this node includes. */
      passOn: sendTo(
        (_, params: { readonly node: string }) => params.node,
        ({ event }) => ({ type: event.type }),
      ),
    },
  });
}

/** The runtime stamps every event but the first, whose time is in its input; a machine that runs elsewhere has no such time. */
export function timeOf(event: object): number {
  const stamped = "input" in event && typeof event.input === "object" && event.input !== null ? event.input : event;
  return "at" in stamped && typeof stamped.at === "number" ? stamped.at : 0;
}

const isIncluded = ({ path, run }: GraphContext): boolean => path !== graphActor(run);

const holds = (context: GraphContext, { paused }: PauseParams): boolean => paused === undefined || context.paused;

/** Id of the open visit of the node that the graph is in. */
const visitId = (context: GraphContext, node: string): string => `${context.path}/${node}.${context.step}`;

/** Where something stands: where the event says that, in a workflow that this node includes, or at the node itself. */
const placeOf = (context: GraphContext, event: AnyEvent, node: string): { readonly node: string; readonly visit: string } =>
  "visit" in event && typeof event.visit === "string" && "node" in event && typeof event.node === "string"
    ? { node: event.node, visit: event.visit }
    : { node, visit: visitId(context, node) };

const recorded = (context: GraphContext, node: string, outcome: Omit<Visits[string], "visit">): Visits => ({
  ...context.visits,
  [node]: { visit: visitId(context, node), ...outcome },
});

/** What a visit ended with; null for a failure, and for other events. */
function outputOf(event: AnyEvent): NodeOutput | null {
  if (!("output" in event) || typeof event.output !== "object" || event.output === null) return null;
  return "case" in event.output && typeof event.output.case === "string" ? { case: event.output.case } : null;
}

function isFailure(context: GraphContext, event: AnyEvent, as: "failed" | "timedOut"): boolean {
  if (event.type === "step.timedOut" && !isDue(context)) return false;
  const failed = event.type === "step.timedOut" || event.type.startsWith("xstate.error.actor.") || failedOutput(event) !== undefined;
  return failed && (as === "failed" || timeoutReasons.includes(failureOf(event).reason));
}

const failedOutput = (event: AnyEvent): unknown =>
  "output" in event && typeof event.output === "object" && event.output !== null && "failed" in event.output ? event.output.failed : undefined;

/** Reason and message of a failed visit, whatever was thrown. */
function failureOf(event: AnyEvent): Failure {
  if (event.type === "step.timedOut" && "ms" in event) return { reason: "nodeTimedOut", message: `It took longer than ${String(event.ms)} ms.` };
  const error: unknown = "error" in event ? event.error : failedOutput(event);
  if (typeof error !== "object" || error === null)
    return { reason: "nodeFailed", message: typeof error === "string" ? error : "The node failed without saying why." };
  return {
    reason: "reason" in error && typeof error.reason === "string" ? error.reason : "nodeFailed",
    message: "message" in error && typeof error.message === "string" ? error.message : "The node failed without saying why.",
  };
}

function routingFailure(context: GraphContext, node: string, output: NodeOutput | null, cases: readonly string[]): GraphOutput {
  const took = output ? `took the case "${output.case}"` : "ended without naming a case";
  return {
    outcome: "failed",
    node,
    visit: visitId(context, node),
    reason: "routing",
    message: `Node "${node}" ${took}, which has no route. Its cases are: ${cases.join(", ")}.`,
  };
}

const stepsFailure = (context: GraphContext, node: string): GraphOutput => ({
  outcome: "failed",
  node,
  visit: visitId(context, node),
  reason: "maxSteps",
  message: `${
    isIncluded(context)
      ? `The included workflow has entered ${context.limit} nodes, all that maxSteps left it,`
      : `The run has entered ${context.limit} nodes, its limit maxSteps,`
  } and ended after node "${node}". Raise maxSteps, or look for a loop that does not end.`,
});

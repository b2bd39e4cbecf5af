/** One execution of a workflow for one input (SPEC 5). It holds the life; the graph actor below it holds the place.
 *  RUN-1 a run is durable as `queued` before anybody is told its id. RUN-2 it starts once. RUN-3 cancel is taken in every state that is not final.
 *  RUN-4 an outcome is final. RUN-5 a run that waits, is ambiguous or blocked says why and what ends it. */
import { assign, setup } from "xstate";
import { z } from "zod";
import { effect, machineFromInput } from "./define.ts";

const text = z.string();

/** Events from outside. */
export const RunCommand = z.discriminatedUnion("type", [
  /** Lets a queued run begin. */
  z.strictObject({ type: z.literal("run.activate") }),
  z.strictObject({ type: z.literal("run.cancel"), by: z.enum(["user", "agent"]) }),
  /** Tries again what blocked it. */
  z.strictObject({ type: z.literal("run.resume") }),
]);
export type RunCommand = z.infer<typeof RunCommand>;

/** Events from the graph actor below, and from the runtime about it. */
export const RunFact = z.discriminatedUnion("type", [
  z.object({ type: z.literal("graph.waiting"), node: text, visit: text }),
  z.object({ type: z.literal("graph.active") }),
  z.object({ type: z.literal("graph.ambiguous"), node: text, visit: text, effect: text }),
  z.object({ type: z.literal("pawl.childFaulted"), child: text, actor: text, message: text }),
]);
export type RunFact = z.infer<typeof RunFact>;

/** A value in a row, or the hash of the blob that holds it. */
export type ValueRef = { readonly json: string } | { readonly blob: string; readonly bytes: number };

export interface RunInput {
  readonly run: string;
  readonly workflow: string;
  /** Digest of the stored sources. */
  readonly source: string;
  /** Digest of the stored graph data: the version of the graph machine. */
  readonly graph: string;
  readonly input: ValueRef;
  readonly session: string | null;
  /** Absolute directory that it was started in: where its commands run, whoever resumes it from wherever. */
  readonly cwd: string;
}

/** How the graph ended: GraphOutput of src/workflow/graph.ts. */
export type RunEnd =
  | { readonly outcome: "completed"; readonly node: string; readonly visit: string }
  | { readonly outcome: "failed" | "timedOut"; readonly node: string; readonly visit: string | null; readonly reason: string; readonly message: string };

export interface RunContext extends RunInput {
  /** The visit it waits in or is ambiguous at. */
  readonly at: { readonly node: string; readonly visit: string; readonly effect: string | null } | null;
  /** Closed reason (SPEC 5) and text, when it ended otherwise than completed, or is blocked. */
  readonly reason: { readonly code: string; readonly message: string } | null;
  /** The end node and its visit, whose output is the result. */
  readonly end: { readonly node: string; readonly visit: string } | null;
  readonly endedAt: number | null;
}

/** What `pawl.run.prepare` is asked: load the stored sources, compare the graph, validate the input. */
export interface PrepareRunInput {
  readonly run: string;
  readonly source: string;
  readonly graph: string;
  readonly input: ValueRef;
}

type Failure = { readonly reason: string; readonly message: string };

export const runMachine = setup({
  types: {} as {
    context: RunContext;
    input: RunInput;
    events: (RunCommand | RunFact) & { readonly at: number };
    output: { readonly outcome: "completed" | "failed" | "timedOut" | "cancelled" };
    tags: "parked";
  },
  actors: {
    // Two tries: a definition that takes its process down with it must not do so for ever.
    prepare: effect<{ readonly ready: true }, PrepareRunInput>("pawl.run.prepare", { maxInterrupted: 2, timeoutMs: 60_000 }),
    graph: machineFromInput<RunEnd, { readonly run: string; readonly graph: string; readonly source: string }>("pawl.graph", (input) => input.graph),
  },
  guards: {
    endedAs: (_, params: { readonly is: RunEnd["outcome"]; readonly end: RunEnd }) => params.end.outcome === params.is,
    cannotLoad: (_, failure: Failure) => failure.reason === "sourceUnloadable",
  },
  actions: {
    standAt: assign({ at: (_, at: RunContext["at"]) => at }),
    standNowhere: assign({ at: null }),
    recordEnd: assign((_, params: { readonly end: RunEnd; readonly at: number }) => ({
      at: null,
      endedAt: params.at,
      end: params.end.outcome === "completed" ? { node: params.end.node, visit: params.end.visit } : null,
      reason: params.end.outcome === "completed" ? null : { code: params.end.reason, message: params.end.message },
    })),
    recordFailure: assign((_, params: { readonly failure: Failure; readonly at: number }) => ({
      at: null,
      endedAt: params.at,
      reason: { code: params.failure.reason, message: params.failure.message },
    })),
    recordCancel: assign((_, params: { readonly by: "user" | "agent"; readonly at: number }) => ({
      at: null,
      endedAt: params.at,
      reason: { code: params.by === "user" ? "userCancelled" : "agentCancelled", message: `Cancelled by the ${params.by}.` },
    })),
    recordBlock: assign({ reason: (_, reason: RunContext["reason"]) => reason }),
    clearBlock: assign({ reason: null }),
  },
}).createMachine({
  id: "pawl.run",
  version: "1",
  context: ({ input }) => ({ ...input, at: null, reason: null, end: null, endedAt: null }),
  initial: "queued",
  on: {
    "run.cancel": { target: ".cancelled", actions: { type: "recordCancel", params: ({ event }) => ({ by: event.by, at: event.at }) } },
  },
  states: {
    queued: { on: { "run.activate": "starting" } },
    starting: {
      invoke: {
        id: "prepare",
        src: "prepare",
        input: ({ context }) => ({ run: context.run, source: context.source, graph: context.graph, input: context.input }),
        onDone: "running",
        onError: [
          {
            guard: { type: "cannotLoad", params: ({ event }) => failureOf(event.error) },
            target: "blocked",
            actions: { type: "recordBlock", params: ({ event }) => ({ code: "sourceUnloadable", message: failureOf(event.error).message }) },
          },
          { target: "failed", actions: { type: "recordFailure", params: ({ event }) => ({ failure: startFailure(event.error), at: timeOf(event) }) } },
        ],
      },
    },
    running: {
      initial: "active",
      invoke: {
        id: "graph",
        src: "graph",
        input: ({ context }) => ({ run: context.run, graph: context.graph, source: context.source }),
        onDone: [
          {
            guard: { type: "endedAs", params: ({ event }) => ({ is: "completed", end: event.output }) },
            target: "completed",
            actions: { type: "recordEnd", params: ({ event }) => ({ end: event.output, at: timeOf(event) }) },
          },
          {
            guard: { type: "endedAs", params: ({ event }) => ({ is: "timedOut", end: event.output }) },
            target: "timedOut",
            actions: { type: "recordEnd", params: ({ event }) => ({ end: event.output, at: timeOf(event) }) },
          },
          { target: "failed", actions: { type: "recordEnd", params: ({ event }) => ({ end: event.output, at: timeOf(event) }) } },
        ],
        onError: { target: "failed", actions: { type: "recordFailure", params: ({ event }) => ({ failure: failureOf(event.error), at: timeOf(event) }) } },
      },
      on: {
        "graph.waiting": { target: ".waiting", actions: { type: "standAt", params: ({ event }) => ({ node: event.node, visit: event.visit, effect: null }) } },
        "graph.ambiguous": {
          target: ".ambiguous",
          actions: { type: "standAt", params: ({ event }) => ({ node: event.node, visit: event.visit, effect: event.effect }) },
        },
        "graph.active": { target: ".active", actions: "standNowhere" },
        "pawl.childFaulted": { target: ".blocked", actions: { type: "recordBlock", params: ({ event }) => ({ code: "faulted", message: event.message }) } },
      },
      states: {
        active: {},
        waiting: { tags: "parked" },
        ambiguous: { tags: "parked" },
        /** The graph or a node below it is faulted: nothing can move until it is mended or the run is cancelled. */
        blocked: { tags: "parked" },
      },
    },
    /** Its sources cannot be loaded: it starts when they can. */
    blocked: { tags: "parked", on: { "run.resume": { target: "starting", actions: "clearBlock" } } },
    completed: { type: "final", output: { outcome: "completed" } },
    failed: { type: "final", output: { outcome: "failed" } },
    timedOut: { type: "final", output: { outcome: "timedOut" } },
    cancelled: { type: "final", output: { outcome: "cancelled" } },
  },
  output: ({ event }) => (event as unknown as { readonly output: { readonly outcome: "completed" | "failed" | "timedOut" | "cancelled" } }).output, // XState types the final event as the machine's own events
});

/** A failure as the runtime sends it: `{ reason, message }`. */
function failureOf(error: unknown): Failure {
  const has = typeof error === "object" && error !== null;
  return {
    reason: has && "reason" in error && typeof error.reason === "string" ? error.reason : "nodeFailed",
    message: has && "message" in error && typeof error.message === "string" ? error.message : String(error),
  };
}

/** What a start that does not succeed is called: SPEC 5's `startupCrashed` when its process was lost twice. */
function startFailure(error: unknown): Failure {
  const failure = failureOf(error);
  return failure.reason === "workerCrashed" || failure.reason === "nodeTimedOut"
    ? { reason: "startupCrashed", message: `The run could not be started: ${failure.message}` }
    : failure;
}

/** Done and error events carry the runtime's `at` too; XState's types do not know it. */
const timeOf = (event: object): number => ("at" in event && typeof event.at === "number" ? event.at : 0);

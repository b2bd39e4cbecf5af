/** One execution of a workflow for one input (SPEC 5). It holds the life; the graph actor below it holds the place.
 *  RUN-1 a run is durable as `queued` before anybody is told its id. RUN-2 it starts once. RUN-3 cancel is taken in every state that is not final.
 *  RUN-4 an outcome is final. RUN-5 a run that waits, is ambiguous or blocked says why and what ends it.
 *  RUN-20 a pause is taken in every state that is not final, and stands beside it: the step that runs ends, and no other begins before a resume.
 *  RUN-21 a command that finds done what it asks for is answered, and changes nothing. RUN-22 a parked run of a session goes on only when it has the
 *  session again. */
import { assign, emit, enqueueActions, sendTo, setup } from "xstate";
import { z } from "zod";
import { effect, machineFromInput } from "./define.ts";

const text = z.string();

/** Events from outside. */
export const RunCommand = z.discriminatedUnion("type", [
  /** Lets a queued run begin. */
  z.strictObject({ type: z.literal("run.activate") }),
  z.strictObject({ type: z.literal("run.cancel"), by: z.enum(["user", "agent"]) }),
  /** The step that runs ends; the next one waits for `run.resume`. */
  z.strictObject({ type: z.literal("run.pause") }),
  /** Ends a pause or a hold, and tries again what blocked it. */
  z.strictObject({ type: z.literal("run.resume") }),
  /** The person took the conversation back: only for a run of a session. */
  z.strictObject({ type: z.literal("run.hold") }),
  /** Moves the run to another session. */
  z.strictObject({ type: z.literal("run.adopt"), session: text.min(1).max(512) }),
]);
export type RunCommand = z.infer<typeof RunCommand>;

/** Events from the graph actor below, and from the runtime about it. */
export const RunFact = z.discriminatedUnion("type", [
  z.object({ type: z.literal("graph.waiting"), node: text, visit: text }),
  z.object({ type: z.literal("graph.active") }),
  z.object({ type: z.literal("graph.ambiguous"), node: text, visit: text, effect: text }),
  /** It stands between two nodes, and begins the next one when it is told. */
  z.object({ type: z.literal("graph.paused") }),
  z.object({ type: z.literal("pawl.childFaulted"), child: text, actor: text, message: text }),
  z.object({ type: z.literal("pawl.childMended"), child: text, actor: text }),
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
  /** Epoch ms since which it stands at `at`, or is blocked. */
  readonly since: number | null;
  /** Epoch ms of the pause that holds, whatever its state. */
  readonly pausedAt: number | null;
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

const nowhere = { at: null, since: null } as const;

/** What a parked run does when nothing holds it up any more. A session may have another run by then. */
const whenItGoesOn = [
  { guard: "isPaused", target: "pausing", actions: "standNowhere" },
  { guard: "hasSession", target: "returning", actions: "standNowhere" },
  { target: "active", actions: "standNowhere" },
] as const;

/** Its graph stays stopped where it must ask for its session first. */
const resumeOfParked = [
  { guard: "isPausedOfSession", actions: ["unpause", "thaw"] },
  { guard: "isPaused", actions: ["unpause", "letGraphGo"] },
  { actions: "answerAlready" },
] as const;

export const runMachine = setup({
  types: {} as {
    context: RunContext;
    input: RunInput;
    events: (RunCommand | RunFact) & { readonly at: number };
    output: { readonly outcome: "completed" | "failed" | "timedOut" | "cancelled" };
    emitted: { readonly type: "pawl.reply"; readonly code: "already" };
    tags: "parked";
  },
  actors: {
    // Two tries: a definition that takes its process down with it must not do so for ever.
    prepare: effect<{ readonly ready: true }, PrepareRunInput>("pawl.run.prepare", { maxInterrupted: 2, timeoutMs: 60_000 }),
    graph: machineFromInput<RunEnd, { readonly run: string; readonly graph: string; readonly source: string; readonly at: number }>(
      "pawl.graph",
      (input) => input.graph,
    ),
  },
  guards: {
    endedAs: (_, params: { readonly is: RunEnd["outcome"]; readonly end: RunEnd }) => params.end.outcome === params.is,
    cannotLoad: (_, failure: Failure) => failure.reason === "sourceUnloadable",
    isPaused: ({ context }) => context.pausedAt !== null,
    hasSession: ({ context }) => context.session !== null,
    isPausedOfSession: ({ context }) => context.pausedAt !== null && context.session !== null,
  },
  actions: {
    standAt: assign((_, params: { readonly at: NonNullable<RunContext["at"]>; readonly since: number }) => ({ ...params, reason: null })),
    standNowhere: assign({ ...nowhere, reason: null }),
    pause: assign({ pausedAt: (_, at: number) => at }),
    unpause: assign({ pausedAt: null }),
    /** The graph ends the node that it is in, and enters no other. */
    stopGraph: sendTo("graph", { type: "graph.pause" }),
    letGraphGo: sendTo("graph", { type: "graph.resume" }),
    /** The deadline of the step stands still. */
    freeze: sendTo("graph", { type: "graph.freeze" }),
    freezeIfPaused: enqueueActions(({ context, enqueue }) => {
      if (context.pausedAt !== null) enqueue.sendTo("graph", { type: "graph.freeze" });
    }),
    thaw: sendTo("graph", { type: "graph.thaw" }),
    moveTo: assign({ session: (_, session: string) => session }),
    answerAlready: emit({ type: "pawl.reply", code: "already" }),
    recordEnd: assign((_, params: { readonly end: RunEnd; readonly at: number }) => ({
      ...nowhere,
      endedAt: params.at,
      end: params.end.outcome === "completed" ? { node: params.end.node, visit: params.end.visit } : null,
      reason: params.end.outcome === "completed" ? null : { code: params.end.reason, message: params.end.message },
    })),
    recordFailure: assign((_, params: { readonly failure: Failure; readonly at: number }) => ({
      ...nowhere,
      endedAt: params.at,
      reason: { code: params.failure.reason, message: params.failure.message },
    })),
    recordCancel: assign((_, params: { readonly by: "user" | "agent"; readonly at: number }) => ({
      ...nowhere,
      endedAt: params.at,
      reason: { code: params.by === "user" ? "userCancelled" : "agentCancelled", message: `Cancelled by the ${params.by}.` },
    })),
    recordBlock: assign((_, params: { readonly reason: NonNullable<RunContext["reason"]>; readonly since: number }) => ({ ...params, at: null })),
  },
}).createMachine({
  id: "pawl.run",
  version: "1",
  context: ({ input }) => ({ ...input, at: null, since: null, pausedAt: null, reason: null, end: null, endedAt: null }),
  initial: "queued",
  on: {
    "run.cancel": { target: ".cancelled", actions: { type: "recordCancel", params: ({ event }) => ({ by: event.by, at: event.at }) } },
    "run.pause": [{ guard: "isPaused", actions: "answerAlready" }, { actions: { type: "pause", params: ({ event }) => event.at } }],
    "run.resume": [{ guard: "isPaused", actions: "unpause" }, { actions: "answerAlready" }],
    "run.adopt": { actions: { type: "moveTo", params: ({ event }) => event.session } },
  },
  states: {
    queued: { on: { "run.activate": "starting" } },
    starting: {
      invoke: {
        id: "prepare",
        src: "prepare",
        input: ({ context }) => ({ run: context.run, source: context.source, graph: context.graph, input: context.input }),
        onDone: [{ guard: "isPaused", target: "ready" }, { target: "running" }],
        onError: [
          {
            guard: { type: "cannotLoad", params: ({ event }) => failureOf(event.error) },
            target: "blocked",
            actions: {
              type: "recordBlock",
              params: ({ event }) => ({ reason: { code: "sourceUnloadable", message: failureOf(event.error).message }, since: timeOf(event) }),
            },
          },
          { target: "failed", actions: { type: "recordFailure", params: ({ event }) => ({ failure: startFailure(event.error), at: timeOf(event) }) } },
        ],
      },
    },
    /** Prepared while it was paused: nothing of it has begun. */
    ready: { tags: "parked", on: { "run.resume": { target: "running", actions: "unpause" } } },
    running: {
      initial: "active",
      invoke: {
        id: "graph",
        src: "graph",
        input: ({ context, event }) => ({ run: context.run, graph: context.graph, source: context.source, at: timeOf(event) }),
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
        "graph.waiting": [
          {
            guard: "hasSession",
            target: ".waiting",
            actions: [
              { type: "standAt", params: ({ event }) => ({ at: { node: event.node, visit: event.visit, effect: null }, since: event.at }) },
              "stopGraph",
            ],
          },
          {
            target: ".waiting",
            actions: { type: "standAt", params: ({ event }) => ({ at: { node: event.node, visit: event.visit, effect: null }, since: event.at }) },
          },
        ],
        "graph.ambiguous": [
          {
            guard: "hasSession",
            target: ".ambiguous",
            actions: [
              { type: "standAt", params: ({ event }) => ({ at: { node: event.node, visit: event.visit, effect: event.effect }, since: event.at }) },
              "stopGraph",
            ],
          },
          {
            target: ".ambiguous",
            actions: { type: "standAt", params: ({ event }) => ({ at: { node: event.node, visit: event.visit, effect: event.effect }, since: event.at }) },
          },
        ],
        "graph.active": [
          { guard: "isPaused", target: ".pausing", actions: "standNowhere" },
          { target: ".active", actions: "standNowhere" },
        ],
        "graph.paused": { guard: "isPaused", target: ".paused", actions: "standNowhere" },
        "pawl.childFaulted": {
          target: ".blocked",
          actions: { type: "recordBlock", params: ({ event }) => ({ reason: { code: "faulted", message: event.message }, since: event.at }) },
        },
        "run.pause": [{ guard: "isPaused", actions: "answerAlready" }, { actions: [{ type: "pause", params: ({ event }) => event.at }, "stopGraph"] }],
        "run.resume": [{ guard: "isPaused", actions: ["unpause", "letGraphGo"] }, { actions: "answerAlready" }],
      },
      states: {
        active: {
          on: {
            "run.pause": { target: "pausing", actions: [{ type: "pause", params: ({ event }) => event.at }, "stopGraph"] },
            "run.hold": { guard: "hasSession", target: "held" },
          },
        },
        pausing: { on: { "run.resume": { target: "active", actions: ["unpause", "letGraphGo"] } } },
        paused: {
          tags: "parked",
          on: {
            "run.resume": [
              { guard: "hasSession", target: "returning", actions: "unpause" },
              { target: "active", actions: ["unpause", "letGraphGo"] },
            ],
          },
        },
        held: {
          tags: "parked",
          entry: "freeze",
          exit: "thaw",
          on: { "run.hold": { actions: "answerAlready" }, "run.resume": { target: "active", actions: ["unpause", "letGraphGo"] } },
        },
        waiting: {
          tags: "parked",
          entry: "freezeIfPaused",
          on: {
            "run.pause": [
              { guard: "isPaused", actions: "answerAlready" },
              { actions: [{ type: "pause", params: ({ event }) => event.at }, "stopGraph", "freeze"] },
            ],
            "graph.active": whenItGoesOn,
            "run.resume": resumeOfParked,
            "run.adopt": { actions: [{ type: "moveTo", params: ({ event }) => event.session }, "stopGraph"] },
          },
        },
        ambiguous: {
          tags: "parked",
          entry: "freeze",
          exit: "thaw",
          on: {
            "graph.active": whenItGoesOn,
            "run.resume": resumeOfParked,
            "run.adopt": { actions: [{ type: "moveTo", params: ({ event }) => event.session }, "stopGraph"] },
          },
        },
        /** It could go on, but its session may have another run now: `run.activate` is committed only while it has none. */
        returning: {
          tags: "parked",
          on: {
            "run.activate": { target: "active", actions: "letGraphGo" },
            "run.pause": { target: "paused", actions: { type: "pause", params: ({ event }) => event.at } },
            "graph.active": {},
          },
        },
        /** The graph or a node below it is faulted: nothing can move until it is mended or the run is cancelled. */
        blocked: {
          tags: "parked",
          entry: "freeze",
          exit: "thaw",
          on: {
            "pawl.childMended": [
              { guard: "isPaused", target: "pausing", actions: "standNowhere" },
              { target: "active", actions: "standNowhere" },
            ],
          },
        },
      },
    },
    /** Its sources cannot be loaded: it starts when they can. */
    blocked: { tags: "parked", on: { "run.resume": { target: "starting", actions: ["standNowhere", "unpause"] } } },
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

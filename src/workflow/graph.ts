/** A workflow's graph as data (`pawl.graph.v1`): all that is needed to step, cancel, answer, view and replay a run without its author's file. */
import { z } from "zod";
import { canonicalJson, sha256Hex } from "../digest.ts";
import { nodeKinds } from "./kinds.ts";

/** Names the routes that are not cases of the node itself. */
export const softCases = ["failed", "timedOut"] as const;

export const isSoftCase = (name: string): boolean => softCases.some((soft) => soft === name);

/** The case of a node that has no cases of its own. */
export const doneCase = "done";

/** Names that no case of an author may have. */
export const reservedCases: readonly string[] = [...softCases, doneCase, "__proto__"];

/** Id of every compiled graph machine; its version is the graph's digest. */
export const graphMachineId = "pawl.graph";

export const nodeIdPattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
export const choiceIdPattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const nodeId = z.string().regex(nodeIdPattern);

export const GraphNode = z.strictObject({
  id: nodeId,
  kind: z.enum(nodeKinds),
  /** The named outcomes: `["done"]`, or a decision's choices, or an author's cases. */
  cases: z.array(z.string()).min(1),
  /** Target of each case, and of `failed` and `timedOut` where routed. A node without a target for `done` ends the run. */
  routes: z.record(z.string(), nodeId),
  /** ms; null: no deadline; "callback": the node's own function decides in its effect. */
  timeoutMs: z.union([z.number().positive(), z.null(), z.literal("callback")]),
  once: z.boolean(),
  /** When a failed execution is tried again (actions only); absent: never. Times in ms. */
  retry: z
    .strictObject({
      maxAttempts: z.int().min(1).max(100),
      initialMs: z.number().min(0),
      factor: z.number().min(1).optional(),
      maxMs: z.number().min(0).optional(),
    })
    .optional(),
  /** Static label of at most 120 characters, shown while the node runs. */
  statusDetail: z.string().max(120).nullable(),
  /** How long or until when a wait lasts, in ms; absent where a callback must be asked. */
  wait: z.union([z.strictObject({ forMs: z.number().positive() }), z.strictObject({ until: z.number() })]).optional(),
  /** The workflow that an include mounts: its name, and the digest of its graph. */
  include: z.strictObject({ name: z.string(), graph: z.string().regex(/^[0-9a-f]{64}$/) }).optional(),
  batch: z.strictObject({ concurrency: z.int().min(1).max(32), stopOnFailure: z.boolean(), allowNonZeroExit: z.boolean() }).optional(),
});
export type GraphNode = z.infer<typeof GraphNode>;

export const Graph = z.strictObject({
  schema: z.literal("pawl.graph.v1"),
  name: z.string().min(1).max(256),
  entry: nodeId,
  maxSteps: z.int().min(1),
  nodes: z.array(GraphNode).min(1),
});
export type Graph = z.infer<typeof Graph>;

/** SHA-256 (hex) of the graph's canonical JSON, which is also the hash of the blob that holds that text. */
export const digestOfGraph = (graph: Graph): string => sha256Hex(canonicalJson(graph, "graph"));

/** Default deadline of compute, action and shell: 15 minutes. */
export const defaultTimeoutMs = 15 * 60_000;
export const defaultMaxSteps = 100;

export { graphEffects } from "./graphEffects.ts";

export type { NodeFailure, NodeInput, NodeOutput } from "../../machines/define.ts";

/** Latest visit of each node that ended, by node id. */
export type Visits = {
  readonly [node: string]: {
    readonly visit: string;
    readonly status: "accepted" | "failed" | "timedOut";
    readonly case: string | null;
    readonly reason: string | null;
  };
};

/** Output of the graph machine: how the run ends. `visit` is the end node's, whose value is the run's result. */
export type GraphOutput =
  | { readonly outcome: "completed"; readonly node: string; readonly visit: string }
  | { readonly outcome: "failed" | "timedOut"; readonly node: string; readonly visit: string | null; readonly reason: string; readonly message: string };

/** The deadline of the visit of an actor kind; an effect's is its runner's to hold. */
export interface StepDeadline {
  /** What the node was given, in ms. */
  readonly ms: number;
  readonly leftMs: number;
  /** Epoch ms; null while it stands still. */
  readonly dueAt: number | null;
  /** The node itself has stopped the clock. */
  readonly stopped: boolean;
}

/** Context of the graph machine: bounded by the number of nodes, never by the history. */
export interface GraphContext {
  readonly run: string;
  /** Digest of the graph data, and of the stored sources that hold the author's callbacks. */
  readonly graph: string;
  readonly source: string;
  /** Id of the graph's own actor. */
  readonly path: string;
  /** Entries into nodes so far, and those of the workflows that it included. */
  readonly step: number;
  readonly included: number;
  /** Most of both together. */
  readonly limit: number;
  readonly visits: Visits;
  /** No further node is entered. */
  readonly paused: boolean;
  /** The deadline of a step stands still: the run is paused, held, ambiguous or blocked. */
  readonly frozen: boolean;
  readonly deadline: StepDeadline | null;
  /** The node that is entered next, while it stands between two. */
  readonly target: string | null;
  readonly end: GraphOutput | null;
}

/** Input of the graph machine. */
export interface GraphInput {
  readonly run: string;
  readonly graph: string;
  readonly source: string;
  /** Epoch ms: of the first step, which no event stamps. */
  readonly at?: number;
  /** Of a graph that another one includes: its actor's id, how many entries into nodes are left, and whether deadlines stand still. */
  readonly path?: string;
  readonly limit?: number;
  readonly frozen?: boolean;
}

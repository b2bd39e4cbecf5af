/** Graphs of workflows and of runs as text. Nothing is started. */
import { homedir } from "node:os";
import { openStore } from "../../persistence/openStore.ts";
import type { Store } from "../../persistence/store.ts";
import { digestOfGraph, type Graph } from "../workflow/graph.ts";
import { graphText, type GraphFormat } from "../workflow/graphText.ts";
import { readGraph } from "./graphs.ts";
import { findRun } from "./lookup.ts";
import { WorkerPool } from "./workers/workerPool.ts";

export interface ShownGraph {
  readonly workflow: string;
  /** SHA-256 (hex) of the graph. */
  readonly digest: string;
  readonly graph: unknown;
  /** Graphs that it includes, however deep, by digest. */
  readonly included: { readonly [digest: string]: unknown };
  readonly text: (format: GraphFormat) => string;
}

/** For a file that never ends loading: nobody waits a minute for a drawing. */
const loadMs = 20_000;

/**
 * The graph of a workflow file. Its code runs as far as its definition, in a process of its own: it can neither write between the lines of a drawing nor
 * keep the command. @throws unknownWorkflow, loadFailed, invalidWorkflow
 */
export async function graphOfWorkflow(workflow: string, cwd: string): Promise<ShownGraph> {
  const pool = new WorkerPool({ directoryOf: () => Promise.reject(new Error("a workflow that is looked at has no stored sources")), limits: { loadMs } });
  try {
    const { graph, graphDigest, included } = await pool.load({ workflow, cwd, userHome: homedir(), input: undefined, isLook: true });
    return shown(graph, graphDigest, new Map(included.map((one) => [digestOfGraph(one), one])));
  } finally {
    await pool.close();
  }
}

/** The graph that a run goes through, from the state directory alone. @throws unknownRun */
export async function graphOfRun(run: string, home: string): Promise<ShownGraph> {
  const { store, release } = await openStore({ home, mode: "reader" });
  try {
    const { graphDigest } = await findRun(store, run);
    const graph = await readGraph(store, graphDigest);
    return shown(graph, graphDigest, await storedGraphs(store, graph));
  } finally {
    await release();
  }
}

async function storedGraphs(store: Pick<Store, "blob">, { nodes }: Graph, found = new Map<string, Graph>()): Promise<ReadonlyMap<string, Graph>> {
  for (const { include } of nodes) {
    if (include === undefined || found.has(include.graph)) continue;
    const graph = await readGraph(store, include.graph);
    found.set(include.graph, graph);
    await storedGraphs(store, graph, found);
  }
  return found;
}

const shown = (graph: Graph, digest: string, included: ReadonlyMap<string, Graph>): ShownGraph => ({
  workflow: graph.name,
  digest,
  graph,
  included: Object.fromEntries(included),
  text: (format) => graphText(graph, format, included),
});

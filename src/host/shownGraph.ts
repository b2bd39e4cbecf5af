/** Graphs of workflows and of runs as text. Nothing is started. */
import { homedir } from "node:os";
import { openStore } from "../../persistence/openStore.ts";
import { resolveWorkflow } from "../workflow/find.ts";
import type { Graph } from "../workflow/graph.ts";
import { graphText, type GraphFormat } from "../workflow/graphText.ts";
import { loadWorkflow } from "../workflow/loader.ts";
import { readGraph } from "./graphs.ts";
import { findRun } from "./lookup.ts";

export interface ShownGraph {
  readonly workflow: string;
  /** SHA-256 (hex) of the graph. */
  readonly digest: string;
  readonly graph: unknown;
  readonly text: (format: GraphFormat) => string;
}

/** The graph of a workflow file; its code runs as far as its definition. @throws unknownWorkflow, loadFailed, invalidWorkflow */
export async function graphOfWorkflow(workflow: string, cwd: string): Promise<ShownGraph> {
  const { definition } = await loadWorkflow(resolveWorkflow(workflow, { cwd, home: homedir() }));
  return shown(definition.graph, definition.graphDigest);
}

/** The graph that a run goes through, from the state directory alone. @throws unknownRun */
export async function graphOfRun(run: string, home: string): Promise<ShownGraph> {
  const { store, release } = await openStore({ home, mode: "reader" });
  try {
    const { graphDigest } = await findRun(store, run);
    return shown(await readGraph(store, graphDigest), graphDigest);
  } finally {
    await release();
  }
}

const shown = (graph: Graph, digest: string): ShownGraph => ({ workflow: graph.name, digest, graph, text: (format) => graphText(graph, format) });

/** Graphs as data, from the blobs of a state directory. */
import type { Store } from "../../persistence/store.ts";
import { Graph } from "../workflow/graph.ts";
import { readBlob } from "./values.ts";
import { WeightedCache } from "./weightedCache.ts";

/** The graph data of a run, by digest. */
export async function readGraph(store: Pick<Store, "blob">, digest: string): Promise<Graph> {
  const known = graphsOf(store);
  const there = known.get(digest);
  if (there) return there;
  const bytes = await readBlob(store, digest);
  const graph = Graph.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  known.set(digest, graph, bytes.byteLength);
  return graph;
}

/** Graphs never change: each is read and checked once, up to this many bytes of them. */
const graphLimit = 8 * 1024 * 1024;
const graphs = new WeakMap<object, WeightedCache<Graph>>();

function graphsOf(store: object): WeightedCache<Graph> {
  const known = graphs.get(store) ?? new WeightedCache<Graph>(graphLimit);
  graphs.set(store, known);
  return known;
}

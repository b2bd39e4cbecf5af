/** Blobs that runs name by hash outside of the database's columns: their graphs, and the manifest and files of their sources. */
import type { RunRow, Store } from "../../../persistence/store.ts";
import { messageOf } from "../../errors.ts";
import { Graph } from "../../workflow/graph.ts";
import { SourceManifest } from "../../workflow/identity.ts";
import { everyPage } from "../values.ts";

type Named = Pick<RunRow, "sourceDigest" | "graphDigest">;

/** Counts who names what, so that the last one to go takes its blobs along. */
export class RunReferences {
  private readonly store: Pick<Store, "blob">;
  private readonly counts = new Map<string, number>();
  private readonly files = new Map<string, Promise<readonly string[]>>();
  private readonly graphs = new Map<string, Promise<readonly string[]>>();

  /** Nothing is counted yet: for one run's own references. */
  constructor(store: Pick<Store, "blob">) {
    this.store = store;
  }

  /** Reads every run's. */
  static async read(store: Pick<Store, "blob" | "query">): Promise<RunReferences> {
    const references = new RunReferences(store);
    for await (const rows of everyPage((cursor) => store.query("runs", {}, { limit: 500, cursor })))
      for (const row of rows) for (const hash of await references.of(row)) references.counts.set(hash, (references.counts.get(hash) ?? 0) + 1);
    return references;
  }

  /** What a run names: its graph and those of the workflows that it includes, its manifest and its files. */
  async of({ sourceDigest, graphDigest }: Named): Promise<readonly string[]> {
    const known = this.files.get(sourceDigest) ?? filesOf(this.store, sourceDigest);
    this.files.set(sourceDigest, known);
    const graphs = this.graphs.get(graphDigest) ?? graphsOf(this.store, graphDigest);
    this.graphs.set(graphDigest, graphs);
    return [...(await graphs), sourceDigest, ...(await known)];
  }

  isNamed(hash: string): boolean {
    return (this.counts.get(hash) ?? 0) > 0;
  }

  /** A run goes: what it names counts one less. */
  async release(row: Named): Promise<void> {
    for (const hash of await this.of(row)) this.counts.set(hash, (this.counts.get(hash) ?? 0) - 1);
  }

  /** The other way: it stays after all. */
  async restore(row: Named): Promise<void> {
    for (const hash of await this.of(row)) this.counts.set(hash, (this.counts.get(hash) ?? 0) + 1);
  }
}

/** The graph itself, and those of the workflows that it includes, however deep; of one that is missing or damaged only itself. */
export async function graphsOf(store: Pick<Store, "blob">, digest: string, found = new Set<string>()): Promise<readonly string[]> {
  if (found.has(digest)) return [...found];
  found.add(digest);
  const bytes = await store.blob(digest);
  for (const included of bytes === null ? [] : includedIn(bytes)) await graphsOf(store, included, found);
  return [...found];
}

function includedIn(bytes: Uint8Array): readonly string[] {
  try {
    return Graph.parse(JSON.parse(Buffer.from(bytes).toString("utf8"))).nodes.flatMap(({ include }) => (include ? [include.graph] : []));
  } catch {
    return []; // `doctor` reports a blob that is not what it was
  }
}

/** Hashes of the files of stored sources; none when the manifest is missing or damaged, which `doctor` reports. */
async function filesOf(store: Pick<Store, "blob">, digest: string): Promise<readonly string[]> {
  const manifest = await readManifest(store, digest);
  return "problem" in manifest ? [] : manifest.files;
}

/** The files of a manifest, or why it cannot be read. */
export async function readManifest(store: Pick<Store, "blob">, digest: string): Promise<{ readonly files: readonly string[] } | { readonly problem: string }> {
  const bytes = await store.blob(digest);
  if (bytes === null) return { problem: "is missing" };
  try {
    const manifest = SourceManifest.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
    return { files: manifest.files.map(({ sha256 }) => sha256) };
  } catch (error) {
    return { problem: `cannot be read: ${messageOf(error)}` };
  }
}

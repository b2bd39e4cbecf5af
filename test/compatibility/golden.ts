/** Reading the golden set: what earlier versions have stored, file by file. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ActorRecord, EffectRecord } from "../../persistence/store.ts";
import { effectMachine, type EffectEvent } from "../../machines/effectMachine.ts";
import { hostRegistry } from "../../src/host/catalog.ts";
import type { DefinitionRegistry } from "../../src/runtime/definition.ts";
import { definitionDigest } from "../../src/runtime/definitionDigest.ts";
import { compileGraph, compilerRevision } from "../../src/workflow/compile.ts";
import type { Graph } from "../../src/workflow/graph.ts";

export const goldenDirectory = fileURLToPath(new URL("../golden", import.meta.url));

/** An actor as it was stored, and what each event of its life did to it: the state after it, or null where it was not taken. */
export interface GoldenActor {
  readonly record: ActorRecord;
  readonly events: readonly {
    readonly event: { readonly type: string; readonly [key: string]: unknown };
    readonly after: { readonly value: unknown; readonly status: string; readonly context: string } | null;
  }[];
}

/** An effect's row, and what each event made of it. */
export interface GoldenEffect {
  readonly record: EffectRecord;
  readonly events: readonly { readonly event: EffectEvent; readonly state: string | null }[];
}

export interface GoldenFile<T> {
  /** `<machine>/<version>/<name>`. */
  readonly name: string;
  readonly content: T;
}

/** Every stored snapshot of a machine but the effect's. */
export const goldenActors = (): readonly GoldenFile<GoldenActor>[] =>
  filesBelow(join(goldenDirectory, "snapshots"))
    .filter((name) => !name.startsWith("effect/") && !name.endsWith("/graph.json"))
    .map((name) => ({ name, content: read<GoldenActor>(join(goldenDirectory, "snapshots", name)) }));

export const goldenEffects = (): readonly GoldenFile<GoldenEffect>[] =>
  filesBelow(join(goldenDirectory, "snapshots"))
    .filter((name) => name.startsWith("effect/"))
    .map((name) => ({ name, content: read<GoldenEffect>(join(goldenDirectory, "snapshots", name)) }));

export const goldenDatabases = (): readonly string[] => readdirSync(join(goldenDirectory, "databases")).filter((name) => name.endsWith(".db.gz"));

/** The machines of this Pawl, graphs made from the golden graph data. */
export function goldenRegistry(): DefinitionRegistry {
  return hostRegistry({
    blob: async (digest) => new Uint8Array(readFileSync(join(goldenDirectory, "snapshots", "pawl.graph", digest, "graph.json"))),
  });
}

/** A graph with a node of every kind and every sort of route. */
const sample: Graph = {
  schema: "pawl.graph.v1",
  name: "sample",
  entry: "plan",
  maxSteps: 10,
  nodes: [
    {
      id: "plan",
      kind: "compute",
      cases: ["small", "large"],
      routes: { small: "build", large: "ask", failed: "over", timedOut: "plan" },
      timeoutMs: 1_000,
      once: false,
      statusDetail: "Plans",
    },
    {
      id: "ask",
      kind: "humanDecision",
      cases: ["go", "stop"],
      routes: { go: "build", stop: "over", timedOut: "over" },
      timeoutMs: null,
      once: false,
      statusDetail: null,
    },
    {
      id: "build",
      kind: "action",
      cases: ["done"],
      routes: { done: "check" },
      timeoutMs: "callback",
      once: true,
      retry: { maxAttempts: 3, initialMs: 100 },
      statusDetail: null,
    },
    {
      id: "rest",
      kind: "wait",
      cases: ["done"],
      routes: { done: "look" },
      timeoutMs: null,
      once: false,
      statusDetail: null,
      wait: { forMs: 1_000 },
    },
    { id: "look", kind: "checkpoint", cases: ["done"], routes: { done: "sub" }, timeoutMs: null, once: false, statusDetail: null },
    {
      id: "sub",
      kind: "include",
      cases: ["yes", "no"],
      routes: { yes: "many", no: "over" },
      timeoutMs: 1_000,
      once: false,
      statusDetail: null,
      include: { name: "other", graph: "0".repeat(64) },
    },
    {
      id: "many",
      kind: "batch",
      cases: ["done"],
      routes: {},
      timeoutMs: 1_000,
      once: true,
      statusDetail: null,
      batch: { concurrency: 4, stopOnFailure: false, allowNonZeroExit: false },
    },
    { id: "check", kind: "shell", cases: ["done"], routes: {}, timeoutMs: 60_000, once: false, statusDetail: null },
    { id: "over", kind: "compute", cases: ["done"], routes: {}, timeoutMs: null, once: false, statusDetail: null },
  ],
};

/** The digests of Pawl's own charts as they are now, by machine and version; of graphs, by the compiler's revision. */
export async function chartsNow(): Promise<{ readonly [chart: string]: string }> {
  const registry = goldenRegistry();
  const digests: { [chart: string]: string } = { [`effect@${effectMachine.version}`]: definitionDigest(effectMachine) };
  for (const name of registry.names()) {
    const at = name.lastIndexOf("@");
    const definition = await registry.find(name.slice(0, at), name.slice(at + 1));
    if (definition) digests[name] = definitionDigest(definition.machine);
  }
  return { ...digests, [`pawl.graph compiler ${compilerRevision}`]: definitionDigest(compileGraph(sample, "sample")) };
}

export const chartsThen = (): { readonly [chart: string]: string } => read(join(goldenDirectory, "charts.json"));

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.replaceAll("\\", "/"))
    .toSorted((a, b) => (a < b ? -1 : 1));
}

/** The shape is what collect.ts writes. */
function read<T>(path: string): T {
  const value: T = JSON.parse(readFileSync(path, "utf8"));
  return value;
}

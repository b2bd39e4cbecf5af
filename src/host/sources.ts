/** A run's own copy of its workflow: loaded from the stored sources, compared with the stored graph, kept ready. */
import path from "node:path";
import type { Store } from "../../persistence/store.ts";
import { jsonText } from "../json.ts";
import { EffectFailure } from "../runtime/executor.ts";
import { isPawlError, PawlError } from "../errors.ts";
import type { AnyWorkflow } from "../workflow/definition.ts";
import { graphEffects } from "../workflow/graph.ts";
import { materialise } from "../workflow/identity.ts";
import { loadStoredWorkflow } from "../workflow/loader.ts";
import { parsedInput } from "./input.ts";
import { runContext } from "./runDefinition.ts";
import { readView } from "./snapshots.ts";
import { readValue } from "./values.ts";
import { WeightedCache } from "./weightedCache.ts";

/** Definitions that are kept ready. */
const definitionLimit = 32;
/** Facts of runs that are kept ready: bytes of their inputs, and so much besides. */
const runWeightLimit = 16 * 1024 * 1024;
const runWeight = 1024;

/** What every executor of a run needs. */
export interface RunFacts {
  readonly definition: AnyWorkflow;
  /** As the workflow's schema gave it. */
  readonly input: unknown;
  /** Absolute directory that the run was started in. */
  readonly cwd: string;
}

/** What `pawl.run.prepare` keeps in its row: the parsed input where that is JSON and differs from the given one. */
export type PreparedRun = { readonly input: unknown } | null;

export class RunSources {
  private readonly store: Store;
  private readonly home: string;
  private readonly definitions = new Map<string, Promise<AnyWorkflow>>();
  private readonly runs = new WeightedCache<RunFacts>(runWeightLimit);

  constructor(store: Store, home: string) {
    this.store = store;
    this.home = home;
  }

  /** The definition in the stored sources of this digest. @throws sourceUnloadable, also when its graph is another one than the run's */
  definition(source: string, graph: string): Promise<AnyWorkflow> {
    return remembered(this.definitions, definitionLimit, `${source} ${graph}`, async () => {
      const directory = path.join(this.home, "sources", source);
      await materialise(source, (hash) => this.store.blob(hash), directory);
      return loadStoredWorkflow(directory, { sourceDigest: source, graphDigest: graph });
    });
  }

  /** Facts of a run that is prepared. @throws sourceUnloadable */
  async facts(run: string): Promise<RunFacts> {
    const known = this.runs.get(run);
    if (known) return known;
    const { source, graph, input, cwd } = await this.contextOf(run);
    const definition = await this.definition(source, graph);
    const prepared = await this.prepared(run);
    const facts = { definition, cwd, input: prepared === null ? await parsedInput(definition, await readValue(this.store, input)) : prepared.input };
    this.runs.set(run, facts, runWeight + ("json" in input ? input.json.length : input.bytes));
    return facts;
  }

  /** The work of `pawl.run.prepare`. @throws EffectFailure sourceUnloadable, invalidInput */
  async prepare(run: string): Promise<PreparedRun> {
    const { source, graph, input } = await this.contextOf(run);
    const given = await readValue(this.store, input);
    try {
      const parsed = await parsedInput(await this.definition(source, graph), given);
      return sameJson(parsed, given) ? null : jsonOrNull(parsed);
    } catch (error) {
      if (isPawlError(error) && (error.code === "sourceUnloadable" || error.code === "invalidInput")) throw new EffectFailure(error.code, error.message);
      throw error;
    }
  }

  private async contextOf(run: string) {
    const view = await readView(this.store, run);
    if (view === null) throw new PawlError("unknownRun", `There is no run "${run}".`, { subject: run });
    return runContext(view);
  }

  private async prepared(run: string): Promise<PreparedRun> {
    const { items } = await this.store.query("effects", { actor: run, state: ["confirmed"] }, { limit: 500 });
    const row = items.findLast((record) => record.type === graphEffects.prepareRun);
    return row ? ((await readValue(this.store, row.output)) as PreparedRun) : null; // written by prepare() above, through the executor's `value`
  }
}

/** Loads once for all that ask at the same time; a failure is not kept. */
function remembered<T>(known: Map<string, Promise<T>>, limit: number, key: string, load: () => Promise<T>): Promise<T> {
  const there = known.get(key);
  if (there) return there;
  const loading = load();
  known.set(key, loading);
  loading.catch(() => known.delete(key));
  const [oldest] = known.keys();
  if (known.size > limit && oldest !== undefined) known.delete(oldest);
  return loading;
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A schema may give what JSON cannot carry, a Date for one: then it is applied again each time. */
function jsonOrNull(input: unknown): PreparedRun {
  try {
    jsonText(input, "input");
    return { input };
  } catch {
    return null;
  }
}

/** What a run's author code is given of the run: its stored sources as files, its project and its input. */
import path from "node:path";
import type { Store, StoredValue } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import { graphEffects } from "../workflow/graph.ts";
import { materialise } from "../workflow/identity.ts";
import type { PreparedRun, StoredRun } from "./author/authorCode.ts";
import { runContext } from "./runState.ts";
import { readView } from "./snapshots.ts";
import { readBlob, readValue } from "./values.ts";
import { WeightedCache } from "./weightedCache.ts";

/** Facts of runs that are kept ready: characters of their inputs, and so much besides. */
const runWeightLimit = 16 * 1024 * 1024;
const runWeight = 1024;
/** Runs whose directories are kept ready. */
const projectLimit = 4096;

export class RunSources {
  private readonly store: Store;
  private readonly home: string;
  private readonly runs = new WeightedCache<StoredRun>(runWeightLimit);
  private readonly projects = new WeightedCache<string>(projectLimit);

  constructor(store: Store, home: string) {
    this.store = store;
    this.home = home;
  }

  /** Where the sources of this digest stand as files; they are written there first. @throws sourceUnloadable */
  async directory(source: string): Promise<string> {
    const directory = path.join(this.home, "sources", source);
    await materialise(source, (hash) => this.store.blob(hash), directory);
    return directory;
  }

  /** The directory that a run was started in; at once when it is known. */
  project(run: string): string | Promise<string> {
    const known = this.projects.get(run);
    if (known !== undefined) return known;
    return this.given(run).then(({ cwd }) => {
      this.projects.set(run, cwd, 1);
      return cwd;
    });
  }

  /** A run as it was started. */
  async given(run: string): Promise<StoredRun> {
    const view = await readView(this.store, run);
    if (view === null) throw new PawlError("unknownRun", `There is no run "${run}".`, { subject: run });
    const { source, graph, input, cwd } = runContext(view);
    return { run, source, graph, cwd, input: { json: await this.text(input), isParsed: false } };
  }

  /** A run that is prepared. */
  async facts(run: string): Promise<StoredRun> {
    const known = this.runs.get(run);
    if (known) return known;
    const given = await this.given(run);
    const prepared = await this.prepared(run);
    const facts = prepared === null ? given : { ...given, input: { json: JSON.stringify(prepared.input), isParsed: true } };
    this.runs.set(run, facts, runWeight + facts.input.json.length);
    return facts;
  }

  private async prepared(run: string): Promise<PreparedRun> {
    const { items } = await this.store.query("effects", { actor: run, state: ["confirmed"] }, { limit: 500 });
    const row = items.findLast((record) => record.type === graphEffects.prepareRun);
    return row ? ((await readValue(this.store, row.output)) as PreparedRun) : null; // written by the executor of that effect, as its `value`
  }

  private async text(stored: StoredValue): Promise<string> {
    return "json" in stored ? stored.json : Buffer.from(await readBlob(this.store, stored.blob)).toString("utf8");
  }
}

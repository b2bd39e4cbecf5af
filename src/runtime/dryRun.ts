/** Looks whether every stored actor could go on with the registered machines, and changes nothing: before a deployment, and for `doctor`. */
import type { ActorRecord, Store } from "../../persistence/store.ts";
import { isPawlError } from "../errors.ts";
import type { Definition, DefinitionRegistry } from "./definition.ts";
import { gapsOf, gapTexts, type Gaps } from "./expected.ts";
import { fitOf, readPersisted } from "./fit.ts";
import { planMigration } from "./migrate.ts";
import { createDefinitions } from "./restore.ts";

/** What an active actor would meet. */
export interface RestoreFinding {
  readonly actor: string;
  readonly root: string;
  readonly machine: string;
  readonly version: string;
  /** `fits`: goes on as it is. `migrates`: to `to`. `refused`: `problems` says why. `gaps`: it goes on, and something that it waits for is not there. */
  readonly outcome: "fits" | "migrates" | "gaps" | "refused";
  readonly to: string | null;
  /** Sentences for people. */
  readonly problems: readonly string[];
}

const pageSize = 200;

/** One finding for each actor that is active or faulted, in order of creation. */
export async function* dryRun(store: Pick<Store, "query" | "timers">, registry: DefinitionRegistry): AsyncGenerator<RestoreFinding> {
  const definitions = createDefinitions(registry);
  for (let cursor: string | undefined; ;) {
    const page = await store.query("actors", { status: ["active", "faulted"] }, { limit: pageSize, cursor });
    for (const record of page.items) {
      const of = { actor: record.id, root: record.root, machine: record.machineId, version: record.machineVersion };
      try {
        yield { ...of, ...(await lookAt(store, record, await definitions.definitionOf(record), definitions.hydrate)) };
      } catch (error) {
        // A fault of the machine's data (a missing graph) refuses this actor only; anything else is nobody's business here.
        if (!isPawlError(error)) throw error;
        yield { ...of, outcome: "refused", to: null, problems: [error.message] };
      }
    }
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}

async function lookAt(
  store: Pick<Store, "timers">,
  record: ActorRecord,
  definition: Definition,
  hydrate: (definition: Definition, record: ActorRecord) => unknown,
): Promise<Pick<RestoreFinding, "outcome" | "to" | "problems">> {
  const timers = await store.timers(record.id);
  if (definition.version !== record.machineVersion) {
    const plan = planMigration(definition, record, timers);
    return {
      outcome: "migrates",
      to: definition.version,
      problems: [
        ...plan.start.map(({ key }) => `starts "${key}"`),
        ...plan.stop.map(({ actor, effect }) => `ends ${actor ?? effect ?? "a child"}`),
        ...plan.carried.map(({ from, to }) => `carries timer "${from.key}" on as "${to.key}"`),
        ...plan.armed.map(({ key }) => `arms timer "${key}"`),
      ],
    };
  }
  hydrate(definition, record);
  if (definition.stepper) return { outcome: "fits", to: null, problems: [] };
  const persisted = readPersisted(record.snapshot);
  const { active } = fitOf(definition, persisted);
  const problems = gapTexts(onlyCertain(gapsOf(definition.machine, active, persisted.children, timers)));
  return { outcome: problems.length === 0 ? "fits" : "gaps", to: null, problems };
}

/** A timer that fired and was not taken is missing rightly: only one that would surely have left the state counts. */
const onlyCertain = (gaps: Gaps): Gaps => ({ ...gaps, timers: gaps.timers.filter((timer) => timer.leaves) });

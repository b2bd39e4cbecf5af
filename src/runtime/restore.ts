/** Finds the definition that a stored actor needs, and refuses by name before anything moves: what is registered, and whether the stored
 *  state, children, history and context fit it. An actor of a version that is gone is led to its migration. */
import type { ActorRecord, Store } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { Definition, DefinitionRegistry, PersistedActor } from "./definition.ts";
import { gapsOf, gapTexts } from "./expected.ts";
import { closest, fitOf, readPersisted } from "./fit.ts";
import { linkOf, migrationPath } from "./migrate.ts";
import { createStepper, linksOf, type ChildLink, type Hydrated, type Stepper } from "./step.ts";

export interface Definitions {
  readonly stepper: (definition: Definition) => Stepper;
  /** The definition that this actor runs on: of its own version, or the one that its migrations lead to (then the versions differ). @throws restoreRefused */
  readonly definitionOf: (record: ActorRecord) => Definition | Promise<Definition>;
  readonly findDefinition: (machineId: string, version: string | null) => Definition | undefined | Promise<Definition | undefined>;
  /** A stored actor ready to step on the definition of its own version. @throws restoreRefused naming what does not fit */
  readonly hydrate: (definition: Definition, record: ActorRecord) => Hydrated;
}

export function createDefinitions(registry: DefinitionRegistry): Definitions {
  const steppers = new WeakMap<Definition, Stepper>();
  const stepper = (definition: Definition): Stepper => {
    if (definition.stepper) return definition.stepper;
    const known = steppers.get(definition);
    if (known) return known;
    const made = createStepper(definition.machine);
    steppers.set(definition, made);
    return made;
  };
  const matching = (found: Definition | undefined, record: ActorRecord): Definition => {
    const definition = found ?? registry.latest(record.machineId);
    if (definition === undefined) throw unregistered(record, registry.names());
    if (definition.version === record.machineVersion) {
      if (definition.digest !== record.definitionDigest) throw changed(definition, record);
      return definition;
    }
    if (migrationPath(definition, record.machineVersion) === undefined) throw withoutPath(definition, record, registry.names());
    return definition;
  };
  return {
    stepper,
    definitionOf(record) {
      const found = registry.find(record.machineId, record.machineVersion);
      return found instanceof Promise ? found.then((definition) => matching(definition, record)) : matching(found, record);
    },
    findDefinition: (machineId, version) => (version === null ? registry.latest(machineId) : registry.find(machineId, version)),
    hydrate(definition, record) {
      // Whether it fits is seen where its machine is.
      if (definition.stepper) return definition.stepper.hydrate(record.id, record.parent, record.snapshot, record.childKey);
      const persisted = readPersisted(record.snapshot);
      const { problems } = fitOf(definition, persisted);
      if (problems.length > 0) throw misfit(definition, record, problems);
      return stepper(definition).hydrate(record.id, record.parent, record.snapshot, record.childKey);
    },
  };
}

/** Active actors whose version is not registered any more, and whose machine brings migrations: they move when the runtime opens. Nothing is read for machines without. */
export async function* unmigrated(store: Pick<Store, "query">, registry: DefinitionRegistry): AsyncGenerator<ActorRecord> {
  for (const definition of registry.migrating?.() ?? []) {
    for (let cursor: string | undefined; ;) {
      const page = await store.query("actors", { machineId: definition.id, status: ["active"] }, { limit: 500, cursor });
      for (const record of page.items)
        if (record.machineVersion !== definition.version && !(await registry.find(record.machineId, record.machineVersion))) yield record;
      if (page.cursor === null) break;
      cursor = page.cursor;
    }
  }
}

/** The links of an actor's children, read from its row when it is not in memory: no machine is needed for that. */
export function linksIn({ record, hydrated }: { readonly record: ActorRecord; readonly hydrated: Hydrated | null }): readonly ChildLink[] {
  return hydrated === null ? Object.values(readPersisted(record.snapshot).children).flatMap((child) => linkOf(child) ?? []) : linksOf(hydrated);
}

const refused = (record: ActorRecord, what: string): PawlError => new PawlError("restoreRefused", `${saved(record)}${what}`, { subject: record.id });

const saved = ({ id, machineId, machineVersion }: ActorRecord): string => `Actor "${id}" was saved by machine "${machineId}" version ${machineVersion}`;

function unregistered(record: ActorRecord, names: readonly string[]): PawlError {
  const ids = [...new Set(names.map((name) => name.slice(0, name.lastIndexOf("@"))))];
  return refused(record, `, which is not registered${closest(record.machineId, ids)}. Register that machine; nothing was changed.`);
}

function withoutPath({ version, migrations = [] }: Definition, record: ActorRecord, names: readonly string[]): PawlError {
  const versions = names.filter((name) => name.startsWith(`${record.machineId}@`)).map((name) => name.slice(record.machineId.length + 1));
  const ways = migrations.length === 0 ? "has no migrations" : `has migrations ${migrations.map(({ from, to }) => `${from} to ${to}`).join(", ")}`;
  return refused(
    record,
    `, and of that machine only version ${versions.join(", ") || version} is registered, which ${ways}. Keep version ${record.machineVersion} registered beside it, or give a migration from ${record.machineVersion}; nothing was changed.`,
  );
}

/** The same version with another chart: says what of it this very actor would meet. */
function changed(definition: Definition, record: ActorRecord): PawlError {
  const found = differences(definition, readPersisted(record.snapshot));
  const met =
    found.length === 0 ? "Where this actor stands nothing seems to be missing, but what follows may be another" : `For this actor: ${found.join("; ")}`;
  return refused(
    record,
    `, and that version is registered with another definition now. ${met}. Give the changed machine a new version, and keep the old one registered or add a migration; nothing was changed.`,
  );
}

function differences(definition: Definition, persisted: PersistedActor): readonly string[] {
  const { active, problems } = fitOf(definition, persisted);
  const { invokes, strayChildren } = gapsOf(definition.machine, active, persisted.children, []);
  return [...problems, ...gapTexts({ invokes, strayChildren, timers: [], strayTimers: [] })];
}

const misfit = ({ version }: Definition, record: ActorRecord, problems: readonly string[]): PawlError =>
  refused(
    record,
    ` and does not fit version ${version} as it is registered: ${problems.join("; ")}. Give that back, or give the machine a new version with a migration; nothing was changed.`,
  );

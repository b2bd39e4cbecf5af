/** Takes a stored actor of an earlier version to a registered one: the author's hooks in order, then everything that must still be true.
 *  Plans only; the cascade writes it, in one commit. */
import type { ActorRecord, TimerRecord } from "../../persistence/store.ts";
import { PawlError, messageOf } from "../errors.ts";
import { jsonText } from "../json.ts";
import type { Definition, Migration, PersistedActor, PersistedChild } from "./definition.ts";
import { gapsOf, isOfDelay, type ExpectedInvoke, type ExpectedTimer } from "./expected.ts";
import { fitOf, readPersisted } from "./fit.ts";
import type { ChildLink } from "./step.ts";

/** What a migration changes besides the snapshot. */
export interface MigrationPlan {
  /** JSON text; children that must be started stand in it with an empty link. */
  readonly snapshot: string;
  readonly start: readonly ExpectedInvoke[];
  readonly stop: readonly ChildLink[];
  /** Timers that go on under another name, due when they were. */
  readonly carried: readonly { readonly from: TimerRecord; readonly to: ExpectedTimer }[];
  readonly cleared: readonly TimerRecord[];
  /** Armed anew, the full delay from now. */
  readonly armed: readonly ExpectedTimer[];
}

/** The hooks from one version to another, in order; undefined when there is no way. */
export function migrationPath({ migrations = [], version }: Definition, from: string): readonly Migration[] | undefined {
  const path: Migration[] = [];
  const seen = new Set<string>();
  for (let at = from; at !== version;) {
    const next = migrations.find((migration) => migration.from === at);
    if (!next || seen.has(next.to)) return undefined;
    seen.add(next.to);
    path.push(next);
    at = next.to;
  }
  return path;
}

/**
 * What becomes of this actor on `definition`. `timers` are all it has now.
 * @throws restoreRefused when a hook throws, or what it returns does not fit the machine
 */
export function planMigration(definition: Definition, record: ActorRecord, timers: readonly TimerRecord[]): MigrationPlan {
  const { machine, version } = definition;
  const hooked = applyHooks(definition, record);
  const before = fitOf(definition, hooked);
  const problems =
    hooked.status === "active" ? before.problems : [`the migration set its status to "${hooked.status}", and only an active actor goes on`, ...before.problems];
  if (problems.length > 0)
    throw refusal(
      record,
      version,
      `does not fit it: ${problems.join("; ")}. Mend the migration, or register version ${record.machineVersion} too; nothing was changed.`,
    );
  const stored = gapsOf(machine, before.active, hooked.children, timers);
  const children = renamed(hooked.children, stored.invokes, stored.strayChildren);
  const gaps = gapsOf(machine, before.active, children, timers);
  const started: { readonly [key: string]: PersistedChild } = Object.fromEntries(
    gaps.invokes.map(({ key, src, systemId }) => [key, { src, snapshot: { status: "active" }, ...(systemId === null ? {} : { systemId }) }]),
  );
  const kept = Object.fromEntries(Object.entries(children).filter(([key]) => !gaps.strayChildren.includes(key)));
  const carried = pairs(gaps.timers, gaps.strayTimers);
  return {
    snapshot: jsonText({ ...hooked, children: { ...kept, ...started } }, `snapshot of actor "${record.id}" after its migration to version ${version}`),
    start: gaps.invokes,
    stop: gaps.strayChildren.flatMap((key) => linkOf(children[key]) ?? []),
    carried,
    cleared: gaps.strayTimers,
    armed: gaps.timers.filter((timer) => !carried.some(({ to }) => to === timer)),
  };
}

function applyHooks(definition: Definition, record: ActorRecord): PersistedActor {
  let persisted = readPersisted(record.snapshot);
  for (const { from, to, migrate } of migrationPath(definition, record.machineVersion) ?? []) {
    const what = `snapshot of actor "${record.id}" as the migration from ${from} to ${to} returned it`;
    try {
      persisted = readPersisted(jsonText(migrate(persisted), what));
    } catch (error) {
      throw refusal(
        record,
        definition.version,
        `could not be migrated from ${from} to ${to}: ${messageOf(error)} Mend the migration; nothing was changed.`,
        error,
      );
    }
  }
  return persisted;
}

/** A child whose invoke has another name now, and the same source, is the same child: its actor or effect goes on under the new name. */
function renamed(children: PersistedActor["children"], missing: readonly ExpectedInvoke[], stray: readonly string[]): PersistedActor["children"] {
  const result: { [key: string]: PersistedChild } = { ...children };
  const free = [...stray];
  for (const { key, src } of missing) {
    const at = free.findIndex((name) => children[name]?.src === src);
    const [name] = at < 0 ? [] : free.splice(at, 1);
    const child = name === undefined ? undefined : children[name];
    if (name === undefined || child === undefined) continue;
    delete result[name];
    result[key] = child;
  }
  return result;
}

/** A timer of the same delay in a state that is not waited in any more is the timer of the state that took its place. */
function pairs(missing: readonly ExpectedTimer[], stray: readonly TimerRecord[]): MigrationPlan["carried"] {
  const free = [...stray];
  return missing.flatMap((to) => {
    const at = free.findIndex(({ key }) => isOfDelay(key, to.delay));
    const [from] = at < 0 ? [] : free.splice(at, 1);
    return from === undefined ? [] : [{ from, to }];
  });
}

/** The runtime's link in a stored child. */
export function linkOf(child: PersistedChild | undefined): ChildLink | undefined {
  const link = child?.snapshot;
  return typeof link === "object" && link !== null && "status" in link ? (link as ChildLink) : undefined; // the runtime wrote it
}

const refusal = (record: ActorRecord, version: string, what: string, cause?: unknown): PawlError =>
  new PawlError(
    "restoreRefused",
    `Actor "${record.id}" of machine "${record.machineId}" was saved with version ${record.machineVersion}; version ${version} is registered, and the actor ${what}`,
    { subject: record.id, cause },
  );

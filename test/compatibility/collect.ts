/** Gathers the golden snapshots while real runs go: each machine in each state it was ever stored in, with the events of its life. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import BetterSqlite from "better-sqlite3";
import type { ActorRecord, EffectRecord } from "../../persistence/store.ts";
import { actorColumns, actorOf, type ActorColumns } from "../../persistence/tables/actors.ts";
import { effectColumns, effectOf, type EffectColumns } from "../../persistence/tables/effects.ts";
import { effectMachine, type EffectEvent } from "../../machines/effectMachine.ts";
import { hostRegistry } from "../../src/host/catalog.ts";
import { effectStep } from "../../src/runtime/effectRow.ts";
import { createDefinitions } from "../../src/runtime/restore.ts";
import { createStepper } from "../../src/runtime/step.ts";
import { goldenDirectory, type GoldenActor, type GoldenEffect } from "./golden.ts";

/** The first record seen of each machine and state. */
export type Collected = Map<string, ActorRecord | EffectRecord>;

/** Looks at every actor and effect as they are now. */
export function collectSnapshots(path: string, collected: Collected): void {
  const db = new BetterSqlite(path, { readonly: true });
  for (const record of db.prepare<[], ActorColumns>(`select ${actorColumns} from actors`).all().map(actorOf)) {
    const { value }: { value: unknown } = JSON.parse(record.snapshot);
    const name = `${record.machineId}/${record.machineVersion}/${record.status === "stopped" ? "stopped-" : ""}${nameOf(value)}`;
    if (!collected.has(name)) collected.set(name, record);
  }
  for (const record of db.prepare<[], EffectColumns>(`select ${effectColumns} from effects`).all().map(effectOf)) {
    const name = `effect/${effectMachine.version}/${record.type}-${record.state}${record.once ? "-once" : ""}`;
    if (!collected.has(name)) collected.set(name, record);
  }
  db.close();
}

const nameOf = (value: unknown): string =>
  typeof value === "string"
    ? value.replace("$", "")
    : typeof value === "object" && value !== null
      ? Object.entries(value)
          .map(([key, inner]) => [key, nameOf(inner)].filter((part) => part !== "").join("."))
          .join("+")
      : "";

const effectEvents = (attempt: number): readonly EffectEvent[] => [
  { type: "effect.begun", attempt },
  { type: "effect.succeeded", attempt },
  { type: "effect.failed", attempt, mayRetry: false },
  { type: "effect.unproven", attempt, mayRetry: false },
  { type: "effect.succeeded", attempt: attempt + 1 },
  { type: "effect.interrupted", attempt },
  { type: "effect.released", attempt },
  { type: "effect.observed", attempt, happened: true, isWanted: true },
  { type: "effect.observed", attempt, happened: false, isWanted: true },
  { type: "effect.confirm" },
  { type: "effect.retry" },
  { type: "effect.dropped" },
];

/** Writes everything that was gathered. `path`: the database that holds the journal of it all. */
export async function writeSnapshots(path: string, collected: Collected, graphs: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const db = new BetterSqlite(path, { readonly: true });
  const events = db.prepare<[string], { type: string; payload: string | null; at: number }>(
    `select j.type, coalesce(j.payload_json, (select cast(bytes as text) from blobs where hash = j.payload_blob)) as payload, j.at_ms as at
       from journal j join actors a on a.id = j.actor where a.machine_id = ? and j.type not in ('xstate.init', 'xstate.stop') group by j.type order by min(j.seq)`,
  );
  const registry = hostRegistry({ blob: async (hash) => graphs.get(hash) ?? null });
  const definitions = createDefinitions(registry);
  for (const [name, record] of collected) {
    if ("key" in record) {
      write<GoldenEffect>(name, { record, events: effectEvents(record.attempt).map((event) => ({ event, state: effectStep(record, event)?.state ?? null })) });
      continue;
    }
    const definition = await definitions.definitionOf(record);
    const stepper = createStepper(definition.machine);
    const taken = events.all(record.machineId).map(({ type, payload, at }): GoldenActor["events"][number] => {
      const event = { at, id: "golden", ...(payload === null ? {} : JSON.parse(payload)), type };
      const result = stepper.step(definitions.hydrate(definition, record), event);
      if (!result.changed) return { event, after: null };
      const text = stepper.persist(result.next);
      return { event, after: { value: JSON.parse(text.value), status: result.status, context: createHash("sha256").update(text.context).digest("hex") } };
    });
    write<GoldenActor>(name, { record, events: taken });
  }
  db.close();
  for (const [digest, bytes] of graphs) {
    const target = join(goldenDirectory, "snapshots", "pawl.graph", digest, "graph.json");
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
  }
}

function write<T>(name: string, content: T): void {
  const target = join(goldenDirectory, "snapshots", `${name}.json`);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `${JSON.stringify(content, null, 1)}\n`);
}

/** Gives author code what a callback sees: the run's input and the latest result of each node, read from what is stored. */
import { includeInputVisit } from "../../machines/nodes/includeNode.ts";
import type { ActorRecord, EffectRecord, Store } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { ActorView } from "../runtime/definition.ts";
import type { EffectTask } from "../runtime/executor.ts";
import type { NodeInput, Visits } from "../workflow/graph.ts";
import type { StoredInput, StoredResult, StoredRun, VisitCall } from "./author/authorCode.ts";
import { graphContext, nodeEnd, overtime, viewOfRecord } from "./snapshots.ts";
import { graphOf, includesOf, includingVisit } from "../visitNames.ts";
import type { IncludedInput } from "../workflow/includeStep.ts";
import { readBlob } from "./values.ts";
import { jsonOfVisit } from "./visitValues.ts";
import { WeightedCache } from "./weightedCache.ts";

/** JSON text that is kept of finished visits, in UTF-16 units: they never change, and a loop reads the same ones at every step. */
const cacheUnits = 16 * 1024 * 1024;

type Ended =
  | { readonly kind: "accepted"; readonly json: string }
  | { readonly kind: "failed"; readonly error: { readonly reason: string; readonly message: string } };

/** Reads the results of ended visits, with a bounded cache. */
export class VisitResults {
  private readonly store: Pick<Store, "visits" | "load" | "blob">;
  private readonly known = new WeightedCache<Ended>(cacheUnits);
  private readonly inputs = new WeightedCache<StoredInput>(cacheUnits);

  constructor(store: Pick<Store, "visits" | "load" | "blob">) {
    this.store = store;
  }

  /** By node. */
  async of(visits: Visits): Promise<{ readonly [node: string]: StoredResult }> {
    const ended = await this.ended(Object.values(visits));
    const results: { [node: string]: StoredResult } = {};
    for (const [node, { visit, status, reason }] of Object.entries(visits)) {
      const end = ended.get(visit);
      if (status === "accepted") {
        if (end?.kind !== "accepted")
          throw new PawlError(
            "storageDamaged",
            `The output of visit "${visit}" is missing from the database. Restore a backup of the state directory, or start the run again.`,
            { subject: visit },
          );
        results[node] = { status, visit, json: end.json };
      } else
        results[node] = {
          status,
          visit,
          error:
            end?.kind === "failed"
              ? end.error
              : reason === overtime.reason
                ? overtime
                : { reason: reason ?? "nodeFailed", message: "It failed without saying why." },
        };
    }
    return results;
  }

  /** The input of the workflow that a visit includes. */
  async includedInput(visit: string): Promise<StoredInput> {
    const known = this.inputs.get(visit);
    if (known) return known;
    const json = await jsonOfVisit(this.store, `${visit}/${includeInputVisit}`);
    if (json === null)
      throw new PawlError(
        "storageDamaged",
        `The input of "${visit}" is missing from the database. Restore a backup of the state directory, or start the run again.`,
        {
          subject: visit,
        },
      );
    const { input, isParsed } = JSON.parse(json) as IncludedInput; // written by the executor of the effect that prepares it
    const stored: StoredInput = { json: JSON.stringify(input), isParsed, of: visit };
    this.inputs.set(visit, stored, stored.json.length);
    return stored;
  }

  /** Keeps what a visit's work gave, so that the next step need not read it back. It counts only if the graph says that the visit was accepted. */
  remember(visit: string, value: unknown): void {
    this.keep(new Map(), visit, { kind: "accepted", json: JSON.stringify(value) ?? "null" });
  }

  private async ended(visits: readonly Visits[string][]): Promise<ReadonlyMap<string, Ended>> {
    const found = new Map<string, Ended>();
    const missing: string[] = [];
    for (const { visit, status } of visits) {
      const known = this.known.get(visit);
      if (known && (known.kind === "accepted") === (status === "accepted")) found.set(visit, known);
      else missing.push(visit);
    }
    if (missing.length === 0) return found;
    for (const record of await this.store.visits(missing)) {
      const end = await this.endOfEffect(record);
      if (end && record.visit !== null) this.keep(found, record.visit, end);
    }
    const actors = missing.filter((id) => !found.has(id));
    for (const record of actors.length === 0 ? [] : await this.store.load(actors)) {
      const end = await this.endOfActor(record);
      if (end) this.keep(found, record.id, end);
    }
    return found;
  }

  private async endOfActor(record: ActorRecord): Promise<Ended | null> {
    const end = nodeEnd(viewOfRecord(record));
    if (end?.kind !== "accepted") return end;
    const json = end.from === null ? JSON.stringify(end.value) : await jsonOfVisit(this.store, end.from);
    return json === null ? null : { kind: "accepted", json };
  }

  private async endOfEffect({ state, output, error }: EffectRecord): Promise<Ended | null> {
    if (state === "failed") return { kind: "failed", error: error ?? { reason: "nodeFailed", message: "It failed without saying why." } };
    if (state !== "confirmed" || output === null) return null;
    return { kind: "accepted", json: "json" in output ? output.json : Buffer.from(await readBlob(this.store, output.blob)).toString("utf8") };
  }

  private keep(found: Map<string, Ended>, id: string, end: Ended): void {
    found.set(id, end);
    this.known.set(id, end, sizeOf(end));
  }
}

const sizeOf = (end: Ended): number => (end.kind === "accepted" ? end.json.length : end.error.message.length) + 64;

/** What author code is told of one attempt of one visit. */
export async function visitCall(
  view: (actor: string) => Promise<ActorView | null>,
  results: VisitResults,
  run: StoredRun,
  { node, visit }: NodeInput,
  task: Pick<EffectTask, "actor" | "attempt" | "idempotencyKey" | "now">,
): Promise<VisitCall> {
  const actor = graphOf(task.actor);
  const graph = await view(actor);
  if (graph === null)
    throw new PawlError(
      "unknownActor",
      `The graph of run "${run.run}" is not in the database. Restore a backup of the state directory, or start the run again.`,
      { subject: run.run },
    );
  const including = includingVisit(actor);
  return {
    ...run,
    ...(including === null ? {} : { input: await results.includedInput(including) }),
    node: [...includesOf(actor), node].join("/"),
    visit: `${actor}/${visit}`,
    attempt: task.attempt,
    idempotencyKey: task.idempotencyKey,
    now: task.now(),
    results: await results.of(graphContext(graph).visits),
  };
}

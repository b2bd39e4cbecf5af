/** All visits of a run, those of the workflows that it includes among them, from the rows and actors that are them. */
import type { ActorRecord, EffectRecord, Store } from "../../persistence/store.ts";
import type { ActorView } from "../runtime/definition.ts";
import { byEntry, graphOf, visitParts } from "../visitNames.ts";
import { doneCase, graphMachineId, type GraphContext, type GraphNode } from "../workflow/graph.ts";
import { isActorKind, nodeKinds } from "../workflow/kinds.ts";
import type { VisitView } from "./api.ts";
import { readGraph } from "./graphs.ts";
import { graphContext, nodeEnd, overtime, viewOfRecord } from "./snapshots.ts";
import { everyPage, readValue } from "./values.ts";
import { actorVisit, effectVisit, visitKind } from "./views.ts";
import { valueOfVisit } from "./visitValues.ts";

const page = 500;

type VisitEffect = EffectRecord & { readonly visit: string };

/** In the order in which they were entered, the inner ones after the one that includes them. */
export async function readVisits(store: Store, run: string): Promise<readonly VisitView[]> {
  const actors = await actorsOf(store, run);
  const effects = new Map<string, VisitEffect[]>();
  for await (const rows of everyPage((cursor) => store.query("effects", { root: run }, { limit: page, cursor })))
    for (const row of rows) {
      if (!isVisit(row)) continue;
      const own = effects.get(row.actor);
      if (own) own.push(row);
      else effects.set(row.actor, [row]);
    }
  const visits: VisitView[] = [];
  const graphs = new Map(actors.filter(({ machineId }) => machineId === graphMachineId).map((record) => [record.id, viewOfRecord(record)]));
  for (const [id, graph] of graphs) {
    const own = effects.get(id) ?? [];
    const cases = await casesOf(store, graph, own);
    for (const record of own) {
      const kind = visitKind(record);
      if (kind !== undefined) visits.push(effectVisit(record, kind, cases.get(record.visit) ?? null, await readValue(store, record.output)));
    }
  }
  for (const record of actors) {
    if (!isNodeActor(record)) continue;
    const view = viewOfRecord(record);
    const [visit, end] = [actorVisit(view, record.machineId), nodeEnd(view)];
    const graph = graphs.get(graphOf(record.id));
    if (end?.kind === "accepted") visits.push(end.from === null ? visit : { ...visit, output: await valueOfVisit(store, end.from) });
    else visits.push(graph === undefined ? visit : elapsed(visit, graphContext(graph)));
  }
  return visits.toSorted((a, b) => byEntry(a.id, b.id));
}

async function actorsOf(store: Store, run: string): Promise<readonly ActorRecord[]> {
  const actors: ActorRecord[] = [];
  for await (const rows of everyPage((cursor) => store.query("actors", { root: run }, { limit: page, cursor }))) actors.push(...rows);
  return actors;
}

/** A visit is a child of a graph; what is below it is no visit. */
const isNodeActor = ({ id, parent, machineId }: ActorRecord): boolean =>
  parent !== null && parent === graphOf(id) && nodeKinds.some((kind) => kind === machineId && isActorKind(kind));

/** A visit's actor is stopped while its graph goes on only when the deadline of the step runs out. */
function elapsed(visit: VisitView, { step, visits }: GraphContext): VisitView {
  const { node, number } = visitParts(visit.id);
  const latest = visits[node];
  const isOver = latest?.visit === visit.id ? latest.status === "timedOut" : number < step;
  return visit.status === "cancelled" && isOver ? { ...visit, status: "timedOut", error: overtime } : visit;
}

const isVisit = (record: EffectRecord): record is VisitEffect => record.visit !== null;

/** The case that each accepted visit took: the node's only one, else what the graph remembers, else what the journal does. */
async function casesOf(store: Store, graph: ActorView, effects: readonly VisitEffect[]): Promise<ReadonlyMap<string, string>> {
  const context = graphContext(graph);
  const nodes = new Map((await readGraph(store, context.graph)).nodes.map((node) => [node.id, node]));
  const latest = new Map(Object.values(context.visits).map((visit) => [visit.visit, visit.case]));
  const cases = new Map<string, string>();
  const forgotten: string[] = [];
  for (const { visit, state } of effects) {
    if (state !== "confirmed") continue;
    const taken = onlyCase(nodes.get(visitParts(visit).node)) ?? latest.get(visit);
    if (taken) cases.set(visit, taken);
    else forgotten.push(visit);
  }
  if (forgotten.length > 0) await fromJournal(store, graph.record.id, effects, forgotten, cases);
  return cases;
}

const onlyCase = (node: GraphNode | undefined): string | undefined => (node?.cases.length === 1 ? (node.cases[0] ?? doneCase) : undefined);

/** The graph's journal holds one done event for each accepted visit, in order. */
async function fromJournal(
  store: Store,
  graph: string,
  effects: readonly VisitEffect[],
  forgotten: readonly string[],
  cases: Map<string, string>,
): Promise<void> {
  const wanted = new Set(forgotten.map((visit) => visitParts(visit).node));
  const pending = new Map<string, string[]>();
  for (const { visit, state } of effects.toSorted((a, b) => visitParts(a.visit).number - visitParts(b.visit).number)) {
    const { node } = visitParts(visit);
    if (state === "confirmed" && wanted.has(node)) pending.set(node, [...(pending.get(node) ?? []), visit]);
  }
  const done = /^xstate\.done\.actor\.(.+)$/;
  for (let from = 1; ;) {
    const rows = await store.journal(graph, from, page);
    for (const row of rows) {
      const node = done.exec(row.type)?.[1];
      const visit = node === undefined ? undefined : pending.get(node)?.shift();
      if (visit === undefined) continue;
      const payload = await readValue(store, row.payload);
      const taken = caseIn(payload);
      if (taken !== null) cases.set(visit, taken);
    }
    const last = rows.at(-1);
    if (rows.length < page || last === undefined) return;
    from = last.revision + 1;
  }
}

function caseIn(payload: unknown): string | null {
  if (typeof payload !== "object" || payload === null || !("output" in payload)) return null;
  const { output } = payload;
  return typeof output === "object" && output !== null && "case" in output && typeof output.case === "string" ? output.case : null;
}

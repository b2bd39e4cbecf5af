/** The reading half of a host: views of what is stored, beside an owner or by it. */
import type { DecisionRow, DecisionState, EffectState, Page, PageRequest, RunRow, RunState, Store } from "../../persistence/store.ts";
import { decisionContext } from "../../machines/decisionView.ts";
import { isPawlError, messageOf, PawlError } from "../errors.ts";
import { findDecisionCode, parseDecisionCode } from "../decisionCode.ts";
import type { ActorView } from "../runtime/definition.ts";
import type { DecisionAudit, DecisionView, EffectView, RunSummary, RunView, VisitView } from "./api.ts";
import { localOnly, type Audiences } from "./channels/audiences.ts";
import { deliveryView, unusable, type DeliveryView } from "./channels/deliveryView.ts";
import { currentNode, readAwaited } from "./awaits.ts";
import { openCodes } from "./openCodes.ts";
import { findRun } from "./lookup.ts";
import { isReturning, runContext } from "./runState.ts";
import { holderOf } from "./sessionHolder.ts";
import { graphActor, readView, viewOfRecord } from "./snapshots.ts";
import { agentStandstill } from "./agents/standstill.ts";
import { visitParts } from "../visitNames.ts";
import { updateView, type UpdateView } from "./updates/updateView.ts";
import { everyPage, readValue } from "./values.ts";
import { decisionView, effectView, missingDecision } from "./views.ts";
import { valueOfVisit } from "./visitValues.ts";

const rereads = 3;
const updatesPage = 50;
const decisionsPage = 50;

/** A run's own actor and its graph's. */
interface RunActors {
  readonly run: ActorView | null;
  readonly graph: ActorView | null;
}

export class Reader {
  protected readonly store: Store;
  protected readonly audiences: Audiences;

  /** `audiences`: every one is answered at the terminals of this machine when left out. */
  constructor(store: Store, audiences: Audiences = { policy: async () => localOnly }) {
    this.store = store;
    this.audiences = audiences;
  }

  async runs(filter: { state?: readonly RunState[]; workflow?: string } = {}, page: PageRequest = {}): Promise<Page<RunSummary>> {
    const { items, cursor } = await this.store.query("runs", filter, page);
    return { cursor, items: await Promise.all(items.map(async (row) => this.summaryOf(row, await this.actorsOf(row.id), ["open"]))) };
  }

  async run(id: string): Promise<RunView> {
    let row = await findRun(this.store, id);
    // A view is read in several looks; where the run moved between them it is read again, a bounded number of times.
    for (let tries = 0; ; tries += 1) {
      const view = await this.viewOfRun(row);
      const now = await findRun(this.store, row.id);
      if (tries === rereads || (now.state === row.state && now.updatedAt === row.updatedAt)) return view;
      row = now;
    }
  }

  async decisions(filter: { run?: string; state?: readonly DecisionState[] } = {}, page: PageRequest = {}): Promise<Page<DecisionView>> {
    const { items, cursor } = await this.store.query("decisions", filter, page);
    return { cursor, items: await this.viewsOfDecisions(items) };
  }

  async decision(codeOrId: string): Promise<DecisionView> {
    const [view] = await this.viewsOfDecisions([await this.findDecision(codeOrId)]);
    if (view === undefined) throw new PawlError("unknownDecision", `There is no decision "${codeOrId}".`, { subject: codeOrId });
    return view;
  }

  async audit(codeOrId: string): Promise<DecisionAudit> {
    const row = await this.findDecision(codeOrId);
    const actor = await readView(this.store, row.id);
    if (actor === null) throw missingDecision(row);
    const { audit, unlisted } = decisionContext(actor);
    return { decision: row.id, code: row.code, title: row.title, state: row.state, candidates: audit, unlisted };
  }

  async effects(filter: { run?: string; state?: readonly EffectState[] } = {}, page: PageRequest = {}): Promise<Page<EffectView>> {
    const { run, state } = filter;
    const { items, cursor } = await this.store.query(
      "effects",
      { ...(run === undefined ? {} : { root: run }), ...(state === undefined ? {} : { state }) },
      page,
    );
    return { cursor, items: items.map(effectView) };
  }

  async updates({ run }: { run: string }, page: PageRequest = {}): Promise<Page<UpdateView>> {
    // Each may have 64 KiB: more would not go through a host's socket at once.
    const { items, cursor } = await this.store.query("updates", { run }, { ...page, limit: Math.min(page.limit ?? updatesPage, updatesPage) });
    return { cursor, items: items.map(updateView) };
  }

  async effect(key: string): Promise<EffectView> {
    const [record] = await this.store.effects([key]);
    if (record === undefined)
      throw new PawlError("unknownEffect", `There is no effect "${key}". List those with an unknown outcome: \`pawl effect list\``, { subject: key });
    return effectView(record);
  }

  /** A code is given anew when the decision that had it is settled: the open one is meant, else the latest. */
  protected async findDecision(typed: string): Promise<DecisionRow> {
    const [byId] = (await this.store.query("decisions", { id: typed }, { limit: 1 })).items;
    if (byId !== undefined) return byId;
    const codes = await openCodes(this.store);
    const found = findDecisionCode(typed, codes);
    const parsed = parseDecisionCode(typed);
    const code = found.status === "found" ? found.code : parsed.ok ? parsed.code : null;
    if (code !== null) {
      const { items } = await this.store.query("decisions", { code }, { limit: 500 });
      const row = items.find(({ state }) => state === "open") ?? items.at(-1);
      if (row !== undefined) return row;
    }
    const near = found.status === "found" ? [] : found.near;
    const hint =
      near.length > 0 ? `Did you mean ${near.join(" or ")}?` : codes.length === 0 ? "No decision is open." : "List those that wait with: `pawl decisions`.";
    const what = parsed.ok ? `There is no decision with the code "${typed}".` : `"${typed}" is no decision's code: ${faultTexts[parsed.fault]}.`;
    throw new PawlError("unknownDecision", `${what} ${hint} Nothing was answered.`, { subject: typed });
  }

  private async viewsOfDecisions(rows: readonly DecisionRow[]): Promise<readonly DecisionView[]> {
    if (rows.length === 0) return [];
    const actors = new Map((await this.store.load(rows.map(({ id }) => id))).map((record) => [record.id, viewOfRecord(record)]));
    const later = await this.laterDecisions(rows);
    const deliveries = new Map<string, DeliveryView>();
    for (const { state, audience } of rows) if (state === "open" && !deliveries.has(audience)) deliveries.set(audience, await this.deliveryFor(audience));
    return rows.map((row) =>
      decisionView(row, actors.get(row.id), {
        delivery: row.state === "open" ? (deliveries.get(row.audience) ?? null) : null,
        replacedBy: later.get(row.id) ?? null,
      }),
    );
  }

  /** Where open decisions of an audience are shown. A configuration that cannot be used is told where people look. */
  private async deliveryFor(audience: string): Promise<DeliveryView> {
    try {
      return deliveryView(audience, await this.audiences.policy(audience), []);
    } catch (error) {
      return unusable(messageOf(error));
    }
  }

  /** For each decision that is settled: the latest one that its node has asked after it. Looked for from the newest back: mostly the first page has it. */
  private async laterDecisions(rows: readonly DecisionRow[]): Promise<ReadonlyMap<string, string>> {
    const later = new Map<string, string>();
    const settled = rows.filter(({ state }) => state !== "open");
    for (const run of new Set(settled.map((row) => row.run))) {
      const asked = settled.filter((row) => row.run === run);
      const latest = new Map<string, DecisionRow>();
      for await (const page of everyPage((cursor) => this.store.query("decisions", { run }, { limit: decisionsPage, newest: true, cursor }))) {
        for (const row of page.toSorted((a, b) => visitNumber(b) - visitNumber(a))) if (!latest.has(placeOf(row))) latest.set(placeOf(row), row);
        if (asked.every((row) => latest.has(placeOf(row)))) break;
      }
      for (const { id, ...row } of asked) {
        const last = latest.get(placeOf(row));
        if (last !== undefined && last.id !== id) later.set(id, last.id);
      }
    }
    return later;
  }

  private async viewOfRun(row: RunRow): Promise<RunView> {
    const { store } = this;
    const actors = await this.actorsOf(row.id);
    const end = actors.run === null ? null : runContext(actors.run).end;
    return {
      ...(await this.summaryOf(row, actors, undefined)),
      input: await readValue(store, row.input),
      result: row.state === "completed" && end !== null ? await valueOfVisit(store, end.visit) : null,
      visits: actors.graph === null ? [] : await this.visitsOf(row.id),
      updates: (await this.updates({ run: row.id }, { newest: true })).items,
    };
  }

  private async actorsOf(run: string): Promise<RunActors> {
    return { run: await readView(this.store, run), graph: await readView(this.store, graphActor(run)) };
  }

  private async summaryOf(
    { id, workflow, state, createdAt, updatedAt, endedAt }: RunRow,
    { run, graph }: RunActors,
    of: readonly DecisionState[] | undefined,
  ): Promise<RunSummary> {
    const { store } = this;
    const decisions: DecisionView[] = [];
    for await (const rows of everyPage((cursor) => store.query("decisions", { run: id, ...(of === undefined ? {} : { state: of }) }, { limit: 500, cursor })))
      decisions.push(...(await this.viewsOfDecisions(rows)));
    const ambiguous: EffectView[] = [];
    for await (const rows of everyPage((cursor) => store.query("effects", { root: id, state: ["ambiguous"] }, { limit: 500, cursor })))
      ambiguous.push(...rows.map(effectView));
    const reason =
      (run === null ? null : runContext(run).reason) ?? faultOf(run, graph) ?? (await this.busySession(run)) ?? (await agentStandstill(store, state, run));
    const { since, pausedAt } = run === null ? { since: null, pausedAt: null } : runContext(run);
    const current = graph === null ? null : await currentNode(store, graph);
    const awaits = run !== null && state === "waiting" ? await readAwaited(store, run) : null;
    return { id, workflow, state, createdAt, updatedAt, endedAt, reason, since, pausedAt, current, awaits, decisions, ambiguous };
  }

  /** Why a run that could go on does not: whom its session has. */
  private async busySession(run: ActorView | null): Promise<RunView["reason"]> {
    if (run === null || !isReturning(run)) return null;
    const holder = await holderOf(this.store, runContext(run).session ?? "");
    return {
      code: "sessionBusy",
      message: holder
        ? `It goes on when run ${holder.id} (workflow "${holder.workflow}") is done or parked: one run of a session at a time.`
        : "It goes on at once.",
    };
  }

  /** A run whose graph data is gone is still shown, without its visits: showing is how its owner learns of it. */
  private async visitsOf(run: string): Promise<readonly VisitView[]> {
    try {
      // A list needs none, and is to be there at once.
      const { readVisits } = await import("./visits.ts");
      return await readVisits(this.store, run);
    } catch (error) {
      if (isPawlError(error) && error.code === "storageDamaged") return [];
      throw error;
    }
  }
}

/** A node's place in the run, and which of its visits asks. */
const placeOf = ({ visit }: Pick<DecisionRow, "visit">): string => visit.slice(0, visit.lastIndexOf("."));
const visitNumber = ({ visit }: DecisionRow): number => visitParts(visit).number;

/** Why a run stands still although its own machine gave no reason: an actor of it is faulted. */
function faultOf(run: ActorView | null, graph: ActorView | null): RunView["reason"] {
  const faulted = [run, graph].find((view) => view?.record.status === "faulted");
  return faulted
    ? {
        code: "faulted",
        message: `Actor "${faulted.record.id}" met an event that its machine cannot take; it stands still until it is mended, or the run is cancelled.`,
      }
    : null;
}

const faultTexts = {
  empty: "nothing was typed",
  character: "codes hold digits and letters only",
  length: "it is too short or too long",
  check: "a character is mistyped, for its check character does not fit",
} as const;

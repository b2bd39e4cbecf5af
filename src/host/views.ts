/** Rows and snapshots as the views of api.ts. */
import { decisionContext } from "../../machines/decisionView.ts";
import { decisionSchemas, receiptOf } from "../../machines/contracts/receipt.ts";
import type { DecisionSettlement } from "../../machines/contracts/settlement.ts";
import type { DecisionContext } from "../../machines/decisionVerdicts.ts";
import type { DecisionRow, EffectRecord, EffectState } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { ActorView } from "../runtime/definition.ts";
import { nodePath } from "../visitNames.ts";
import type { NodeKind } from "../workflow/kinds.ts";
import { graphEffects } from "../workflow/graphEffects.ts";
import type { DecisionView, EffectView, VisitView } from "./api.ts";
import { nodeEnd } from "./snapshots.ts";

export function effectView({ key, visit, type, root, state, attempt, once, error, ambiguousSince, createdAt }: EffectRecord): EffectView {
  return { key, visit, type, run: root, state, attempt, once, error, ambiguousSince, createdAt };
}

/** `view` is the decision's own actor; `beside` what its state does not say. @throws storageDamaged without it */
export function decisionView(
  row: DecisionRow,
  view: ActorView | undefined,
  { delivery, replacedBy }: { readonly delivery: DecisionView["delivery"]; readonly replacedBy: string | null },
): DecisionView {
  if (view === undefined) throw missingDecision(row);
  const context = decisionContext(view);
  return { ...row, request: context.request, delivery, settlement: settlementOf(row, context, replacedBy) };
}

/** How a decision ended; null while it is open. */
function settlementOf({ state, settledAt }: DecisionRow, { request, resolution }: DecisionContext, replacedBy: string | null): DecisionSettlement | null {
  if (state === "open") return null;
  const { decision, run, node, visit, revision } = request;
  const receipt = resolution === null ? null : receiptOf(resolution);
  return { schema: decisionSchemas.settlement, decision, run, node, visit, revision, state, at: settledAt ?? request.createdAt, receipt, replacedBy };
}

export const missingDecision = ({ id }: Pick<DecisionRow, "id">): PawlError =>
  new PawlError("storageDamaged", `Decision "${id}" is listed, but its state is missing from the database. Restore a backup of the state directory.`, {
    subject: id,
  });

/** Kinds whose visit is an effect's row. */
const kindsByEffect: { readonly [type: string]: NodeKind } = {
  [graphEffects.compute]: "compute",
  [graphEffects.action]: "action",
  [graphEffects.shell]: "shell",
  [graphEffects.notify]: "notify",
};

/** The node kind that an effect is the visit of; undefined for other effects. */
export const visitKind = (effect: Pick<EffectRecord, "type" | "visit">): NodeKind | undefined =>
  effect.visit === null ? undefined : kindsByEffect[effect.type];

const effectStatus: { readonly [state in EffectState]: VisitView["status"] } = {
  planned: "running",
  attempting: "running",
  confirmed: "accepted",
  failed: "failed",
  ambiguous: "ambiguous",
  dropped: "cancelled",
};

/** Reasons that count as elapsed, as the graph routes them. */
const timeoutReasons: readonly string[] = ["nodeTimedOut", "decisionExpired"];

export function effectVisitStatus({ state, error }: Pick<EffectRecord, "state" | "error">): VisitView["status"] {
  const status = effectStatus[state];
  return status === "failed" && error !== null && timeoutReasons.includes(error.reason) ? "timedOut" : status;
}

/** `taken` is the case it took, `output` the value of its row. */
export function effectVisit(record: EffectRecord & { readonly visit: string }, kind: NodeKind, taken: string | null, output: unknown): VisitView {
  const status = effectVisitStatus(record);
  const open = status === "running" || status === "ambiguous";
  return {
    id: record.visit,
    node: nodePath(record.visit),
    kind,
    status,
    attempt: record.attempt,
    case: status === "accepted" ? taken : null,
    output: status === "accepted" ? output : null,
    error: status === "accepted" ? null : record.error,
    startedAt: record.createdAt,
    endedAt: open ? null : record.updatedAt,
  };
}

/** In these a node machine waits for people or time. */
const waitingStates: readonly string[] = ["asking", "waiting", "unattended", "aside"];

/** In one of its regions, however deep. */
const isWaiting = (value: unknown): boolean =>
  typeof value === "string" ? waitingStates.includes(value) : typeof value === "object" && value !== null && Object.values(value).some(isWaiting);

/** A batch some of whose commands, or an author's machine some of whose promises, nobody knows the outcome of. */
const hasUnknown = ({ context }: ActorView): boolean =>
  typeof context === "object" && context !== null && "unknown" in context && Array.isArray(context.unknown) && context.unknown.length > 0;

/** How a visit that is an actor of its own stands. */
export function actorVisitStatus(view: ActorView): VisitView["status"] {
  const end = nodeEnd(view);
  if (end?.kind === "accepted") return "accepted";
  if (end?.kind === "failed") return timeoutReasons.includes(end.error.reason) ? "timedOut" : "failed";
  if (view.record.status === "active") return hasUnknown(view) ? "ambiguous" : isWaiting(view.value) ? "waiting" : "running";
  return view.record.status === "stopped" ? "cancelled" : "failed";
}

/** A machine of an author's is shown by the name that its author gave it. */
function namedKind({ context }: ActorView, kind: string): string {
  const own = kind === "machine" && typeof context === "object" && context !== null && "machine" in context ? context.machine : null;
  return typeof own === "string" ? `${kind} ${own}` : kind;
}

export function actorVisit(view: ActorView, kind: string): VisitView {
  const end = nodeEnd(view);
  return {
    id: view.record.id,
    node: nodePath(view.record.id),
    kind: namedKind(view, kind),
    status: actorVisitStatus(view),
    attempt: 1,
    case: end?.kind === "accepted" ? end.case : null,
    output: end?.kind === "accepted" ? end.value : null,
    error: end?.kind === "failed" ? end.error : null,
    startedAt: view.record.createdAt,
    endedAt: view.record.status === "active" ? null : view.record.updatedAt,
  };
}

/** Stored actor rows as views: what a reader sees without a runtime. */
import type { Store } from "../../persistence/store.ts";
import type { ActorView } from "../runtime/definition.ts";
import { storedView } from "../runtime/storedView.ts";
import type { GraphContext } from "../workflow/graph.ts";

export { storedView as viewOfRecord } from "../runtime/storedView.ts";

/** The last committed view of an actor; null when there is none. */
export async function readView(store: Pick<Store, "load">, id: string): Promise<ActorView | null> {
  const [record] = await store.load([id]);
  return record === undefined ? null : storedView(record);
}

/** Id of a run's graph actor: the child that runMachine calls `graph`. */
export const graphActor = (run: string): string => `${run}/graph`;

/** The context of a graph actor. Only for views of such. */
export const graphContext = (view: ActorView): GraphContext => view.context as GraphContext; // graphActor() names no other machine

/** Node and number of a visit id, `<run>/graph/<node>.<n>`. */
export function visitParts(visit: string): { readonly node: string; readonly number: number } {
  const name = visit.slice(visit.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return { node: name.slice(0, dot), number: Number(name.slice(dot + 1)) };
}

/** Reason and message of a failure as the runtime and node machines store it. */
export function failureParts(error: unknown): { readonly reason: string; readonly message: string } {
  const has = typeof error === "object" && error !== null;
  return {
    reason: has && "reason" in error && typeof error.reason === "string" ? error.reason : "nodeFailed",
    message: has && "message" in error && typeof error.message === "string" ? error.message : "It failed without saying why.",
  };
}

/** The failure of a visit whose deadline ran out: its actor was stopped, and says nothing. */
export const overtime = { reason: "nodeTimedOut", message: "It took longer than its deadline." } as const;

/** What a node machine ended with: a case with its value, or a failure; null when it has not ended so. */
export type NodeEnd =
  | { readonly kind: "accepted"; readonly case: string; readonly value: unknown }
  | { readonly kind: "failed"; readonly error: { readonly reason: string; readonly message: string } };

export function nodeEnd(view: ActorView): NodeEnd | null {
  if (view.record.status === "error") return { kind: "failed", error: failureParts(view.error) };
  if (view.record.status !== "done" || typeof view.output !== "object" || view.output === null) return null;
  if ("failed" in view.output) return { kind: "failed", error: failureParts(view.output.failed) };
  if (!("case" in view.output) || typeof view.output.case !== "string") return null;
  return { kind: "accepted", case: view.output.case, value: "value" in view.output ? view.output.value : null };
}

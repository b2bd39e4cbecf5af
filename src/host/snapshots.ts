/** Stored actor rows as views: what a reader sees without a runtime. */
import type { Store } from "../../persistence/store.ts";
import type { ActorView } from "../runtime/definition.ts";
import { storedView } from "../runtime/storedView.ts";
import type { GraphContext } from "../workflow/graph.ts";

export { storedView as viewOfRecord } from "../runtime/storedView.ts";
export { graphActor } from "../visitNames.ts";

/** The last committed view of an actor; null when there is none. */
export async function readView(store: Pick<Store, "load">, id: string): Promise<ActorView | null> {
  const [record] = await store.load([id]);
  return record === undefined ? null : storedView(record);
}

/** The context of a graph actor. Only for views of such. */
export const graphContext = (view: ActorView): GraphContext => view.context as GraphContext; // only graph actors have ids that end so

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

/** What a node machine ended with: a case with its value (or `from`, the visit that gave it), or a failure; null when it has not ended so. */
export type NodeEnd =
  | { readonly kind: "accepted"; readonly case: string; readonly value: unknown; readonly from: string | null }
  | { readonly kind: "failed"; readonly error: { readonly reason: string; readonly message: string } };

/** The visit that holds the value of an output, where the output itself does not. */
function placeOfValue({ record }: ActorView, output: object): string | null {
  if ("kept" in output && typeof output.kept === "string") return `${record.id}/${output.kept}`;
  return "from" in output && typeof output.from === "string" ? output.from : null;
}

export function nodeEnd(view: ActorView): NodeEnd | null {
  if (view.record.status === "error") return { kind: "failed", error: failureParts(view.error) };
  if (view.record.status !== "done" || typeof view.output !== "object" || view.output === null) return null;
  if ("failed" in view.output) return { kind: "failed", error: failureParts(view.output.failed) };
  if (!("case" in view.output) || typeof view.output.case !== "string") return null;
  return {
    kind: "accepted",
    case: view.output.case,
    value: "value" in view.output ? view.output.value : null,
    from: placeOfValue(view, view.output),
  };
}

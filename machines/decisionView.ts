/** How a decision stands, read from its snapshot: for readers, who need no machine. */
import type { DecisionContext, SettledState } from "./decisionVerdicts.ts";

/** What is read of an actor's view. `context` is the decision's own. */
export interface DecisionViewLike {
  readonly record: { readonly id: string; readonly status: string; readonly updatedAt: number };
  readonly value: unknown;
  readonly context: unknown;
}

/** The context of a view of a decision. */
export function decisionContext(view: DecisionViewLike): DecisionContext {
  return view.context as DecisionContext; // a snapshot of decisionMachine holds this: the runtime stored it with the machine's id and version
}

/** A decision whose actor was stopped with its run counts as cancelled. */
export function decisionState({ record, value }: DecisionViewLike): "open" | SettledState {
  if (value === "accepted" || value === "defaulted" || value === "cancelled" || value === "expired") return value;
  return record.status === "stopped" ? "cancelled" : "open";
}

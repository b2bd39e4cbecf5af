/** What kind of logic an actor's source is. XState's logics do not say: they are told apart by what they answer.
 *  A cast stands where a logic is asked more than its type shows. */
import type { AnyActorLogic } from "xstate";
import { isMachineLogic } from "./step.ts";

export type LogicKind = "machine" | "promise" | "callback" | "observable" | "transition" | "unknown";

/** Asks the logic's own pure functions; starts nothing. */
export function logicKind(logic: AnyActorLogic): LogicKind {
  if (isMachineLogic(logic)) return "machine";
  if (isPromise(logic)) return "promise";
  const first = answer(() => logic.getInitialSnapshot({} as never, undefined as never) as object);
  if (first && "_subscription" in first) return "observable";
  if (first && "context" in first) return "transition";
  // A reducer whose first state is made of its input may have thrown; it alone does not keep an input.
  if (!("config" in logic) || typeof logic.config !== "function") return "unknown";
  return first && "input" in first ? "callback" : "transition";
}

/** A promise's logic is done when it is told that it is resolved; a reducer of the author's may throw at that event, a callback's does. */
function isPromise(logic: AnyActorLogic): boolean {
  const mark = {};
  const after = answer(() => logic.transition({ status: "active" } as never, { type: "xstate.promise.resolve", data: mark } as never, {} as never) as object);
  return after !== undefined && "output" in after && after.output === mark;
}

function answer(ask: () => object): object | undefined {
  try {
    return ask();
  } catch {
    // What cannot answer is not of the kind that is asked for.
    return undefined;
  }
}

/** How a run stands, read from its snapshot: for readers, who need no machine. */
import type { RunContext } from "../../machines/runMachine.ts";
import type { RunState } from "../../persistence/store.ts";
import type { ActorView } from "../runtime/definition.ts";

/** A run's context. Only for views of runMachine actors. */
export const runContext = (view: ActorView): RunContext => view.context as RunContext; // the record's machine id says so

/** The chart's own name of the state: that inside of `running` where it is there. */
function innerState({ value }: ActorView): string {
  return String(typeof value === "object" && value !== null && "running" in value ? value.running : value);
}

/** States of the chart that people know by another name. */
const otherNames: { readonly [state: string]: RunState | undefined } = { active: "running", ready: "paused", returning: "waiting" };

/** Names runMachine's state as people and rows do. */
export function runState(view: ActorView): RunState {
  if (view.record.status === "faulted") return "blocked";
  const inner = innerState(view);
  return otherNames[inner] ?? (inner as RunState); // all others are run states; a test compares them
}

/** True for a run that could go on, and waits for its session. */
export const isReturning = (view: ActorView): boolean => view.record.status === "active" && innerState(view) === "returning";

const openStates: readonly RunState[] = ["queued", "starting", "running", "pausing", "held"];

/** Whether its session can have no other run now. */
export const reserves = (view: ActorView): boolean => runContext(view).session !== null && openStates.includes(runState(view));

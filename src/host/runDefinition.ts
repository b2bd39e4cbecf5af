/** runMachine as the runtime registers it: what it takes from outside, its index row, its answer after the end. */
import { RunCommand, runMachine, type RunContext } from "../../machines/runMachine.ts";
import type { RunRow, RunState } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { ActorView, Definition } from "../runtime/definition.ts";
import { defineMachine } from "../runtime/registry.ts";

/** Of Pawl's own machines the version decides: an edit that changes nothing for stored runs must not make them refuse.
 *  test/golden holds the chart of each version, so that one that matters cannot go by without a new version. */
export const ownIdentity = "pawl";

export const runDefinition: Definition = defineMachine(runMachine, {
  identity: ownIdentity,
  parseEvent(event) {
    const parsed = RunCommand.safeParse(event);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new PawlError("invalidInput", `A run takes no such event: ${issue?.message ?? "unknown"} at "${issue?.path.join(".") ?? ""}".`, {
      path: issue?.path.join(".") ?? "",
    });
  },
  project: (view) => [{ table: "runs", row: runRow(view) }],
  // SPEC 5: a command to a finished run is answered with its outcome.
  whenFinished: (view) => ({ code: "finished", reply: { state: runState(view) } }),
  unhandled: "refused",
});

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

function runRow(view: ActorView): RunRow {
  const context = runContext(view);
  const state = runState(view);
  return {
    id: view.record.id,
    workflow: context.workflow,
    sourceDigest: context.source,
    graphDigest: context.graph,
    state,
    session: context.session,
    reserves: reserves(view),
    reason: context.reason?.code ?? null,
    input: context.input,
    createdAt: view.record.createdAt,
    updatedAt: view.record.updatedAt,
    endedAt: context.endedAt,
  };
}

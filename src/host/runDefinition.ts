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

/** Names runMachine's state as people and rows do. */
export function runState(view: ActorView): RunState {
  if (view.record.status === "faulted") return "blocked";
  const { value } = view;
  if (typeof value === "string") return value as RunState; // the chart's top states are run states; a test compares them
  const inner = typeof value === "object" && value !== null && "running" in value ? value.running : null;
  return inner === "active" ? "running" : (inner as RunState);
}

const openStates: readonly RunState[] = ["queued", "starting", "running", "held"];

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
    reserves: context.session !== null && openStates.includes(state),
    reason: context.reason?.code ?? null,
    input: context.input,
    createdAt: view.record.createdAt,
    updatedAt: view.record.updatedAt,
    endedAt: context.endedAt,
  };
}

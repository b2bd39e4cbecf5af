/** runMachine as the runtime registers it: what it takes from outside, its index row, its answer after the end. */
import { RunCommand, runMachine } from "../../machines/runMachine.ts";
import type { RunRow } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { ActorView, Definition } from "../runtime/definition.ts";
import { defineMachine } from "../runtime/registry.ts";
import { reserves, runContext, runState } from "./runState.ts";

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

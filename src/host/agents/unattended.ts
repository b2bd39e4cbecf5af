/** Why a run whose step waits for an agent stands still, and what would change that. */
import type { RunState, Store } from "../../../persistence/store.ts";
import type { ActorView } from "../../runtime/definition.ts";
import { nodePath } from "../../visitNames.ts";
import { isAgentKind } from "../../workflow/kinds.ts";
import { runContext } from "../runState.ts";
import { viewOfRecord } from "../snapshots.ts";

/** Null where nobody is missing. `run` is the run's own actor. */
export async function unattended(
  store: Pick<Store, "query">,
  state: RunState,
  run: ActorView | null,
): Promise<{ readonly code: string; readonly message: string } | null> {
  if (run === null) return null;
  const { session } = runContext(run);
  // A run without a session is parked while it waits so; one of a session keeps running.
  if (state !== "waiting" && (session === null || state !== "running")) return null;
  const { items } = await store.query("actors", { root: run.record.id, status: ["active"] }, { limit: 500 });
  const step = items.find((record) => isAgentKind(record.machineId) && turnOf(viewOfRecord(record).value) === "unattended");
  if (step === undefined) return null;
  return {
    code: "noAgent",
    message: `No agent is connected: node "${nodePath(step.id)}" waits for one. ${
      session === null ? "Go on with the run in a program that opens Pawl with an `agent`." : `It goes on when its session ${session} is connected.`
    }`,
  };
}

function turnOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("working" in value)) return undefined;
  const { working } = value;
  return typeof working === "object" && working !== null && "turn" in working ? working.turn : undefined;
}

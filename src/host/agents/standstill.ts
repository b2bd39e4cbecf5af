/** Why a run whose step is with an agent stands still, and what would change that. */
import type { AgentNodeContext } from "../../../machines/nodes/agentTurns.ts";
import type { RunState, Store } from "../../../persistence/store.ts";
import { asSentence } from "../../errors.ts";
import type { ActorView } from "../../runtime/definition.ts";
import { nodePath } from "../../visitNames.ts";
import { isAgentKind } from "../../workflow/kinds.ts";
import { runContext } from "../runState.ts";
import { viewOfRecord } from "../snapshots.ts";

/** Null where nothing is missing. `run` is the run's own actor. */
export async function agentStandstill(
  store: Pick<Store, "query">,
  state: RunState,
  run: ActorView | null,
): Promise<{ readonly code: string; readonly message: string } | null> {
  if (run === null || (state !== "waiting" && state !== "running")) return null;
  const { session } = runContext(run);
  const { items } = await store.query("actors", { root: run.record.id, status: ["active"] }, { limit: 500 });
  for (const record of items.filter(({ machineId }) => isAgentKind(machineId))) {
    const step = viewOfRecord(record);
    const node = nodePath(record.id);
    switch (turnOf(step.value)) {
      case "unattended":
        return {
          code: "noAgent",
          message: `No agent is connected: node "${node}" waits for one. ${
            session === null ? "Go on with the run in a program that opens Pawl with an `agent`." : `It goes on when its session ${session} is connected.`
          }`,
        };
      case "backingOff": {
        const { turn, errors } = step.context as AgentNodeContext; // a snapshot of an agent kind holds this: the runtime stored it with the machine's id
        const said = turn?.outcome === "error" ? turn.message : undefined;
        return {
          code: "agentFailed",
          message: `The agent of node "${node}" failed${errors > 1 ? ` ${errors} times in a row` : ""}${said === undefined ? "." : `: ${asSentence(said)}`} It is asked again after a wait, by itself.`,
        };
      }
    }
  }
  return null;
}

function turnOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("working" in value)) return undefined;
  const { working } = value;
  return typeof working === "object" && working !== null && "turn" in working ? working.turn : undefined;
}

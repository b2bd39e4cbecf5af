/** Who may publish: an action while its attempt is the open one, and an agent while its step is open. */
import type { UpdateReceipt } from "../../../machines/contracts/update.ts";
import type { ActorView } from "../../runtime/definition.ts";
import type { EffectTask } from "../../runtime/executor.ts";
import { graphOf, visitParts } from "../../visitNames.ts";
import type { VisitCall, Watch } from "../author/authorCode.ts";
import { graphContext } from "../snapshots.ts";
import type { AgentTurn } from "../agents/agentExecutor.ts";
import type { UpdateDesk, UpdateSource } from "./updateDesk.ts";

type View = (actor: string) => Promise<ActorView | null>;

/** Runs an action's code, which is watched as every other's, and may publish. It is over when what it published is stored or refused. */
export async function publishing<T>(call: VisitCall, task: EffectTask, updates: UpdateDesk, view: View, work: (watch: Watch) => Promise<T>): Promise<T> {
  const source = actionSource(call, task, view);
  const open = new Set<Promise<unknown>>();
  const watch: Watch = {
    ...task,
    update(update) {
      const stored = updates.publish(source, update);
      open.add(stored);
      stored.catch(() => undefined).finally(() => open.delete(stored));
      return stored;
    },
  };
  try {
    return await work(watch);
  } finally {
    await Promise.allSettled(open);
  }
}

/** The graph moves on when the visit is over, and stands on its node before. */
function actionSource({ run, visit }: VisitCall, { signal }: EffectTask, view: View): UpdateSource {
  const actor = graphOf(visit);
  const { node, number } = visitParts(visit);
  return {
    run,
    visit,
    standing: async () => {
      const graph = signal.aborted ? null : await view(actor);
      const isOpen = graph?.record.status === "active" && graph.value === node && graphContext(graph).step === number;
      return isOpen ? { actor, revision: graph.record.revision } : null;
    },
  };
}

/** An agent's step is an actor of its own. */
export async function publishOfAgent(
  updates: UpdateDesk,
  view: View,
  run: string,
  visit: string,
  { callId, ...update }: Parameters<AgentTurn["update"]>[0],
): Promise<UpdateReceipt> {
  const standing: UpdateSource["standing"] = async () => {
    const step = await view(visit);
    return step?.record.status === "active" ? { actor: visit, revision: step.record.revision } : null;
  };
  return updates.publish({ run, visit, standing, callId }, update);
}

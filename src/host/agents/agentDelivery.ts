/** Brings the message of an agent step to whatever works on it, and what that says back to the step. */
import { Delivered, agentLimits, type SubmitAnswer } from "../../../machines/contracts/agent.ts";
import type { UpdateReceipt } from "../../../machines/contracts/update.ts";
import type { AgentNodeContext, DeliverInput } from "../../../machines/nodes/agentTurns.ts";
import type { Store } from "../../../persistence/store.ts";
import { isPawlError, messageOf } from "../../errors.ts";
import type { ActorView } from "../../runtime/definition.ts";
import type { EffectOutcome, EffectTask } from "../../runtime/executor.ts";
import type { Change, Receipt } from "../../runtime/runtime.ts";
import type { AgentMessage } from "../../workflow/agentStep.ts";
import { graphEffects } from "../../workflow/graphEffects.ts";
import { readValue } from "../values.ts";
import type { AgentExecutor, AgentStep, AgentTurn, AgentTurnEnd } from "./agentExecutor.ts";

export interface DeliveryOptions {
  readonly store: Store;
  /** What works on the steps of runs without a session. */
  readonly agent: AgentExecutor | null;
  readonly view: (actor: string) => Promise<ActorView | null>;
  readonly send: (actor: string, event: { readonly type: string; readonly [field: string]: unknown }, eventId: string) => Promise<Receipt>;
  readonly subscribe: (listener: (change: Change) => void) => () => void;
  readonly factsOf: (run: string) => Promise<{ readonly cwd: string; readonly session: string | null }>;
  readonly submit: (visit: string, call: Parameters<AgentTurn["submit"]>[0], signal: AbortSignal) => Promise<SubmitAnswer>;
  readonly publish: (run: string, visit: string, update: Parameters<AgentTurn["update"]>[0]) => Promise<UpdateReceipt>;
}

/** The executor of the effect that delivers. Its output is how the turn ended, or that there is nobody to deliver to. */
export function agentDelivery(options: DeliveryOptions): (task: EffectTask) => Promise<EffectOutcome> {
  return async (task) => {
    const input = task.input as DeliverInput; // node machines of the agent kinds alone invoke this effect, with this
    const { cwd, session } = await options.factsOf(input.run);
    const ended = (turn: Delivered): EffectOutcome => ({ output: turn });
    // Whoever serves a session takes its steps up there.
    if (options.agent === null || session !== null) return ended({ outcome: "unattended", parks: session === null });
    const context = await afterCheck(options, task);
    const step = stepOf(task, input, cwd, await savedMessage(options, task.actor), context);
    try {
      const end = await options.agent.run(step, turnOf(options, task, input.delivery));
      return ended(recorded(end));
    } catch (error) {
      // A step that is over or left needs no word of it, and the same visit goes on.
      if (task.signal.aborted) throw error;
      return ended({ outcome: "error", message: shortened(messageOf(error)) });
    }
  };
}

async function savedMessage({ store }: DeliveryOptions, actor: string): Promise<AgentMessage> {
  const { items } = await store.query("effects", { actor, state: ["confirmed"] }, { limit: 500 });
  const row = items.find(({ type }) => type === graphEffects.prepareAgent);
  if (row === undefined) throw new Error(`Step "${actor}" has no message.`);
  return (await readValue(store, row.output)) as AgentMessage; // written by the executor of that effect, as its `value`
}

const shortened = (text: string): string => text.slice(0, agentLimits.textUnits);

/** What an executor says crosses a boundary: what is too long is cut, what is wrong is an error of its turn. */
function recorded(end: AgentTurnEnd): Delivered {
  const text = end.outcome === "completed" ? end.text : end.message;
  return Delivered.parse({
    outcome: end.outcome,
    ...(text === undefined ? {} : { message: shortened(text) }),
    ...(end.outcome === "error" && end.retryAfterMs !== undefined ? { retryAfterMs: end.retryAfterMs } : {}),
  });
}

const contextOf = (view: ActorView | null): AgentNodeContext | null => (view === null ? null : (view.context as AgentNodeContext)); // the effect's own actor is of an agent kind

/** An output that is being looked at may end the step: an interrupted message is brought again only if it does not. */
async function afterCheck({ view, subscribe }: DeliveryOptions, { actor, attempt, signal }: EffectTask): Promise<AgentNodeContext | null> {
  if (attempt === 1) return contextOf(await view(actor));
  const stops: (() => void)[] = [];
  const free = new Promise<void>((resolve) => {
    stops.push(
      subscribe((change) => {
        if (change.kind === "actor" && change.view.record.id === actor && contextOf(change.view)?.checking === null) resolve();
      }),
    );
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  try {
    const now = contextOf(await view(actor));
    if (now?.checking === null || signal.aborted) return now;
    await free;
    return contextOf(await view(actor));
  } finally {
    for (const stop of stops) stop();
  }
}

function stepOf(task: EffectTask, input: DeliverInput, cwd: string, message: AgentMessage, context: AgentNodeContext | null): AgentStep {
  const again = task.attempt > 1 && context?.sent === true;
  return {
    kind: message.schema === null ? "assistantMessage" : message.choices === null ? "agent" : "choose",
    run: input.run,
    node: input.node,
    visit: task.actor,
    cwd,
    prompt: message.prompt,
    schema: message.schema,
    choices: message.choices,
    reason: again ? "resume" : input.reason,
    reminder: input.reminder,
    delivery: task.idempotencyKey,
  };
}

function turnOf({ send, submit, publish }: DeliveryOptions, task: EffectTask, delivery: number): AgentTurn {
  const visit = task.actor;
  let arrived: Promise<void> | null = null;
  const sent = async (): Promise<void> => {
    // Told once a delivery; an event that comes after the end of the step finds nothing to do.
    arrived ??= send(visit, { type: "agent.sent", delivery }, `${task.idempotencyKey}:sent`).then(
      () => undefined,
      (error: unknown) => {
        if (!isPawlError(error)) throw error;
      },
    );
    await arrived;
  };
  return {
    signal: task.signal,
    sent,
    async submit(call) {
      await sent();
      return submit(visit, call, task.signal);
    },
    async update(update) {
      await sent();
      return publish(task.root, visit, update);
    },
  };
}

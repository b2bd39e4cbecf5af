/** An agent that does what a test says: for tests of workflows, and of what surrounds them. */
import type { SubmitAnswer } from "../../machines/contracts/agent.ts";
import type { UpdateRequest } from "../../machines/contracts/update.ts";
import type { AgentExecutor, AgentStep, AgentTurn, AgentTurnEnd } from "../host/agents/agentExecutor.ts";
import type { Clock } from "../runtime/clock.ts";

/** What the agent does in one turn, in this order: wait, publish, submit, say. */
export interface ScriptedTurn {
  /** The node that this is for; without one, any that has no turn of its own left. */
  readonly node?: string;
  /** For a message whose text it fits only. */
  readonly prompt?: RegExp;
  /** Waits so long on the clock of the script first, in ms. */
  readonly delayMs?: number;
  readonly updates?: readonly UpdateRequest[];
  /** Submits this; `null` is a value too. */
  readonly submit?: unknown;
  /** Submits these, one after another, until one is accepted. */
  readonly submits?: readonly unknown[];
  /** Its last words. */
  readonly text?: string;
  /** The turn ends as a provider's error. */
  readonly error?: string;
  readonly retryAfterMs?: number;
  /** It works until it is told to stop. */
  readonly hangs?: boolean;
}

/** A turn made for the message, as a model would. */
export type TurnMaker = (step: AgentStep) => ScriptedTurn | Promise<ScriptedTurn>;

export interface ScriptedAgent extends AgentExecutor {
  /** Every message it was given, in order. */
  readonly steps: readonly AgentStep[];
  /** Every answer to a submit, in order. */
  readonly answers: readonly (SubmitAnswer & { readonly node: string })[];
  /** Turns that wait for their delay, or hang. */
  readonly resting: number;
  /** Adds turns to the script. */
  add(...turns: readonly (ScriptedTurn | TurnMaker)[]): void;
}

/**
 * Each turn is used once, the first that fits the message; a function fits every message and stays. Where no turn is left the agent ends its turn
 * without a submit, which brings a reminder. `clock`: of `delayMs`.
 */
export function scriptedAgent(turns: readonly (ScriptedTurn | TurnMaker)[] = [], { clock }: { readonly clock?: Clock } = {}): ScriptedAgent {
  const script = [...turns];
  const steps: AgentStep[] = [];
  const answers: (SubmitAnswer & { readonly node: string })[] = [];
  let calls = 0;
  let resting = 0;
  const rest = async (until: Promise<unknown>): Promise<void> => {
    resting += 1;
    try {
      await until;
    } finally {
      resting -= 1;
    }
  };

  const nextTurn = async (step: AgentStep): Promise<ScriptedTurn> => {
    const index = script.findIndex((turn) => typeof turn === "function" || fits(turn, step));
    const found = script[index];
    if (typeof found === "function") return found(step);
    if (index >= 0) script.splice(index, 1);
    return found ?? {};
  };

  return {
    steps,
    answers,
    get resting() {
      return resting;
    },
    add: (...more) => void script.push(...more),
    async run(step, turn): Promise<AgentTurnEnd> {
      steps.push(step);
      const { delayMs, updates = [], text, error, retryAfterMs, hangs, ...scripted } = await nextTurn(step);
      await turn.sent();
      if (delayMs !== undefined) await rest(elapsed(clock, delayMs, turn.signal));
      for (const update of updates) await turn.update({ ...update, callId: `update-${(calls += 1)}` });
      const outputs = "submit" in scripted ? [scripted.submit, ...(scripted.submits ?? [])] : (scripted.submits ?? []);
      for (const output of outputs) {
        // A call of its own over restarts too: the delivery names what it is said in.
        const answer = await turn.submit({ callId: `${step.delivery}-${(calls += 1)}`, output });
        answers.push({ ...answer, node: step.node });
        if (answer.status === "accepted" || answer.status === "over") break;
      }
      if (hangs) await rest(stopped(turn));
      if (error !== undefined) return { outcome: "error", message: error, retryAfterMs };
      return { outcome: "completed", text };
    },
  };
}

const fits = ({ node, prompt }: ScriptedTurn, step: AgentStep): boolean =>
  (node === undefined || node === step.node) && (prompt === undefined || prompt.test(step.prompt));

function elapsed(clock: Clock | undefined, ms: number, signal: AbortSignal): Promise<void> {
  if (clock === undefined) throw new Error("A scripted turn with a delayMs needs the clock that it waits on: scriptedAgent(turns, { clock }).");
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(clock.now() + ms, resolve);
    signal.addEventListener(
      "abort",
      () => {
        cancel();
        reject(new Error("The turn was stopped."));
      },
      { once: true },
    );
  });
}

const stopped = ({ signal }: AgentTurn): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new Error("The turn was stopped."));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

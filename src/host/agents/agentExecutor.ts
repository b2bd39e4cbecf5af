/** What works on the agent steps of runs without a session: a program of one's own, or the scripted one of `pawl/testing`. */
import type { SubmitAnswer } from "../../../machines/contracts/agent.ts";
import type { UpdateReceipt, UpdateRequest } from "../../../machines/contracts/update.ts";

/** One message to an agent. */
export interface AgentStep {
  readonly kind: "agent" | "choose" | "assistantMessage";
  readonly run: string;
  readonly node: string;
  /** Id of the visit: what a submit is for. */
  readonly visit: string;
  /** The project: the directory that the run was started in. */
  readonly cwd: string;
  readonly prompt: string;
  /** JSON Schema of what is to be submitted: `{}` for any JSON, null where nothing is (an assistant message). */
  readonly schema: { readonly [keyword: string]: unknown } | null;
  /** Labels by id, of a step that chooses; the output is `{ choice, reason? }`. */
  readonly choices: { readonly [id: string]: string } | null;
  /** `reminder`: the last turn ended without a submit. `resume`: the same message again, after an interruption or a provider's error. */
  readonly reason: "initial" | "reminder" | "resume";
  /** 1 for the first reminder, 0 for every other message. */
  readonly reminder: number;
  /** Id of this message, the same when it is delivered again after its host was lost. */
  readonly delivery: string;
}

/** How a turn ended. */
export type AgentTurnEnd =
  /** `text`: what it said at last. */
  | { readonly outcome: "completed"; readonly text?: string | undefined }
  /** The provider failed. It is waited out and delivered again: for `retryAfterMs`, else longer each time. */
  | { readonly outcome: "error"; readonly message: string; readonly retryAfterMs?: number | undefined };

/** What an executor says while it works. */
export interface AgentTurn {
  /** Aborted when the step is over, cancelled or timed out, or its host stops. */
  readonly signal: AbortSignal;
  /** The message has arrived, which begins the step's time. Nothing else need be said before a submit. */
  sent(): Promise<void>;
  /** Hands over the agent's answer; a refusal is for the agent to mend, in the same turn. The same `callId` gets the first answer again. */
  submit(call: { readonly callId: string; readonly output: unknown }): Promise<SubmitAnswer>;
  /** Publishes an update of the run. The same `callId` gets the first receipt again. @throws invalidInput with the path, refused */
  update(update: UpdateRequest & { readonly callId: string }): Promise<UpdateReceipt>;
}

export interface AgentExecutor {
  /** Has an agent work on one message; resolves when its turn is over. A throw counts as a provider's error. */
  run(step: AgentStep, turn: AgentTurn): Promise<AgentTurnEnd>;
}

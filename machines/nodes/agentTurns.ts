/** The data of an agent's step and what is computed of it: pure. */
import { agentLimits, type Delivered, type DeliveryReason, type SubmitAnswer } from "../contracts/agent.ts";
import type { NodeFailure, NodeInput, NodeOutput } from "../define.ts";
import { failureIn, outputIn } from "./nodeEvents.ts";

export type Turn = Delivered;

/** An answer that was given; the text of a refusal goes back to the agent. */
export interface GivenAnswer extends SubmitAnswer {
  readonly callId: string;
  readonly status: "accepted" | "refused";
}

export interface AgentNodeContext extends NodeInput {
  /** Messages delivered so far, and why the next one is. */
  readonly delivery: number;
  readonly reason: DeliveryReason;
  /** A message of this visit is proven to have arrived. */
  readonly sent: boolean;
  readonly attended: boolean;
  readonly aside: boolean;
  readonly held: boolean;
  readonly reminders: number;
  /** The latest of them is still to be delivered. */
  readonly reminding: boolean;
  /** Turns in a row that ended in an error. */
  readonly errors: number;
  /** How the turn of the latest delivery ended; null while it is open. */
  readonly turn: Turn | null;
  /** Submits looked at so far, and the call that is being looked at. */
  readonly checks: number;
  readonly checking: string | null;
  /** Bounded by the refusals that a visit may have. */
  readonly answers: readonly GivenAnswer[];
  readonly outcome: NodeOutput | NodeFailure | null;
}

export const freshTurn = {
  delivery: 0,
  reason: "initial",
  sent: false,
  attended: true,
  aside: false,
  held: false,
  reminders: 0,
  reminding: false,
  errors: 0,
  turn: null,
  checks: 0,
  checking: null,
  answers: [],
  outcome: null,
} as const;

/** What the first effect gives. The message itself stays in that effect's row. */
export interface Prepared {
  readonly timeoutMs: number | null;
}

export interface DeliverInput extends NodeInput {
  readonly delivery: number;
  readonly reason: DeliveryReason;
  /** 1 for the first reminder; 0 for any other message. */
  readonly reminder: number;
}

export interface CheckInput extends NodeInput {
  /** 1 for the visit's first submit. */
  readonly check: number;
  readonly output: unknown;
}

/** Why the visit failed, by what its effect ended with. */
export const failureOf = (event: object): NodeFailure => failureIn(event, "The step could not be worked on.");

export type Checked = { readonly case: string } | { readonly refused: string };

export const answerTo = ({ answers }: AgentNodeContext, callId: string): GivenAnswer | undefined => answers.find((answer) => answer.callId === callId);

/** What a visit that is over answers: a call that was looked at gets its answer again, and every other is told that it came too late. */
export function answerWhenOver(
  view: { readonly context: unknown },
  event: { readonly type: string; readonly [field: string]: unknown },
): { readonly code: string; readonly reply?: SubmitAnswer } {
  if (event.type !== "agent.submit") return { code: "over" };
  const { answers, node } = view.context as AgentNodeContext; // only actors of the agent kinds are registered with this
  const given = answers.find(({ callId }) => callId === event["callId"]);
  if (given) return { code: given.status, reply: { status: given.status, text: given.text } };
  return { code: "over", reply: { status: "over", text: `The step "${node}" is over; this output was not used. Do not submit it again.` } };
}

/** How a turn ended, by what says so; null for other events. */
export function endOf(event: { readonly type: string }): Turn | null {
  if (event.type === "xstate.error.actor.deliver") return { outcome: "error", message: failureOf(event).failed.message };
  if (event.type === "xstate.done.actor.deliver" && "output" in event) return event.output as Turn; // the effect's own output
  if (event.type !== "agent.turnEnded") return null;
  const { outcome, message, retryAfterMs, chatting } = event as unknown as Exclude<Turn, { outcome: "unattended" }>; // checked at the boundary: it has these fields
  return {
    outcome,
    ...(message === undefined ? {} : { message }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(chatting === undefined ? {} : { chatting }),
  };
}

/** Doubled with each error in a row; what the provider asks for is taken as it is, within its own bound. */
export function backoffMs({ turn, errors }: Pick<AgentNodeContext, "turn" | "errors">): number {
  const asked = turn?.outcome === "error" ? turn.retryAfterMs : undefined;
  if (asked !== undefined) return Math.min(Math.ceil(asked), agentLimits.longestProviderWaitMs);
  return Math.min(agentLimits.firstBackoffMs * 2 ** Math.min(errors - 1, 30), agentLimits.longestBackoffMs);
}

/** The case that the check took; the output stays in the check's row, which is named by its number. */
export function checkedBy(event: { readonly type: string }, check: number): NodeOutput | null {
  const output = outputIn(event);
  return typeof output === "object" && output !== null && "case" in output && typeof output.case === "string"
    ? { case: output.case, kept: `check.${check}` }
    : null;
}

export function refusalOf({ checking }: AgentNodeContext, event: { readonly type: string }): GivenAnswer {
  const output = outputIn(event);
  const text =
    typeof output === "object" && output !== null && "refused" in output && typeof output.refused === "string" ? output.refused : "It was not accepted.";
  return { callId: checking ?? "", status: "refused", text: text.slice(0, agentLimits.answerUnits) };
}

/** An assistant message that failed is an outcome of its node: nothing before it is done again for its sake. */
export function messageOutcome(turn: Turn | null): NodeOutput {
  if (turn?.outcome === "completed") return { case: "done", value: { answered: true, text: turn.message ?? null } };
  return { case: "done", value: { answered: false, text: (turn?.outcome === "error" ? turn.message : undefined) ?? null } };
}

/** What is said to a step that an agent works on, and what it is told of the agent: checked at the boundary. */
import { z } from "zod";
import { parsed } from "./strings.ts";

export const agentLimits = {
  /** Refused submits of one visit; the next one fails it. */
  refusals: 10,
  /** Reminders of one visit, after turns that ended without a submit. */
  reminders: 2,
  /** How long a conversation must rest before a reminder, when its person is writing in it. */
  idleMs: 60_000,
  /** Wait after a provider's error: doubled each time, up to the longest. */
  firstBackoffMs: 5_000,
  longestBackoffMs: 300_000,
  /** A provider's own wait is taken up to this. */
  longestProviderWaitMs: 3_600_000,
  /** Turns in a row that may end in an error before an assistant message is given up. */
  messageErrors: 3,
  /** UTF-16 units that are kept of an answer to a submit. */
  answerUnits: 4_000,
  /** UTF-16 units that are kept of a turn's last words. */
  textUnits: 8_192,
  callIdUnits: 512,
} as const;

const text = z.string().max(agentLimits.textUnits);
const delivery = z.int().min(1);

const turnEnd = {
  /** `error`: the provider failed, and nothing was said; `aborted`: a person stopped it. */
  outcome: z.enum(["completed", "error", "aborted"]),
  /** What it said at last, or the provider's error. */
  message: text.optional(),
  /** The provider's own wait, in ms. */
  retryAfterMs: z.number().min(0).optional(),
  /** The person is writing in the conversation: no reminder before it has rested. */
  chatting: z.boolean().optional(),
};

/** Events from outside, sent to the visit. */
export const AgentEvent = z.discriminatedUnion("type", [
  /** Proof that the message of this delivery has arrived. */
  z.strictObject({ type: z.literal("agent.sent"), delivery }),
  /** `callId` is the agent's own name for this call. */
  z.strictObject({ type: z.literal("agent.submit"), callId: z.string().min(1).max(agentLimits.callIdUnits), output: z.unknown() }),
  z.strictObject({ type: z.literal("agent.turnEnded"), delivery, ...turnEnd }),
  /** Somebody carries messages to an agent, or nobody does: the step's time goes only while somebody does. */
  z.strictObject({ type: z.literal("agent.connected") }),
  z.strictObject({ type: z.literal("agent.disconnected") }),
  /** The person writes on: the rest of the conversation begins anew. */
  z.strictObject({ type: z.literal("agent.chatting") }),
  /** On with a step that was put aside. */
  z.strictObject({ type: z.literal("agent.takeUp") }),
]);
export type AgentEvent = z.infer<typeof AgentEvent>;

/** @throws invalidInput with the path */
export const parseAgentEvent = (event: unknown): AgentEvent => parsed(AgentEvent, event, "event", { code: "invalidInput" });

/** How one delivery ended. `unattended`: there is no agent to deliver to. */
export const Delivered = z.union([
  z.strictObject(turnEnd),
  /** `parks`: the run rests meanwhile. */
  z.strictObject({ outcome: z.literal("unattended"), parks: z.boolean() }),
]);
export type Delivered = z.infer<typeof Delivered>;

/** What an agent submits that is asked to choose. */
export const chosenSchema = (ids: readonly string[]): z.ZodType =>
  z.strictObject({ choice: z.enum(ids), reason: z.string().max(agentLimits.answerUnits).optional() });

/** The answer to a submit. `busy` and `over` were not looked at. */
export interface SubmitAnswer {
  readonly status: "accepted" | "refused" | "busy" | "over";
  /** For the agent: what is wrong, or that it is done. */
  readonly text: string;
}

/** Why a message is delivered: `resume` after an interruption or a provider's error. */
export type DeliveryReason = "initial" | "reminder" | "resume";

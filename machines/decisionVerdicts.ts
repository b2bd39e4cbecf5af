/** What a submission to a decision gets: the table of SPEC 7 as functions. Pure; the machine and the answers after its end share them. */
import { responseFault, type ChoiceContract, type DecisionResponse } from "./contracts/choices.ts";
import {
  decisionSchemas,
  receiptOf,
  type DecisionChannelRequest,
  type DecisionReceipt,
  type DecisionResolution,
  type DecisionSource,
} from "./contracts/decision.ts";

/** A submission with its envelope. `at` is when the host had read it, epoch ms. */
export interface SubmitEvent {
  readonly type: "decision.submit";
  readonly choice: string;
  readonly input?: string;
  readonly idempotencyKey: string;
  readonly source: DecisionSource;
  readonly requestDigest?: string;
  readonly revision?: number;
  readonly at?: number | undefined;
}

/** Closed. `accepted` and `duplicate` carry the saved result, `keyReused`, `alreadyDecided` and `defaulted` the winner when there is one. */
export type DecisionReplyCode =
  | "accepted"
  | "duplicate"
  | "keyReused"
  | "alreadyDecided"
  | "cancelled"
  | "expired"
  | "stale"
  | "invalid"
  | "unauthorised"
  | "humanOnly"
  | "defaulted"
  | "blocked";

/** The answer to a submission. */
export interface DecisionReply {
  readonly code: DecisionReplyCode;
  /** One or two sentences for the person who answered; of the decision itself it holds no more than choices. */
  readonly message: string;
  readonly receipt: DecisionReceipt | null;
  /** Only with `invalid`: the wrong field, and what may be chosen. */
  readonly path?: "choice" | "input";
  readonly choices?: readonly ChoiceContract[];
}

/** Someone or something that tried to settle the decision. */
export interface DecisionCandidate {
  /** human: a person's submission; policy: the deadline; channel: a source that may not answer; control: a command. */
  readonly kind: "human" | "policy" | "channel" | "control";
  readonly outcome: "won" | "lost" | DecisionReplyCode;
  /** Epoch ms. */
  readonly at: number;
  readonly source: DecisionSource | null;
  readonly idempotencyKey: string | null;
  readonly choice: string | null;
  readonly input: string | null;
  readonly requestDigest: string | null;
  readonly revision: number | null;
  /** Of a cancellation. */
  readonly reason: string | null;
}

export interface DecisionContext {
  readonly request: DecisionChannelRequest;
  /** Short code that people type. */
  readonly code: string;
  /** Epoch ms: when the decision opened, and its deadline; null: none. */
  readonly openedAt: number;
  readonly deadlineAt: number | null;
  readonly defaultResponse: DecisionResponse | null;
  /** How it was settled; null while open, and when cancelled or expired. */
  readonly resolution: DecisionResolution | null;
  /** When it ended without a resolution, and why. */
  readonly ended: { readonly at: number; readonly reason: string } | null;
  /** Every candidate, in order; refused ones beyond a hundred are only counted here (the journal has them). */
  readonly audit: readonly DecisionCandidate[];
  readonly unlisted: number;
}

export type SettledState = "accepted" | "defaulted" | "cancelled" | "expired";

const fixed = {
  humanOnly: "Only a person may answer this decision.",
  unauthorised: "You are not allowed to answer this.",
  keyReused: "This answer's key was used before with another content. Send the new answer under a new key.",
  expired: "The decision expired before this answer came. It takes no answer any more.",
  blocked: "The decision takes no answer now: an internal fault stopped it. Its run says what to do.",
  cancelled: "The decision was cancelled. It takes no answer any more.",
} as const;

/** A reply that depends on nothing but its code. */
export function fixedReply(code: keyof typeof fixed, receipt: DecisionReceipt | null = null): DecisionReply {
  return { code, message: fixed[code], receipt };
}

/** What an open decision answers to a submission; `accepted` means that it wins. */
export function judgeOpen(context: DecisionContext, event: SubmitEvent): DecisionReply {
  if (event.source.kind !== "human") return fixedReply("humanOnly");
  if (context.audit.some((earlier) => earlier.kind === "human" && earlier.idempotencyKey === event.idempotencyKey && !isSameSubmission(earlier, event)))
    return fixedReply("keyReused");
  if (context.deadlineAt !== null && timeOf(context, event) > context.deadlineAt) return late(context);
  const stale = staleness(context.request, event);
  if (stale) return stale;
  const fault = responseFault(context.request.choices, event);
  if (fault) return { code: "invalid", message: fault.message, receipt: null, path: fault.path, choices: context.request.choices };
  return { code: "accepted", message: `Accepted: "${event.choice}".`, receipt: receiptOf(humanResolution(context, event)) };
}

/** What a settled decision answers to a submission. It changes nothing any more. */
export function judgeSettled(context: DecisionContext, state: SettledState, event: SubmitEvent): DecisionReply {
  if (event.source.kind !== "human") return fixedReply("humanOnly");
  const { resolution } = context;
  if (state === "cancelled" || resolution === null) return fixedReply(state === "expired" ? "expired" : "cancelled");
  const receipt = receiptOf(resolution);
  const winner = context.audit.find(({ outcome }) => outcome === "won");
  const sameKey = context.audit.find(({ kind, idempotencyKey }) => kind === "human" && idempotencyKey === event.idempotencyKey);
  if (sameKey && !isSameSubmission(sameKey, event)) return fixedReply("keyReused", receipt);
  const stale = staleness(context.request, event);
  if (stale) return stale;
  if (winner && isSameAnswer(winner, event)) return { code: "duplicate", message: `Already accepted: "${resolution.response.choice}".`, receipt };
  return winnerReply(resolution);
}

/** Tells who won. */
export function winnerReply(resolution: DecisionResolution): DecisionReply {
  const receipt = receiptOf(resolution);
  return resolution.provenance === "timeout"
    ? { code: "defaulted", message: `The deadline passed; the default "${receipt.response.choice}" holds.`, receipt }
    : { code: "alreadyDecided", message: `Already decided by a person: "${receipt.response.choice}".`, receipt };
}

/** The time a submission counts for. Without an envelope (plain XState) it is the opening. */
export function timeOf(context: DecisionContext, event: { readonly at?: number | undefined }): number {
  return event.at ?? context.openedAt;
}

export function humanResolution(context: DecisionContext, event: SubmitEvent): DecisionResolution {
  const response: DecisionResponse = event.input === undefined ? { choice: event.choice } : { choice: event.choice, input: event.input };
  return {
    schema: decisionSchemas.resolution,
    provenance: "human",
    ...settledFields(context, response, timeOf(context, event)),
    source: event.source,
    idempotencyKey: event.idempotencyKey,
  };
}

export function timeoutResolution(context: DecisionContext, response: DecisionResponse, at: number): DecisionResolution {
  return { schema: decisionSchemas.resolution, provenance: "timeout", ...settledFields(context, response, at) };
}

function settledFields({ request: { decision, run, node, visit, revision, digests } }: DecisionContext, response: DecisionResponse, at: number) {
  return { decision, run, node, visit, response, revision, digests, at };
}

function late(context: DecisionContext): DecisionReply {
  if (context.defaultResponse === null) return fixedReply("expired");
  // The default itself commits when its timer is handled, after every answer that came in time: there is no receipt yet.
  return { code: "defaulted", message: `The deadline passed before this answer came; the default "${context.defaultResponse.choice}" holds.`, receipt: null };
}

function staleness(request: DecisionChannelRequest, { requestDigest, revision }: SubmitEvent): DecisionReply | null {
  const oldDigest = requestDigest !== undefined && requestDigest !== request.digests.request;
  const oldRevision = revision !== undefined && revision !== request.revision;
  return oldDigest || oldRevision
    ? { code: "stale", message: "This answer is for another version of the request. Look at the decision as it is now, and answer that.", receipt: null }
    : null;
}

function isSameSubmission(earlier: DecisionCandidate, event: SubmitEvent): boolean {
  return isSameAnswer(earlier, event) && earlier.requestDigest === (event.requestDigest ?? null) && earlier.revision === (event.revision ?? null);
}

function isSameAnswer(earlier: DecisionCandidate, event: SubmitEvent): boolean {
  return (
    earlier.choice === event.choice &&
    earlier.input === (event.input ?? null) &&
    earlier.source?.channel === event.source.channel &&
    earlier.source.actor === event.source.actor
  );
}

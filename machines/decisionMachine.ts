/** One question put to people, settled at most once (SPEC 7).
 *  DEC-1 open until exactly one of accepted, defaulted, cancelled, expired. DEC-2 the first valid answer at or before the deadline wins.
 *  DEC-3 whatever else is submitted changes nothing but the audit, and is told why. DEC-4 only the deadline's own timer settles by default. */
import { assign, emit, setup } from "xstate";
import { z } from "zod";
import type { DecisionResponse } from "./contracts/choices.ts";
import { DecisionSource, submissionFields, type DecisionChannelRequest } from "./contracts/decision.ts";
import { identifier, parsed, plainString, timestamp } from "./contracts/strings.ts";
import type { NodeFailure, NodeOutput } from "./define.ts";
import {
  fixedReply,
  humanResolution,
  judgeOpen,
  timeoutResolution,
  timeOf,
  type DecisionCandidate,
  type DecisionContext,
  type DecisionReply,
} from "./decisionVerdicts.ts";

/** The runtime stamps it: nobody outside the host may give it. */
const at = timestamp.exactOptional();

export const DecisionEvent = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("decision.submit"), ...submissionFields, at }),
  /** A channel turned somebody away who is not on its list. */
  z.strictObject({ type: z.literal("decision.denied"), source: DecisionSource, idempotencyKey: identifier.exactOptional(), at }),
  z.strictObject({ type: z.literal("decision.cancel"), reason: plainString({ min: 1, max: 512 }), at }),
]);
export type DecisionEvent = z.infer<typeof DecisionEvent>;

/** An event from outside, checked. @throws invalidInput with the path */
export function parseDecisionEvent(event: unknown): DecisionEvent {
  return parsed(DecisionEvent, event, "answer", { code: "invalidInput" });
}

export interface DecisionInput {
  readonly request: DecisionChannelRequest;
  readonly code: string;
  /** Epoch ms. */
  readonly openedAt: number;
  readonly deadlineAt: number | null;
  readonly defaultResponse: DecisionResponse | null;
}

/** The response under its case, or why there is none: `decisionExpired` or `decisionCancelled`. */
export type DecisionOutput = (NodeOutput & { readonly value: DecisionResponse }) | NodeFailure;

/** Refused candidates that the snapshot keeps: it must not grow with every wrong answer. */
const listedRefusals = 100;

export const decisionMachine = setup({
  types: {} as {
    context: DecisionContext;
    input: DecisionInput;
    events: DecisionEvent;
    emitted: { readonly type: "pawl.reply" } & DecisionReply;
    output: DecisionOutput;
  },
  guards: {
    hasDeadline: ({ context }) => context.deadlineAt !== null,
    hasDefault: ({ context }) => context.defaultResponse !== null,
    wins: ({ context, event }) => event.type === "decision.submit" && judgeOpen(context, event).code === "accepted",
  },
  delays: {
    // RACE-3: an answer stamped in the millisecond of the deadline comes in time, so the timer may fire only when that is over.
    deadline: ({ context }) => (context.deadlineAt === null ? 0 : Math.max(0, context.deadlineAt + 1 - context.openedAt)),
  },
  actions: {
    reply: emit(({ context, event }) => ({ type: "pawl.reply" as const, ...replyTo(context, event) })),
    recordRefusal: assign(({ context, event }) => withRefusal(context, event)),
    recordAnswer: assign(({ context, event }) =>
      event.type === "decision.submit"
        ? { resolution: humanResolution(context, event), audit: [...context.audit, candidate(context, event, "won"), ...losingTimer(context, event)] }
        : {},
    ),
    recordDeadline: assign(({ context, event }) => settledByDeadline(context, settlingTime(context, event))),
    recordCancellation: assign(({ context, event }) => ({
      ended: { at: timeOf(context, event), reason: event.type === "decision.cancel" ? event.reason : "cancelled" },
      audit: [...context.audit, candidate(context, event, "won"), ...losingTimer(context, event)],
    })),
  },
}).createMachine({
  id: "decision",
  version: "1",
  context: ({ input }) => ({ ...input, resolution: null, ended: null, audit: [], unlisted: 0 }),
  output: ({ context }) => outputOf(context),
  initial: "open",
  states: {
    open: {
      initial: "opening",
      states: {
        opening: { always: [{ guard: "hasDeadline", target: "timed" }, { target: "untimed" }] },
        timed: {
          after: {
            deadline: [
              { guard: "hasDefault", target: "#decision.defaulted", actions: "recordDeadline" },
              { target: "#decision.expired", actions: "recordDeadline" },
            ],
          },
        },
        untimed: {},
      },
      on: {
        // The reply comes first: what it says depends on the candidates before this one.
        "decision.submit": [{ guard: "wins", target: "accepted", actions: ["reply", "recordAnswer"] }, { actions: ["reply", "recordRefusal"] }],
        "decision.denied": { actions: ["reply", "recordRefusal"] },
        "decision.cancel": { target: "cancelled", actions: ["reply", "recordCancellation"] },
      },
    },
    accepted: { type: "final" },
    defaulted: { type: "final" },
    cancelled: { type: "final" },
    expired: { type: "final" },
  },
  options: { maxIterations: 1000 },
});

function replyTo(context: DecisionContext, event: DecisionEvent): DecisionReply {
  switch (event.type) {
    case "decision.submit":
      return judgeOpen(context, event);
    case "decision.denied":
      return fixedReply("unauthorised");
    case "decision.cancel":
      return { code: "cancelled", message: "The decision is cancelled.", receipt: null };
  }
}

function withRefusal(context: DecisionContext, event: DecisionEvent): Partial<DecisionContext> {
  if (context.audit.length >= listedRefusals) return { unlisted: context.unlisted + 1 };
  return { audit: [...context.audit, candidate(context, event, replyTo(context, event).code)] };
}

function candidate(context: DecisionContext, event: DecisionEvent, outcome: DecisionCandidate["outcome"]): DecisionCandidate {
  const nothing = { source: null, idempotencyKey: null, choice: null, input: null, requestDigest: null, revision: null, reason: null };
  const base = { ...nothing, outcome, at: timeOf(context, event) };
  switch (event.type) {
    case "decision.submit":
      return {
        ...base,
        kind: event.source.kind === "human" ? "human" : "channel",
        source: event.source,
        idempotencyKey: event.idempotencyKey,
        choice: event.choice,
        input: event.input ?? null,
        requestDigest: event.requestDigest ?? null,
        revision: event.revision ?? null,
      };
    case "decision.denied":
      return { ...base, kind: "channel", source: event.source, idempotencyKey: event.idempotencyKey ?? null };
    case "decision.cancel":
      return { ...base, kind: "control", reason: event.reason };
  }
}

function deadlineCandidate(context: DecisionContext, outcome: "won" | "lost", when: number): DecisionCandidate {
  return {
    kind: "policy",
    outcome,
    at: when,
    source: null,
    idempotencyKey: null,
    choice: context.defaultResponse?.choice ?? null,
    input: context.defaultResponse?.input ?? null,
    requestDigest: null,
    revision: null,
    reason: null,
  };
}

/** The deadline that an answer or a cancellation beat. */
function losingTimer(context: DecisionContext, event: DecisionEvent): DecisionCandidate[] {
  return context.deadlineAt === null ? [] : [deadlineCandidate(context, "lost", timeOf(context, event))];
}

function settledByDeadline(context: DecisionContext, when: number): Partial<DecisionContext> {
  const audit = [...context.audit, deadlineCandidate(context, "won", when)];
  return context.defaultResponse === null
    ? { audit, ended: { at: when, reason: "expired" } }
    : { audit, resolution: timeoutResolution(context, context.defaultResponse, when) };
}

/** When the timer was handled; XState's own timer event carries no time, then it is the deadline. */
function settlingTime(context: DecisionContext, event: { readonly at?: number | undefined }): number {
  return event.at ?? context.deadlineAt ?? context.openedAt;
}

function outputOf({ resolution, ended, request }: DecisionContext): DecisionOutput {
  if (resolution) return { case: resolution.response.choice, value: resolution.response };
  return ended?.reason === "expired"
    ? { failed: { reason: "decisionExpired", message: `Nobody answered decision "${request.node}" before it expired.` } }
    : { failed: { reason: "decisionCancelled", message: `Decision "${request.node}" was cancelled: ${ended?.reason ?? "its run ended"}.` } };
}

/** Work outside the database that a transition asked for (SPEC 6). Its snapshot is flat: the effect row holds the state and this context.
 *  EFFECT-1 a result counts only for the attempt that is open. EFFECT-2 an interrupted execution runs again, at most `maxInterrupted` times.
 *  EFFECT-3 a `once` effect whose call began and of which nothing is proven is ambiguous, and leaves only by proof or by a person's word.
 *  EFFECT-30 what the effect's own `observe` saw is proof: an attempt that happened is confirmed, one that did not may be made again. */
import { assign, setup } from "xstate";
import { z } from "zod";

const attempt = z.int().min(1);

export const EffectEvent = z.discriminatedUnion("type", [
  /** The call of a `once` effect is about to be made. */
  z.strictObject({ type: z.literal("effect.begun"), attempt }),
  z.strictObject({ type: z.literal("effect.succeeded"), attempt }),
  /** It failed, and surely nothing more comes of it. `mayRetry`: the failure may pass. */
  z.strictObject({ type: z.literal("effect.failed"), attempt, mayRetry: z.boolean() }),
  /** Its call began and threw something that does not prove that nothing happened, or ran out of time. */
  z.strictObject({ type: z.literal("effect.unproven"), attempt, mayRetry: z.boolean() }),
  /** Its process was lost, or it gave no sign of life for too long. */
  z.strictObject({ type: z.literal("effect.interrupted"), attempt }),
  /** Its process stopped gracefully. */
  z.strictObject({ type: z.literal("effect.released"), attempt }),
  /** The outside was asked what became of an attempt of which nobody knows. `isWanted`: its actor still waits for the result. */
  z.strictObject({ type: z.literal("effect.observed"), attempt, happened: z.boolean(), isWanted: z.boolean() }),
  /** Nobody wants its result any more. */
  z.strictObject({ type: z.literal("effect.dropped") }),
  /** A person says that it happened. */
  z.strictObject({ type: z.literal("effect.confirm") }),
  /** A person says that it did not happen, or may happen again. */
  z.strictObject({ type: z.literal("effect.retry") }),
]);
export type EffectEvent = z.infer<typeof EffectEvent>;

export interface EffectContext {
  readonly once: boolean;
  /** 1 at planning. */
  readonly attempt: number;
  readonly interruptions: number;
  /** Attempts in all under the retry policy, at least 1. */
  readonly maxAttempts: number;
  /** Interruptions after which it fails; null: no bound. */
  readonly maxInterrupted: number | null;
}

type Failed = { readonly attempt: number; readonly mayRetry: boolean };
type Observed = { readonly attempt: number; readonly happened: boolean; readonly isWanted: boolean };

export const effectMachine = setup({
  types: {} as { context: EffectContext; events: EffectEvent; input: EffectContext; tags: "open" },
  guards: {
    isOpenAttempt: ({ context }, of: number) => context.attempt === of,
    isOnce: ({ context }) => context.once,
    mayTryAgain: ({ context }, of: Failed) => of.mayRetry && of.attempt === context.attempt && context.attempt < context.maxAttempts,
    mayRunAgain: ({ context }, of: number) => context.attempt === of && (context.maxInterrupted === null || context.interruptions + 1 < context.maxInterrupted),
    /** Seen outside: the attempt's work is there. */
    wasSeen: ({ context }, of: Observed) => of.happened && of.attempt === context.attempt,
    /** Surely not there, and so it is as if its process had been lost before the call. */
    wasNotMade: ({ context }, of: Observed) =>
      !of.happened && of.attempt === context.attempt && (context.maxInterrupted === null || context.interruptions + 1 < context.maxInterrupted),
    isStillWanted: ({ context }, of: Observed) => of.isWanted && of.attempt === context.attempt,
  },
  actions: {
    nextAttempt: assign({ attempt: ({ context }) => context.attempt + 1 }),
    countInterruption: assign({ interruptions: ({ context }) => context.interruptions + 1 }),
  },
}).createMachine({
  id: "effect",
  version: "1",
  context: ({ input }) => input,
  initial: "planned",
  states: {
    /** For an effect without `once` this is also the open attempt: one commit for an ordinary step. */
    planned: {
      tags: "open",
      on: {
        "effect.begun": { guard: "isOnce", target: "attempting" },
        "effect.succeeded": { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "confirmed" },
        "effect.failed": [
          { guard: { type: "mayTryAgain", params: ({ event }) => event }, actions: "nextAttempt" },
          { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "failed" },
        ],
        "effect.unproven": [
          { guard: { type: "mayTryAgain", params: ({ event }) => event }, actions: "nextAttempt" },
          { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "failed" },
        ],
        "effect.interrupted": [
          { guard: { type: "mayRunAgain", params: ({ event }) => event.attempt }, actions: ["nextAttempt", "countInterruption"] },
          { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "failed", actions: "countInterruption" },
        ],
        "effect.released": { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, actions: "nextAttempt" },
        "effect.observed": { guard: { type: "wasSeen", params: ({ event }) => event }, target: "confirmed" },
        "effect.dropped": "dropped",
      },
    },
    attempting: {
      tags: "open",
      on: {
        "effect.succeeded": { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "confirmed" },
        "effect.failed": [
          { guard: { type: "mayTryAgain", params: ({ event }) => event }, target: "planned", actions: "nextAttempt" },
          { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "failed" },
        ],
        "effect.unproven": { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "ambiguous" },
        "effect.interrupted": { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "ambiguous", actions: "countInterruption" },
        "effect.released": { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "ambiguous" },
        "effect.observed": [
          { guard: { type: "wasSeen", params: ({ event }) => event }, target: "confirmed" },
          { guard: { type: "wasNotMade", params: ({ event }) => event }, target: "planned", actions: ["nextAttempt", "countInterruption"] },
          { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "failed", actions: "countInterruption" },
        ],
        "effect.dropped": "ambiguous",
      },
    },
    ambiguous: {
      on: {
        "effect.succeeded": { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "confirmed" },
        /** A late word of the attempt itself that nothing comes of it. */
        "effect.failed": { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "failed" },
        "effect.observed": [
          { guard: { type: "wasSeen", params: ({ event }) => event }, target: "confirmed" },
          { guard: { type: "isStillWanted", params: ({ event }) => event }, target: "planned", actions: "nextAttempt" },
          { guard: { type: "isOpenAttempt", params: ({ event }) => event.attempt }, target: "dropped" },
        ],
        "effect.confirm": "confirmed",
        "effect.retry": { target: "planned", actions: "nextAttempt" },
      },
    },
    confirmed: { type: "final" },
    failed: { type: "final" },
    dropped: { type: "final" },
  },
});

/** How far a decision has come in showing itself on one channel. Frozen: see docs/decisions/0005. */
import { z } from "zod";
import { DecisionRevision } from "./decision.ts";
import { decisionSchemas } from "./receipt.ts";
import { identifier, plainString, sha256, timestamp } from "./strings.ts";

/**
 * unsent: nothing was tried yet. attempting: an attempt is under way. delivered: all of it stands where people can see it.
 * failed: surely not shown, and tried no more without a person. ambiguous: nobody knows whether it was shown. cancelled: it was settled before it was sent.
 */
export const deliveryStates = ["unsent", "attempting", "delivered", "failed", "ambiguous", "cancelled"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export const DecisionDelivery = z.strictObject({
  schema: z.literal(decisionSchemas.delivery),
  decision: identifier,
  run: identifier,
  revision: DecisionRevision,
  /** Of the request that is shown. */
  requestDigest: sha256,
  /** `terminal`, `pi`, `telegram:<profile>`. */
  channel: identifier,
  state: z.enum(deliveryStates),
  /** Tries so far; 0 while unsent. */
  attempt: z.int().min(0),
  /** Transport parts that are shown, of all that it takes. */
  parts: z.strictObject({ sent: z.int().min(0), total: z.int().min(1) }),
  /** Epoch ms of the latest change. */
  at: timestamp,
  /** Why it is not shown, and what to do. */
  problem: z.strictObject({ code: plainString({ min: 1, max: 64 }), message: plainString({ min: 1, max: 2_000 }) }).nullable(),
});
export type DecisionDelivery = z.infer<typeof DecisionDelivery>;

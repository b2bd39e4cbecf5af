/** What becomes of a decision's cards when it is no longer open: every channel that shows one is told this, and nothing of who answered. Frozen: see docs/decisions/0005. */
import { z } from "zod";
import { DecisionReceipt, DecisionRevision } from "./decision.ts";
import { decisionSchemas } from "./receipt.ts";
import { identifier, timestamp } from "./strings.ts";

export const DecisionSettlement = z
  .strictObject({
    schema: z.literal(decisionSchemas.settlement),
    decision: identifier,
    run: identifier,
    node: identifier,
    visit: identifier,
    revision: DecisionRevision,
    state: z.enum(["accepted", "defaulted", "cancelled", "expired"]),
    /** Epoch ms. */
    at: timestamp,
    /** Of the response that settled it; null when it was cancelled or expired. */
    receipt: DecisionReceipt.nullable(),
    /** The decision that the same node has asked since: the card is replaced by that one's. */
    replacedBy: identifier.nullable(),
  })
  .superRefine(({ state, receipt }, context) => {
    const hasResponse = state === "accepted" || state === "defaulted";
    if (hasResponse !== (receipt !== null))
      context.addIssue({
        code: "custom",
        path: ["receipt"],
        message: hasResponse ? "is missing: a response settled it" : "stands beside an end without a response",
      });
  });
export type DecisionSettlement = z.infer<typeof DecisionSettlement>;

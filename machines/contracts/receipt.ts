/** What anybody may see of a settled decision, without the schemas that check it. */
import type { DecisionReceipt, DecisionResolution } from "./decision.ts";

export const decisionSchemas = {
  request: "pawl.human-decision-request.v1",
  channelRequest: "pawl.human-decision-channel-request.v1",
  submission: "pawl.human-decision-submission.v1",
  resolution: "pawl.human-decision-resolution.v1",
  receipt: "pawl.human-decision-receipt.v1",
  delivery: "pawl.human-decision-delivery.v1",
  settlement: "pawl.human-decision-settlement.v1",
} as const;

/** What anybody may see of a resolution. */
export function receiptOf({ provenance, decision, run, node, visit, response, revision, digests, at }: DecisionResolution): DecisionReceipt {
  return { schema: decisionSchemas.receipt, provenance, decision, run, node, visit, response, revision, digests, at };
}

/** The contracts of human decisions as JSON Schemas, for programs in other languages. */
import { z } from "zod";
import { DecisionDelivery } from "../../machines/contracts/delivery.ts";
import { DecisionChannelRequest, DecisionReceipt, DecisionRequest, DecisionResolution, DecisionSubmission } from "../../machines/contracts/decision.ts";
import { DecisionPresentation } from "../../machines/contracts/presentation.ts";
import { DecisionSettlement } from "../../machines/contracts/settlement.ts";

/** What each is, and what a JSON Schema cannot say of it. */
export const contracts: { readonly [id: string]: { readonly schema: z.ZodType; readonly description: string } } = {
  "pawl.human-decision-request.v1": {
    schema: DecisionRequest,
    description:
      "The complete, immutable question. Its digests are SHA-256 (hex) over RFC 8785 JSON and a line end: of the subject, of the presentation, and of all but digests and decision. Not said here: choice ids differ, min is at most max, a default is a valid answer and stands beside no expiresAt, the limits of the presentation.",
  },
  "pawl.human-decision-channel-request.v1": {
    schema: DecisionChannelRequest,
    description: "The request as channels and views get it: without its subject. Not said here: what is not said of the request.",
  },
  "pawl.decision-presentation.v1": {
    schema: DecisionPresentation,
    description:
      "What a person is shown, whole and in order. Lengths are UTF-16 units. Not said here: 64,000 units in all, 20 transport parts of 3,500 units at most, texts that must not be blank, well-formed Unicode.",
  },
  "pawl.human-decision-submission.v1": {
    schema: DecisionSubmission,
    description: "An answer, with who gives it. That a human source is one is the duty of the surface that says so.",
  },
  "pawl.human-decision-resolution.v1": { schema: DecisionResolution, description: "How a decision was settled, with who did it: private." },
  "pawl.human-decision-receipt.v1": { schema: DecisionReceipt, description: "What anybody may see of a resolution: no actor, channel or transport ids." },
  "pawl.human-decision-delivery.v1": { schema: DecisionDelivery, description: "How far a decision has come in showing itself on one channel." },
  "pawl.human-decision-settlement.v1": {
    schema: DecisionSettlement,
    description:
      "What every channel that shows a decision is told when it is no longer open. Not said here: a receipt stands exactly where a response settled it.",
  },
};

/** The JSON Schema of a contract, as text. */
export function jsonSchemaOf(id: string, { schema, description }: (typeof contracts)[string]): string {
  const { $schema, ...body } = z.toJSONSchema(schema, { target: "draft-2020-12", io: "input", reused: "inline" });
  return `${JSON.stringify({ $schema, $id: id, description, ...body }, null, 2)}\n`;
}

/** A human decision as it crosses boundaries: request, channel request, submission, resolution, receipt. Frozen: see docs/decisions/0005. */
import { z } from "zod";
import { ChoiceContracts, DecisionResponse, responseFault } from "./choices.ts";
import { DecisionPresentation } from "./presentation.ts";
import { identifier, plainString, sha256, timestamp } from "./strings.ts";
import { decisionSchemas } from "./receipt.ts";

export { decisionSchemas, receiptOf } from "./receipt.ts";

/** Longest title, in UTF-16 units. */
export const titleUnits = 256;

/** SHA-256 (hex) over canonical JSON and a final newline. */
export const DecisionDigests = z.strictObject({
  subject: sha256,
  presentation: sha256,
  /** Of the whole request but the digests and the derived decision id. */
  request: sha256,
});
export type DecisionDigests = z.infer<typeof DecisionDigests>;

export const DecisionRevision = z.int().min(1);

const origin = {
  /** Actor id of the decision, derived from the visit. */
  decision: identifier,
  run: identifier,
  node: identifier,
  /** `<graph actor>/<node>.<n>`. */
  visit: identifier,
};

const asked = {
  ...origin,
  title: plainString({ min: 1, max: titleUnits }),
  presentation: DecisionPresentation,
  revision: DecisionRevision,
  audience: identifier,
  choices: ChoiceContracts,
  /** Epoch ms. */
  createdAt: timestamp,
  /** An answer after this time (epoch ms) does not count, and there is no default; null: no expiry. */
  expiresAt: timestamp.nullable(),
  /** The response that holds when no answer came by `at` (epoch ms); null: none. */
  default: z.strictObject({ response: DecisionResponse, at: timestamp }).nullable(),
  digests: DecisionDigests,
};

type Deadlines = {
  readonly choices: z.infer<typeof ChoiceContracts>;
  readonly expiresAt: number | null;
  readonly default: { readonly response: DecisionResponse; readonly at: number } | null;
};

function checkDeadlines(request: Deadlines, context: z.RefinementCtx): void {
  if (request.default === null) return;
  if (request.expiresAt !== null)
    context.addIssue({ code: "custom", path: ["expiresAt"], message: "stands beside a default response; a decision has one or the other" });
  const fault = responseFault(request.choices, request.default.response);
  if (fault)
    context.addIssue({ code: "custom", path: ["default", "response", fault.path], message: `is no valid answer: ${fault.message.replace(/\.$/, "")}` });
}

/** The complete, immutable question. `subject` is what is approved, any JSON; no channel ever shows it. */
export const DecisionRequest = z.strictObject({ schema: z.literal(decisionSchemas.request), ...asked, subject: z.unknown() }).superRefine(checkDeadlines);
export type DecisionRequest = z.infer<typeof DecisionRequest>;

/** The request without its subject: what actors, channels and views get. */
export const DecisionChannelRequest = z.strictObject({ schema: z.literal(decisionSchemas.channelRequest), ...asked }).superRefine(checkDeadlines);
export type DecisionChannelRequest = z.infer<typeof DecisionChannelRequest>;

/** Who submits. That a `human` is one is the duty of the surface that says so. */
export const DecisionSource = z.strictObject({ kind: z.enum(["human", "model", "program"]), channel: identifier, actor: identifier });
export type DecisionSource = z.infer<typeof DecisionSource>;

/** What a submission says, without its envelope. Texts beyond any allowed length are cut off at the boundary, so that an actor's state stays bounded. */
export const submissionFields = {
  choice: identifier,
  input: z.string().max(16_384).exactOptional(),
  idempotencyKey: identifier,
  source: DecisionSource,
  /** The request digest that the answer is for; left out: whatever is open. */
  requestDigest: sha256.exactOptional(),
  revision: DecisionRevision.exactOptional(),
};

export const DecisionSubmission = z.strictObject({ schema: z.literal(decisionSchemas.submission), decision: identifier, ...submissionFields });
export type DecisionSubmission = z.infer<typeof DecisionSubmission>;

const settled = {
  ...origin,
  response: DecisionResponse,
  revision: DecisionRevision,
  digests: DecisionDigests,
  /** Epoch ms: of the answer, or of the default taking effect. */
  at: timestamp,
};

/** How a decision was settled, with who did it: private. */
export const DecisionResolution = z.discriminatedUnion("provenance", [
  z.strictObject({
    schema: z.literal(decisionSchemas.resolution),
    provenance: z.literal("human"),
    ...settled,
    source: DecisionSource,
    idempotencyKey: identifier,
  }),
  z.strictObject({ schema: z.literal(decisionSchemas.resolution), provenance: z.literal("timeout"), ...settled }),
]);
export type DecisionResolution = z.infer<typeof DecisionResolution>;

/** The public face of a resolution: no actor, channel or transport ids. */
export const DecisionReceipt = z.strictObject({ schema: z.literal(decisionSchemas.receipt), provenance: z.enum(["human", "timeout"]), ...settled });
export type DecisionReceipt = z.infer<typeof DecisionReceipt>;

/** The request as channels and actors get it. */
export function channelRequest(request: DecisionRequest): DecisionChannelRequest {
  const { subject: _private, schema: _full, ...shown } = request;
  return { schema: decisionSchemas.channelRequest, ...shown };
}

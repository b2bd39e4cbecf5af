/** A person's answer, brought to the decision and its verdict brought back. */
import { fixedReply, type DecisionReply } from "../../machines/decisionVerdicts.ts";
import { newEventId } from "../ids.ts";
import type { Receipt, Runtime } from "../runtime/runtime.ts";
import type { AnswerRequest, AnswerResult, DecisionView } from "./api.ts";

interface Answering {
  /** Epoch ms. */
  readonly now: number;
  /** The decision that is answered, and whether the channel may answer for its audience; one that may not is told so by the decision, which keeps it for
   *  the audit. @throws unknownDecision */
  readonly find: () => Promise<{ readonly id: string; readonly isAllowed: boolean }>;
  /** The decision as it stands afterwards. */
  readonly read: (id: string) => Promise<DecisionView>;
}

/**
 * Submits an answer. It counts from now, however long its decision is looked for (RACE-3). The verdict is the decision's own, refusals of other sources than
 * people included: it keeps them for the audit.
 * @throws invalidInput with the path for an answer that is none
 */
export async function submitAnswer(
  runtime: Pick<Runtime, "sendFound">,
  { choice, text, idempotencyKey, requestDigest, revision, source }: AnswerRequest,
  { now, find, read }: Answering,
): Promise<AnswerResult> {
  const key = idempotencyKey ?? newEventId(now);
  const submission = {
    type: "decision.submit",
    choice,
    ...(text === undefined ? {} : { input: text }),
    ...(requestDigest === undefined ? {} : { requestDigest }),
    ...(revision === undefined ? {} : { revision }),
    idempotencyKey: key,
    source,
  };
  const receipt = await runtime.sendFound(`answer:${key}`, async () => {
    const { id, isAllowed } = await find();
    return { actor: id, event: isAllowed ? submission : { type: "decision.denied", idempotencyKey: key, source } };
  });
  const reply = replyOf(receipt);
  const view = await read(receipt.actor);
  if (receipt.status === "duplicate" && reply.code === "accepted")
    return { status: "duplicate", code: null, message: `Already accepted: "${choice}"${when(view)}.`, decision: view };
  if (reply.code === "accepted" || reply.code === "duplicate") return { status: reply.code, code: null, message: reply.message, decision: view };
  // What the decision may not show to somebody who has no say in it stands in the audit only.
  return { status: "refused", code: reply.code, message: toldBy(reply, view), decision: reply.code === "unauthorised" ? null : view };
}

function replyOf(receipt: Receipt): DecisionReply {
  if (receipt.code === "keyReused" && receipt.reply === undefined) return fixedReply("keyReused");
  return receipt.reply as DecisionReply; // decisionMachine answers each submission, open or settled
}

/** Who won, and when. */
function toldBy(reply: DecisionReply, view: DecisionView): string {
  return reply.receipt !== null || reply.code === "expired" || reply.code === "cancelled" ? `${reply.message.replace(/\.$/, "")}${when(view)}.` : reply.message;
}

const when = ({ settledAt }: DecisionView): string =>
  settledAt === null
    ? ""
    : ` (on ${new Date(settledAt)
        .toISOString()
        .replace("T", " at ")
        .replace(/\.\d+Z$/, " UTC")})`;

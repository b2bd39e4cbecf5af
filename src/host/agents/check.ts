/** Looks at what an agent submitted by the rules of its node. What they refuse is the agent's to mend, and no failure. */
import { agentLimits } from "../../../machines/contracts/agent.ts";
import type { CheckInput } from "../../../machines/nodes/agentTurns.ts";
import { messageOf } from "../../errors.ts";
import type { EffectOutcome, EffectTask } from "../../runtime/executor.ts";
import type { AuthorCode, VisitCall } from "../author/authorCode.ts";

/** Reasons that say that the output is wrong, and not the node. */
const refusals: readonly string[] = ["invalidOutput", "outputTooLarge"];

export async function checkSubmit(author: Pick<AuthorCode, "acceptNode">, call: VisitCall, task: EffectTask): Promise<EffectOutcome> {
  const { output } = task.input as CheckInput; // node machines of the agent kinds alone invoke this effect, with this
  try {
    const accepted = await author.acceptNode({ ...call, idempotencyKey: call.visit }, output, task);
    return { output: { case: accepted.case }, value: accepted.value };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { output: { refused: messageOf(error).slice(0, agentLimits.answerUnits) } };
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const reason = "reason" in error ? error.reason : "code" in error ? error.code : undefined;
  return typeof reason === "string" && refusals.includes(reason);
}

/** What the executor of `pawl.decision.prepare` runs: the decision's callbacks, and the request made of what they gave. */
import { buildDecisionRequest, preparedDecision, type BuiltDecision } from "../../machines/contracts/buildRequest.ts";
import { choiceContracts } from "../../machines/contracts/choices.ts";
import { freeDecisionCode } from "../decisionCode.ts";
import { digest } from "../digest.ts";
import { messageOf } from "../errors.ts";
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { findNode } from "./execute.ts";
import { hasMeaning, visitFailed } from "./failures.ts";
import type { Setting } from "./nodes/node.ts";

/** `output` goes into the event that opens the decision, `value` (with the subject) is kept in the effect's row alone. */
export type PreparedOutcome = ReturnType<typeof preparedDecision>;

/**
 * Runs the callbacks of a human decision; `run` is its run's id.
 * @throws nodeFailed for a callback that throws, invalidValue naming the path for what the contract forbids: nobody is asked then.
 */
export async function buildDecision(definition: AnyWorkflow, id: string, context: AnyContext, run: string): Promise<BuiltDecision> {
  const { node, behaviour } = findNode(definition, id, "humanDecision");
  const given = async <T>(name: string, value: Setting<AnyContext, T>): Promise<unknown> => {
    try {
      return typeof value === "function" ? await (value as (context: AnyContext) => T | Promise<T>)(context) : value; // a setting's value is never a function itself
    } catch (error) {
      if (hasMeaning(error)) throw error;
      throw visitFailed(id, "nodeFailed", `has a ${name} callback that threw: ${messageOf(error)}`);
    }
  };
  const answers = {
    audience: await given("audience", behaviour.audience),
    request: await given("request", behaviour.request),
    onTimeout: await given("onTimeout", behaviour.onTimeout),
  };
  const facts = {
    decision: `${context.visit}/decision`,
    run,
    node: node.id,
    visit: context.visit,
    choices: choiceContracts(behaviour.choices),
    createdAt: context.now,
  };
  return buildDecisionRequest(facts, answers, digest);
}

/** The effect's result for a built request, under the first code that `isTaken` says no open decision has. */
export async function withCode(built: BuiltDecision, isTaken: (code: string) => Promise<boolean>): Promise<PreparedOutcome> {
  return preparedDecision(built, await freeDecisionCode(built.request.digests.request, isTaken));
}

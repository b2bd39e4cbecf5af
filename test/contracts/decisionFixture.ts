/** A decision to ask, built as the preparing effect builds it. */
import { buildDecisionRequest, type BuiltDecision, type DecisionAnswers, type DecisionFacts } from "../../machines/contracts/buildRequest.ts";
import { choiceContracts, textInput } from "../../machines/contracts/choices.ts";
import { digest } from "../../src/digest.ts";
import { isPawlError } from "../../src/errors.ts";

export const createdAt = Date.UTC(2030, 0, 1);

export const facts: DecisionFacts = {
  decision: "r_1/graph/approve.3/decision",
  run: "r_1",
  node: "approve",
  visit: "r_1/graph/approve.3",
  choices: choiceContracts({
    go: { label: "Go" },
    stop: { label: "Stop" },
    replan: { label: "Plan again", input: textInput("What should change?", { max: 40 }) },
  }),
  createdAt,
};

export const request = {
  title: "Approve the plan",
  subject: { steps: ["a", "b"], cost: 3 },
  presentation: { summary: "Two steps.", blocks: [{ kind: "bullets", items: ["a", "b"] }] },
};

export function build(
  change: { facts?: Partial<DecisionFacts>; request?: Record<string, unknown>; onTimeout?: unknown; audience?: unknown } = {},
): BuiltDecision {
  const answers: DecisionAnswers = { audience: change.audience ?? "operator", request: { ...request, ...change.request }, onTimeout: change.onTimeout };
  return buildDecisionRequest({ ...facts, ...change.facts }, answers, digest);
}

/** How something was refused; null when it was not. */
export function refusalOf(
  act: () => unknown,
): { readonly code: string; readonly path: string | undefined; readonly subject: string | undefined; readonly message: string } | null {
  try {
    act();
    return null;
  } catch (error) {
    if (!isPawlError(error)) throw error;
    return { code: error.code, path: error.path, subject: error.subject, message: error.message };
  }
}

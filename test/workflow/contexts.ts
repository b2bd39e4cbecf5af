/** Callback contexts for tests, as the host makes them. */
import { callbackContext, type AnyContext, type ContextFacts } from "../../src/workflow/context.ts";
import type { AnyWorkflow } from "../../src/workflow/definition.ts";

export function contextFor(definition: AnyWorkflow, node: string, facts: Partial<ContextFacts> = {}): AnyContext {
  const visit = `r_00000000000000000000000001/graph/${node}.1`;
  return callbackContext(
    node,
    definition.graph.nodes.map(({ id }) => id),
    { input: {}, results: {}, signal: new AbortController().signal, visit, attempt: 1, idempotencyKey: visit, now: Date.UTC(2030, 0, 1), ...facts },
  );
}

/** The rules of a node that an agent works on, or that tells people something. */
import { choiceLimits } from "../../machines/contracts/choices.ts";
import type { NodeBehaviour } from "./nodes/node.ts";
import { isSchema } from "./schema.ts";

type Behaviour = Extract<NodeBehaviour, { kind: "agent" | "choose" | "assistantMessage" | "notify" }>;

const isCallback = (value: unknown): boolean => typeof value === "function";
const isTextSetting = (value: unknown): boolean => isCallback(value) || (typeof value === "string" && value !== "");

/** Every problem, as what follows the node's name in a sentence. */
export function agentProblems(behaviour: Behaviour): string[] {
  if (behaviour.kind === "notify")
    return [
      ...(isTextSetting(behaviour.text) ? [] : ["has no text; give what is to be told, or a callback that gives it."]),
      ...(["progress", "final"].includes(behaviour.as) ? [] : [`has the kind ${String(behaviour.as)}; give "progress" or "final".`]),
    ];
  const problems = isTextSetting(behaviour.prompt) ? [] : ["has no prompt; give a text, or a callback that gives one."];
  if (behaviour.kind === "assistantMessage") return problems;
  if (behaviour.validate !== null && !isCallback(behaviour.validate)) problems.push("has a validate that is no function.");
  if (behaviour.kind === "choose") return [...problems, ...chooseProblems(behaviour.choices)];
  if (behaviour.output !== null && !isSchema(behaviour.output)) problems.push("has an output that is no zod schema.");
  if (behaviour.route !== null && !isCallback(behaviour.route)) problems.push("has a route that is no function.");
  return problems;
}

function chooseProblems(choices: unknown): string[] {
  if (typeof choices !== "object" || choices === null || Object.keys(choices).length === 0)
    return ['has no choices; give at least one, such as { go: { label: "Go" } }.'];
  const entries: [string, unknown][] = Object.entries(choices);
  const problems = entries.length > choiceLimits.choices ? [`has ${entries.length} choices; at most ${choiceLimits.choices} can be offered.`] : [];
  for (const [id, choice] of entries) {
    const label: unknown = typeof choice === "object" && choice !== null && "label" in choice ? choice.label : undefined;
    if (typeof label !== "string" || label === "" || label.length > choiceLimits.labelUnits)
      problems.push(`has a choice "${id}" without a label of 1 to ${choiceLimits.labelUnits} characters.`);
  }
  return problems;
}

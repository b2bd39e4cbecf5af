/** What the effects of a step that an agent works on run: its prompt before, its rules on what was submitted. */
import { z } from "zod";
import { chosenSchema } from "../../machines/contracts/agent.ts";
import { messageOf } from "../errors.ts";
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { acceptOutput, findNode, type Executed } from "./execute.ts";
import { hasMeaning, visitFailed } from "./failures.ts";
import type { NodeBehaviour, Setting } from "./nodes/node.ts";
import { givenSetting } from "./settings.ts";

/** The message of a step, as its first effect's row keeps it. */
export interface AgentMessage {
  readonly prompt: string;
  /** JSON Schema of what may be submitted; null where nothing is, `{}` for any JSON. */
  readonly schema: { readonly [keyword: string]: unknown } | null;
  /** Labels by id, of a choose node. */
  readonly choices: { readonly [id: string]: string } | null;
}

/** Longest prompt, in UTF-16 units. */
export const maxPromptUnits = 1_000_000;

type AgentBehaviour = Extract<NodeBehaviour, { kind: "agent" | "choose" | "assistantMessage" }>;

/** @throws nodeFailed for a prompt that cannot be made */
export async function agentMessage(definition: AnyWorkflow, id: string, context: AnyContext): Promise<AgentMessage> {
  const { behaviour } = findNode(definition, id, "agent", "choose", "assistantMessage");
  const prompt = await settingText(id, "prompt", behaviour.prompt, context);
  return { prompt, schema: schemaOf(behaviour), choices: behaviour.kind === "choose" ? labelsOf(behaviour.choices) : null };
}

/** A setting that must give text. @throws nodeFailed */
export async function settingText(id: string, name: string, setting: Setting<AnyContext, string>, context: AnyContext): Promise<string> {
  const given = await givenSetting(id, name, setting, context);
  if (typeof given === "string" && given.trim() !== "" && given.length <= maxPromptUnits) return given;
  const what = typeof given === "string" ? (given.trim() === "" ? "an empty text" : `${given.length} characters`) : `a ${typeof given}`;
  throw visitFailed(id, "nodeFailed", `has a ${name} that gave ${what}; give text of 1 to ${maxPromptUnits} characters.`);
}

const labelsOf = (choices: Extract<AgentBehaviour, { kind: "choose" }>["choices"]): { [id: string]: string } =>
  Object.fromEntries(Object.entries(choices).map(([id, { label }]) => [id, label]));

function schemaOf(behaviour: AgentBehaviour): AgentMessage["schema"] {
  if (behaviour.kind === "assistantMessage") return null;
  const schema = behaviour.kind === "choose" ? chosenSchema(Object.keys(behaviour.choices)) : behaviour.output;
  if (schema === null) return {};
  try {
    return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  } catch {
    // What no JSON Schema can say is still checked at the submit, and its refusal says what is wanted.
    return {};
  }
}

/** What an agent submitted, against the node's schema and rules. @throws invalidOutput with what to tell the agent, and what the author's `validate` means to fail the visit with */
export async function acceptSubmit(definition: AnyWorkflow, id: string, context: AnyContext, output: unknown): Promise<Executed> {
  const { behaviour } = findNode(definition, id, "agent", "choose", "assistantMessage");
  if (behaviour.kind === "assistantMessage") throw visitFailed(id, "invalidOutput", "takes no submit.");
  const { validate } = behaviour;
  return acceptOutput(definition, id, output, async (value) => {
    if (validate === null) return;
    let verdict: unknown;
    try {
      verdict = await validate(value, context);
    } catch (error) {
      if (hasMeaning(error)) throw error;
      throw visitFailed(id, "invalidOutput", `refused the output: ${messageOf(error)}`);
    }
    if (typeof verdict === "string" && verdict !== "") throw visitFailed(id, "invalidOutput", `refused the output: ${verdict}`);
  });
}

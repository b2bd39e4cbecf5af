/** What the executor of `pawl.checkpoint.prepare` runs: what is asked for, as people read it. */
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { findNode } from "./execute.ts";
import { visitFailed } from "./failures.ts";
import { checkpointLimits } from "./nodes/checkpoint.ts";
import type { Setting } from "./nodes/node.ts";
import { givenSetting } from "./settings.ts";

export interface CheckpointQuestion {
  readonly title: string;
  readonly prompt: string;
}

/** @throws nodeFailed naming the setting */
export async function checkpointQuestion(definition: AnyWorkflow, id: string, context: AnyContext): Promise<CheckpointQuestion> {
  const { node, behaviour } = findNode(definition, id, "checkpoint");
  const given = async (name: string, setting: Setting<AnyContext, string> | undefined, limit: number, otherwise: string): Promise<string> => {
    const value = (await givenSetting(id, name, setting, context)) ?? otherwise;
    if (typeof value === "string" && value.length <= limit) return value;
    throw visitFailed(id, "nodeFailed", `has a ${name} that is not text of at most ${limit} characters.`);
  };
  return {
    title: await given("title", behaviour.title, checkpointLimits.titleUnits, node.id),
    prompt: await given("prompt", behaviour.prompt, checkpointLimits.promptUnits, ""),
  };
}

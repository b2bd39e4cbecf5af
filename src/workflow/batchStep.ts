/** What the executor of `pawl.batch.prepare` runs: the callback that gives the commands, and the checks of what it gave. */
import { storedCommands, type StoredCommand } from "./batchCommands.ts";
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { findNode } from "./execute.ts";
import { visitFailed } from "./failures.ts";
import { givenSetting } from "./settings.ts";

/** @throws nodeFailed naming the wrong command; nothing was run then */
export async function batchCommands(definition: AnyWorkflow, id: string, context: AnyContext): Promise<readonly StoredCommand[]> {
  const { behaviour } = findNode(definition, id, "batch");
  const found = storedCommands(await givenSetting(id, "commands", behaviour.commands, context));
  if ("commands" in found) return found.commands;
  throw visitFailed(id, "nodeFailed", `has commands that cannot be run: ${found.problem}.`);
}

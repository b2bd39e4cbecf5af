/** What the executor of `pawl.include.prepare` runs: the callback that gives an included workflow's input, and that workflow's schema. */
import { messageOf } from "../errors.ts";
import { jsonText } from "../json.ts";
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { findNode } from "./execute.ts";
import { inputRefused } from "./failures.ts";
import { givenSetting } from "./settings.ts";

/** `isParsed`: what the schema made of the input. Else what was given, since that is not JSON: the schema is applied again each time. */
export interface IncludedInput {
  readonly input: unknown;
  readonly isParsed: boolean;
}

const shown = 5;

/** @throws nodeFailed, and invalidInput with the path; values are not repeated, they may be private */
export async function includedInput(definition: AnyWorkflow, id: string, context: AnyContext): Promise<IncludedInput> {
  const { behaviour } = findNode(definition, id, "include");
  const given = await givenSetting(id, "input", behaviour.input, context);
  if (given !== undefined && !isJson(given)) throw inputRefused(id, "gave an input that is no JSON. Give plain data.");
  const { child } = behaviour;
  const result = await child.input.safeParseAsync(given).catch((error: unknown) => {
    throw inputRefused(id, `includes workflow "${child.name}", whose input schema threw: ${messageOf(error)}`);
  });
  if (result.success) return isJson(result.data) ? { input: result.data, isParsed: true } : { input: given ?? null, isParsed: false };
  const issues = result.error.issues.slice(0, shown).map(({ path, message }) => `${path.length > 0 ? `${path.map(String).join(".")}: ` : ""}${message}`);
  throw inputRefused(id, `gave an input that does not fit workflow "${child.name}": ${issues.join("; ")}.`);
}

function isJson(value: unknown): boolean {
  try {
    jsonText(value, "input");
    return true;
  } catch {
    return false; // the caller says so by the name of the node
  }
}

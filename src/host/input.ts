/** A run's input against its workflow's schema. */
import { PawlError, sentenceOf } from "../errors.ts";
import { shellWord } from "../text/shellWord.ts";
import type { AnyWorkflow } from "../workflow/definition.ts";
import { exampleInput } from "../workflow/exampleInput.ts";

const shown = 5;

/**
 * What the schema makes of an input. `typed`: how the workflow was named, if somebody is about to start it.
 * @throws invalidInput with the path of the first wrong field; values are not repeated, they may be private
 */
export async function parsedInput(definition: AnyWorkflow, given: unknown, typed?: string): Promise<unknown> {
  const result = await definition.input.safeParseAsync(given).catch((error: unknown) => {
    throw new PawlError("invalidInput", `The input schema of workflow "${definition.name}" threw: ${sentenceOf(error)} Mend the workflow's file.`, {
      cause: error,
    });
  });
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.map(String).join("."), message }));
  const texts = issues.slice(0, shown).map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const more = issues.length > shown ? `; and ${issues.length - shown} more` : "";
  const example = typed === undefined ? null : await exampleInput(definition.input);
  const way = typed === undefined || example === null ? "" : ` It takes this, for one: \`pawl run ${shellWord(typed)} --input ${shellWord(example)}\``;
  throw new PawlError("invalidInput", `The input does not fit workflow "${definition.name}": ${texts.join("; ")}${more}. Nothing was started.${way}`, {
    subject: definition.name,
    path: issues[0]?.path ?? "",
  });
}

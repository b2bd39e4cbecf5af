/** What a person may answer: named choices, some of which ask for a text. */
import { z } from "zod";
import { count, parsed, plainString } from "./strings.ts";

export const choiceLimits = { choices: 20, labelUnits: 64, promptUnits: 256, defaultMinUnits: 1, defaultMaxUnits: 4000, maxUnits: 16_000 } as const;

const choiceIdPattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Names of routes that are no choices, and one that JavaScript objects do not hold. */
export const reservedChoiceIds = ["failed", "timedOut", "done", "__proto__"] as const;

export const ChoiceId = z
  .string()
  .regex(choiceIdPattern, "a choice id is a letter or _, then letters, digits, _ or -, at most 64 characters")
  .refine((id) => !reservedChoiceIds.some((reserved) => reserved === id), {
    error: (issue) => `"${String(issue.input)}" is reserved; choose another choice id`,
  });

/** A text that a choice asks for: exactly what was received counts, in UTF-16 units. */
export const TextInputContract = z
  .strictObject({
    kind: z.literal("text"),
    /** What the person is asked. */
    label: plainString({ min: 1, max: choiceLimits.promptUnits }),
    min: z.int().min(1),
    max: z.int().max(choiceLimits.maxUnits),
  })
  .refine(({ min, max }) => min <= max, { error: "min is greater than max", path: ["min"] });
export type TextInputContract = z.infer<typeof TextInputContract>;

export const ChoiceContract = z.strictObject({
  id: ChoiceId,
  label: plainString({ min: 1, max: choiceLimits.labelUnits }),
  input: TextInputContract.nullable(),
});
export type ChoiceContract = z.infer<typeof ChoiceContract>;

/** In the order in which they are offered. */
export const ChoiceContracts = z
  .array(ChoiceContract)
  .min(1, { error: "a decision needs at least one choice" })
  .max(choiceLimits.choices, {
    error: (issue) => `${Array.isArray(issue.input) ? issue.input.length : "too many"} choices, the limit is ${choiceLimits.choices}`,
  })
  .superRefine((choices, context) => {
    for (const [i, { id }] of choices.entries())
      if (choices.findIndex((other) => other.id === id) < i) context.addIssue({ code: "custom", message: `repeats the choice id "${id}"`, path: [i, "id"] });
  });

/** An answer: the chosen case and, where it asks for one, the exact text. It is the decision node's output. */
export const DecisionResponse = z.strictObject({ choice: ChoiceId, input: z.string().exactOptional() });
export type DecisionResponse = z.infer<typeof DecisionResponse>;

/** The contract of a text input; `min` and `max` in UTF-16 units, 1 to 4,000 where not given. @throws invalidValue with the path */
export function textInput(label: string, { min, max }: { readonly min?: number | undefined; readonly max?: number | undefined } = {}): TextInputContract {
  return parsed(
    TextInputContract,
    { kind: "text", label, min: min ?? choiceLimits.defaultMinUnits, max: max ?? Math.max(choiceLimits.defaultMaxUnits, min ?? 0) },
    "text",
  );
}

/** An author's record of choices as the list that a request holds, in the order written. @throws invalidValue with the path */
export function choiceContracts(
  choices: { readonly [id: string]: { readonly label: string; readonly input?: TextInputContract | null | undefined } },
  what = "choices",
): ChoiceContract[] {
  return parsed(
    ChoiceContracts,
    Object.entries(choices).map(([id, { label, input }]) => ({ id, label, input: input ?? null })),
    what,
  );
}

/** Why a response is none of the offered ones: the wrong field and what is allowed there; null when it is one. */
export function responseFault(
  choices: readonly ChoiceContract[],
  { choice, input }: { readonly choice: string; readonly input?: string | undefined },
): { readonly path: "choice" | "input"; readonly message: string } | null {
  const chosen = choices.find(({ id }) => id === choice);
  if (!chosen) return { path: "choice", message: `There is no choice "${choice}". Choose one of: ${choices.map(({ id }) => id).join(", ")}.` };
  if (chosen.input === null) return input === undefined ? null : { path: "input", message: `The choice "${choice}" takes no text.` };
  const { label, min, max } = chosen.input;
  const wanted = `The choice "${choice}" needs a text of ${count(min)} to ${count(max)} UTF-16 units ("${label}")`;
  if (input === undefined) return { path: "input", message: `${wanted}.` };
  if (input.length < min || input.length > max) return { path: "input", message: `${wanted}; this one has ${count(input.length)}.` };
  return input.isWellFormed() ? null : { path: "input", message: `${wanted}; this one holds half a surrogate pair.` };
}

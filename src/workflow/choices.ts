/** The answers that a person may give. */
import { choiceLimits, type TextInputContract } from "../../machines/contracts/choices.ts";

export interface Choice {
  /** What people read, at most 64 UTF-16 units. */
  readonly label: string;
  readonly input?: TextInputContract;
}

/** Choices by id, at most 20. */
export type Choices = { readonly [id: string]: Choice };

/** A person's answer: the choice, and the text where the choice asks for one. */
export type ChoiceResponse<Offered extends Choices> = {
  [Id in keyof Offered & string]: Offered[Id] extends { readonly input: TextInputContract }
    ? { readonly choice: Id; readonly input: string }
    : { readonly choice: Id };
}[keyof Offered & string];

/** Asks for text with a choice: exact received text, `min` to `max` UTF-16 units (1 to 4,000 unless set). Checked when the workflow is built. */
export function text(
  label: string,
  { min = choiceLimits.defaultMinUnits, max = Math.max(choiceLimits.defaultMaxUnits, min) }: { readonly min?: number; readonly max?: number } = {},
): TextInputContract {
  return { kind: "text", label, min, max };
}

/** Choices that several places share: a decision, and the `later()` that announces it. */
export function choices<const Offered extends Choices>(offered: Offered): Offered {
  return offered;
}

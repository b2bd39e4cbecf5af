/** Finds the choice a person meant; never guesses. */
import { didYouMean } from "../../text/closest.ts";

/** By its number on the screen (from 1), its id, or its id in other letters' case when that fits one only; else what to say. */
export function findChoice<C extends { readonly id: string }>(typed: string, choices: readonly C[]): { readonly choice: C } | { readonly problem: string } {
  const word = typed.trim();
  const ids = choices.map((choice) => choice.id);
  if (word === "") return { problem: `Type one of ${ids.join(", ")}.` };
  const numbered = /^[0-9]+$/.test(word) ? choices[Number(word) - 1] : undefined;
  const exact = numbered ?? choices.find((choice) => choice.id === word);
  if (exact) return { choice: exact };
  const folded = choices.filter((choice) => choice.id.toLowerCase() === word.toLowerCase());
  const [only] = folded;
  if (only && folded.length === 1) return { choice: only };
  if (only) return { problem: `${word} fits ${folded.map((choice) => choice.id).join(" and ")}: type it exactly.` };
  return { problem: `There is no choice ${JSON.stringify(word)}; the choices are ${ids.join(", ")}.${didYouMean(word, ids)}` };
}

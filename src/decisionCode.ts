/** Short codes by which a person names an open decision: made from its digest, with a check character, forgiving to type, never guessed. */
import { PawlError } from "./errors.ts";
import { crockford } from "./ids.ts";

/** Characters of a code before its check character. */
const shortest = 6;
/** As far as the check character's weights are all different. */
const longest = 30;

/**
 * The codes that a request may have, shortest first: 6 Crockford characters of its digest (SHA-256 in hex) and a check character, then longer ones.
 * @throws invalidValue for what is no digest
 */
export function* decisionCodes(requestDigest: string): Generator<string> {
  if (!/^[0-9a-f]{64}$/.test(requestDigest))
    throw new PawlError("invalidValue", "A decision code is made from a SHA-256 digest: 64 lower-case hex characters.", { path: "requestDigest" });
  const bits = BigInt(`0x${requestDigest}`);
  for (let length = shortest; length <= longest; length += 1) {
    let body = "";
    for (let i = 0; i < length; i += 1) body += crockford.charAt(Number((bits >> BigInt(256 - 5 * (i + 1))) & 31n));
    yield body + checkCharacter(body);
  }
}

/** The first code of the request that no open decision has. @throws conflict when it has been asked already */
export async function freeDecisionCode(requestDigest: string, isTaken: (code: string) => Promise<boolean>): Promise<string> {
  for (const code of decisionCodes(requestDigest)) if (!(await isTaken(code))) return code;
  throw new PawlError("conflict", `An open decision already has the request digest ${requestDigest}. Answer or cancel that one first.`);
}

/** Why a typed text is no code. */
export type CodeFault = "empty" | "character" | "length" | "check";

export type ParsedCode = { readonly ok: true; readonly code: string } | { readonly ok: false; readonly fault: CodeFault; readonly text: string };

/** Reads a typed code: case, spaces and hyphens do not matter, I and L are 1, O is 0. Whether such a decision is open is not asked here. */
export function parseDecisionCode(typed: string): ParsedCode {
  const text = canonicalTyping(typed);
  if (text === "") return { ok: false, fault: "empty", text };
  if ([...text].some((character) => !crockford.includes(character))) return { ok: false, fault: "character", text };
  if (text.length <= shortest || text.length > longest + 1) return { ok: false, fault: "length", text };
  return checkCharacter(text.slice(0, -1)) === text.at(-1) ? { ok: true, code: text } : { ok: false, fault: "check", text };
}

/** `unknown`: a right code of no open decision. `mistyped`: no code; `near` are the open codes one slip away, to be shown and never taken. */
export type FoundCode =
  | { readonly status: "found"; readonly code: string }
  | { readonly status: "unknown"; readonly code: string; readonly near: readonly string[] }
  | { readonly status: "mistyped"; readonly fault: CodeFault; readonly near: readonly string[] };

/** Looks a typed code up among the open ones. */
export function findDecisionCode(typed: string, open: Iterable<string>): FoundCode {
  const codes = [...open];
  const parsed = parseDecisionCode(typed);
  if (parsed.ok && codes.includes(parsed.code)) return { status: "found", code: parsed.code };
  const text = parsed.ok ? parsed.code : parsed.text;
  const near = codes.filter((code) => isOneSlip(text, code)).sort();
  return parsed.ok ? { status: "unknown", code: parsed.code, near } : { status: "mistyped", fault: parsed.fault, near };
}

function canonicalTyping(typed: string): string {
  return typed
    .replace(/[a-z]/g, (letter) => letter.toUpperCase())
    .replace(/[\s-]/g, "")
    .replace(/[IL]/g, "1")
    .replace(/O/g, "0");
}

/** A character mistyped, left out or put in, or two neighbours swapped. */
function isOneSlip(typed: string, code: string): boolean {
  let from = 0;
  while (from < typed.length && from < code.length && typed[from] === code[from]) from += 1;
  const rest = typed.slice(from);
  const wanted = code.slice(from);
  if (rest === "" && wanted === "") return false;
  const replaced = rest !== "" && wanted !== "" && rest.slice(1) === wanted.slice(1);
  const swapped = rest.length > 1 && wanted.length > 1 && rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2);
  return replaced || swapped || rest.slice(1) === wanted || rest === wanted.slice(1);
}

// The check character is a weighted sum over the field of 32 elements, whose weights are different powers of one generator:
// every single wrong character and every swap of two different ones changes it. A sum modulo 32 would miss half of them.
const reduction = 0b100101; // x^5 + x^2 + 1, a primitive polynomial

function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 0; bit < 5; bit += 1) if (b & (1 << bit)) product ^= a << bit;
  for (let bit = 9; bit >= 5; bit -= 1) if (product & (1 << bit)) product ^= reduction << (bit - 5);
  return product;
}

function checkCharacter(body: string): string {
  let sum = 0;
  let weight = 1;
  for (const character of body) {
    weight = times(weight, 2);
    sum ^= times(crockford.indexOf(character), weight);
  }
  return crockford.charAt(sum);
}

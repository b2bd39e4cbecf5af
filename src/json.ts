/** JSON that loses nothing: what JSON cannot carry is refused with its path, never changed silently. */
import { PawlError } from "./errors.ts";

/**
 * Looks at an object that is no plain data: null when its `toJSON` gives its data, what it is when that may not stand here,
 * undefined when it is nothing of the kind.
 */
export type ObjectCheck = (value: object) => string | null | undefined;

/**
 * JSON text of a value made of plain objects, arrays, strings, finite numbers, booleans and null.
 * Keys whose value is `undefined` are left out, as reading them gives the same.
 * `known` names the objects that may stand in it besides.
 * @throws invalidValue naming `what`, the path and the mend, for anything else (Date, Map, BigInt, NaN, -0, cycles, class instances,
 * functions, symbols, lone surrogates, NUL, undefined or holes in arrays, named fields of arrays, a key `__proto__`).
 */
export function jsonText(value: unknown, what: string, known: ObjectCheck = nothingKnown): string {
  checkJson(value, what, known);
  return JSON.stringify(value) ?? "null";
}

/** The same without the text. @throws invalidValue */
export function checkJson(value: unknown, what: string, known: ObjectCheck = nothingKnown): void {
  // Nearly every value is right: the path is looked for only when one is not.
  if (!isCarried(value, 0, known)) refuse(value, what, known);
}

function refuse(value: unknown, what: string, known: ObjectCheck): void {
  const wrong = firstWrong(value, "", [], known);
  if (wrong)
    throw new PawlError(
      "invalidValue",
      `The ${what} holds ${wrong.kind} at "${wrong.path || "(root)"}", which JSON cannot carry. Use plain objects, arrays, strings, finite numbers, booleans and null${wrong.mend}.`,
      { path: wrong.path },
    );
}

/** Reads back text that Pawl itself wrote: its type is what was written, so the caller names it without a check. */
export const readBack = <T>(text: string): T => JSON.parse(text) as T; // see above

interface Wrong {
  readonly path: string;
  readonly kind: string;
  readonly mend: string;
}

/** Objects and arrays inside each other; more is a mistake, and would end the stack. */
const depthLimit = 1000;

const nothingKnown: ObjectCheck = () => undefined;

/** What an array carries besides its items (a regular expression's match has `index` and `groups`): JSON would lose it. */
const namedField = (value: readonly unknown[]): string | undefined => Object.keys(value).find((key, index) => key !== String(index));

const isUsable = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

function isCarried(value: unknown, depth: number, known: ObjectCheck): boolean {
  if (typeof value === "string") return isUsable(value);
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value === "boolean" || value === null) return true;
  if (typeof value !== "object") return value === undefined && depth === 0;
  if (depth >= depthLimit) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) if (!isCarried(value[i], depth + 1, known)) return false;
    return Object.keys(value).length === value.length;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return known(value) === null;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  for (const key of Object.keys(value)) {
    const item: unknown = Reflect.get(value, key);
    if (key === "__proto__" || !isUsable(key) || (item !== undefined && !isCarried(item, depth + 1, known))) return false;
  }
  return true;
}

function firstWrong(value: unknown, path: string, above: readonly object[], known: ObjectCheck): Wrong | null {
  switch (typeof value) {
    case "string":
      return !isUsable(value) ? { path, kind: value.includes("\0") ? "a NUL character" : "a lone surrogate", mend: "" } : null;
    case "boolean":
      return null;
    case "number":
      if (!Number.isFinite(value)) return { path, kind: String(value), mend: "" };
      return Object.is(value, -0) ? { path, kind: "-0", mend: " (0 for -0)" } : null;
    case "undefined":
      return above.length === 0 ? null : { path, kind: "undefined", mend: " (null for undefined)" };
    case "object":
      return value === null ? null : wrongIn(value, path, above, known);
    default:
      return { path, kind: `a ${typeof value}`, mend: typeof value === "bigint" ? " (a string for a bigint)" : "" };
  }
}

function wrongIn(value: object, path: string, above: readonly object[], known: ObjectCheck): Wrong | null {
  if (above.includes(value)) return { path, kind: "a cycle", mend: "" };
  if (above.length >= depthLimit) return { path: "", kind: `more than ${depthLimit} levels`, mend: "" };
  const inside = [...above, value];
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const wrong = firstWrong(value[i], `${path}[${i}]`, inside, known);
      if (wrong) return wrong;
    }
    const named = namedField(value);
    return named === undefined ? null : { path: `${path}.${named}`, kind: "a named field of an array", mend: "" };
  }
  const verdict = known(value);
  if (verdict !== undefined) return verdict === null ? null : { path, kind: verdict, mend: "" };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    return { path, kind: `a ${value.constructor?.name ?? "class instance"}`, mend: value instanceof Date ? " (toISOString() or getTime() for a Date)" : "" };
  if (Object.getOwnPropertySymbols(value).length > 0) return { path, kind: "a symbol as a key", mend: "" };
  for (const key of Object.keys(value)) {
    const at = path === "" ? key : `${path}.${key}`;
    if (key === "__proto__" || !isUsable(key)) return { path: at, kind: "an unusable key", mend: "" };
    const item: unknown = Reflect.get(value, key);
    if (item === undefined) continue;
    const wrong = firstWrong(item, at, inside, known);
    if (wrong) return wrong;
  }
  return null;
}

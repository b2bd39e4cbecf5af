/** Canonical JSON (RFC 8785) and SHA-256: how two values are known to be the same without comparing them. */
import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import { isPawlError, sentenceOf, PawlError } from "./errors.ts";
import { jsonText } from "./json.ts";

/** SHA-256 of UTF-8 text or bytes, lower-case hex. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data);
}

/**
 * The canonical JSON text of a value (RFC 8785): keys sorted by UTF-16 units, one way to write each number and string.
 * `what` names the value in errors and begins their path.
 * @throws invalidValue with the path, for whatever would not read back the same: all that `jsonText` refuses (-0 too, which RFC 8785 would write as 0), and `undefined` anywhere.
 */
export function canonicalJson(value: unknown, what = "value"): string {
  try {
    jsonText(value, what);
    const missing = pathOfUndefined(value);
    if (missing !== null)
      throw new PawlError("invalidValue", `The ${what} holds undefined at "${missing || "(root)"}", which JSON cannot carry. Leave the key out, or use null.`, {
        path: missing,
      });
    return canonicalize(value) ?? "null";
  } catch (error) {
    if (error instanceof RangeError)
      throw new PawlError("invalidValue", `The ${what} is nested too deeply for JSON. Make it flatter.`, { path: what, cause: error });
    if (!isPawlError(error))
      throw new PawlError("invalidValue", `The ${what} cannot be written as canonical JSON: ${sentenceOf(error)}`, { path: what, cause: error });
    throw new PawlError("invalidValue", error.message, { path: joined(what, error.path ?? ""), cause: error });
  }
}

/** SHA-256 (lower-case hex) over the canonical JSON of a value and a final newline: what every digest of Pawl's contracts is. */
export function digest(value: unknown, what = "value"): string {
  return sha256Hex(`${canonicalJson(value, what)}\n`);
}

function joined(what: string, path: string): string {
  return path === "" || path.startsWith("[") ? `${what}${path}` : `${what}.${path}`;
}

/** Path of the first `undefined` in a value that `jsonText` accepts; null when there is none. */
function pathOfUndefined(value: unknown): string | null {
  if (value === undefined) return "";
  if (typeof value !== "object" || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    const inside = pathOfUndefined(item);
    if (inside === null) continue;
    const step = Array.isArray(value) ? `[${key}]` : key;
    return inside === "" ? step : joined(step, inside);
  }
  return null;
}

/** Strings of the contracts, and how a value that breaks a contract is refused: with limit, value and path. */
import { z } from "zod";
import { PawlError } from "../../src/errors.ts";
import { formatPath } from "../../src/text/path.ts";

const controls = /[\u0000-\u001F\u007F-\u009F]/;
const controlsButLfAndTab = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;

interface StringRules {
  /** UTF-16 units. */
  readonly min?: number;
  readonly max: number;
  /** LF and tab may stand in it. */
  readonly lines?: boolean;
}

/** A string without control characters, at most `max` UTF-16 units. Format characters stay: whoever shows the text writes them out. */
export function plainString({ min = 0, max, lines = false }: StringRules): z.ZodString {
  const checked = z.string().superRefine((text, context) => {
    if (text.length > max) context.addIssue({ code: "custom", message: `has ${count(text.length)} UTF-16 units, the limit is ${count(max)}` });
    if (text.length < min || (min > 0 && text.trim() === "")) context.addIssue({ code: "custom", message: "is empty" });
    const control = (lines ? controlsButLfAndTab : controls).exec(text);
    if (control)
      context.addIssue({
        code: "custom",
        message: `holds the control character ${codePoint(control[0])} at unit ${control.index}${lines ? "; only LF and tab may stand here" : ""}`,
      });
    if (!text.isWellFormed()) context.addIssue({ code: "custom", message: "holds half a surrogate pair" });
  });
  // What a JSON Schema can say of it: such a schema counts code points, which are never more than units.
  return checked.meta({
    ...(min > 0 ? { minLength: 1 } : {}),
    maxLength: max,
    pattern: `^[^${(lines ? controlsButLfAndTab : controls).source.slice(1, -1)}]*$`,
  });
}

/** Ids and keys: up to 512 units. */
export const identifier = plainString({ min: 1, max: 512 });

/** Epoch ms. */
export const timestamp = z.int().min(0).max(8_640_000_000_000_000);

/** SHA-256, lower-case hex. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 digest: 64 lower-case hex characters");

/** A number as messages write it: `16,000`. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * The value as the schema reads it.
 * @throws PawlError of `code`, naming `what`, the first wrong path (`what` at its front) and what is wrong there.
 */
export function parsed<S extends z.ZodType>(
  schema: S,
  value: unknown,
  what: string,
  options: { code?: "invalidInput" | "invalidValue"; subject?: string } = {},
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const inside = formatPath(issue?.path ?? []);
  const path = inside === "" || inside.startsWith("[") ? `${what}${inside}` : `${what}.${inside}`;
  const message = issue ? describe(issue) : "is invalid";
  throw new PawlError(options.code ?? "invalidValue", `${path} ${message}.`, { path, ...(options.subject === undefined ? {} : { subject: options.subject }) });
}

function describe(issue: z.core.$ZodIssue): string {
  if (issue.code === "custom") return issue.message;
  if (issue.code === "unrecognized_keys")
    return `has the unknown field${issue.keys.length > 1 ? "s" : ""} ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
  if (issue.code === "too_big" && issue.origin === "array") return `has ${issue.message}`;
  return issue.code === "invalid_type" && issue.input === undefined && issue.message.endsWith("undefined")
    ? "is missing"
    : `is wrong: ${issue.message.replace(/^Invalid input: /, "").replace(/^I/, "i")}`;
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

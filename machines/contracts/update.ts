/** What a step publishes while it works (SPEC 14): it replaces the update of the same type and key, and never moves its run. */
import { z } from "zod";
import { isPawlError, messageOf, PawlError } from "../../src/errors.ts";
import { jsonText } from "../../src/json.ts";
import { progressType } from "./pace.ts";
import { Progress } from "./progress.ts";
import { count, parsed } from "./strings.ts";

export const updateLimits = {
  /** Bytes of an update's data as JSON. */
  dataBytes: 64 * 1024,
  /** Types and keys of one run. */
  keys: 1_024,
  typePattern: /^[a-z][a-z0-9.-]{0,63}$/,
  keyPattern: /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/,
} as const;

/** The key of an update that gives none. */
export const defaultKey = "main";

export interface UpdateRequest {
  readonly type: string;
  /** `main` unless set. */
  readonly key?: string | undefined;
  /** JSON of at most 64 KiB. */
  readonly data: unknown;
}

export interface UpdateReceipt {
  readonly type: string;
  readonly key: string;
  /** 1, and one more each time it is replaced. */
  readonly revision: number;
  /** Epoch ms. */
  readonly at: number;
}

const Update = z.strictObject({
  type: z.string().superRefine((text, context) => {
    if (!updateLimits.typePattern.test(text))
      context.addIssue({ code: "custom", message: "is no type: it is a small letter, then up to 63 small letters, digits, dots or hyphens" });
  }),
  key: z.string().superRefine((text, context) => {
    if (!updateLimits.keyPattern.test(text))
      context.addIssue({ code: "custom", message: "is no key: it is a letter or digit, then up to 127 letters, digits or any of . _ : / -" });
  }),
  data: z.unknown(),
});

/** An update that has passed the checks. */
export interface CheckedUpdate {
  readonly type: string;
  readonly key: string;
  /** Its data. */
  readonly json: string;
}

/** @throws invalidInput with the path of the wrong field */
export function checkedUpdate(given: unknown): CheckedUpdate {
  const filled = typeof given === "object" && given !== null && (!("key" in given) || given.key === undefined) ? { ...given, key: defaultKey } : given;
  const { type, key, data } = parsed(Update, filled, "update", { code: "invalidInput" });
  const json = dataText(type === progressType ? parsed(Progress, data, "update.data", { code: "invalidInput" }) : data);
  const bytes = bytesOf(json);
  if (bytes > updateLimits.dataBytes)
    throw new PawlError(
      "invalidInput",
      `update.data has ${count(bytes)} bytes of JSON, the limit is ${count(updateLimits.dataBytes)}. Write it to a file and publish its path.`,
      { path: "update.data" },
    );
  return { type, key, json };
}

const below = (path: string, inside: string): string => (inside === "" || inside.startsWith("[") ? `${path}${inside}` : `${path}.${inside}`);

function dataText(data: unknown): string {
  if (data === undefined) throw new PawlError("invalidInput", "update.data is missing.", { path: "update.data" });
  try {
    return jsonText(data, "update's data");
  } catch (error) {
    throw new PawlError("invalidInput", messageOf(error), {
      path: below("update.data", isPawlError(error) ? (error.path ?? "") : ""),
      cause: error,
    });
  }
}

/** UTF-8 bytes of well-formed text. */
function bytesOf(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}

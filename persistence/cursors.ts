/** Limits and cursors of lists, as they come from outside. A cursor names the last row of a page by created time and id. */
import { PawlError } from "../src/errors.ts";
import type { PageRequest, Projection } from "./store.ts";

export interface Position {
  readonly createdAt: number;
  readonly id: string;
}

/** Before every row. */
export const beginning: Position = { createdAt: Number.MIN_SAFE_INTEGER, id: "" };

/** After every row: no id is greater than one that begins with the last code point. */
export const end: Position = { createdAt: Number.MAX_SAFE_INTEGER, id: "\u{10FFFF}" };

export const defaultLimit = 50;
export const largestLimit = 500;

/** @throws PawlError invalidInput with path `limit`. */
export function checkedLimit(limit: PageRequest["limit"] = defaultLimit): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= largestLimit) return limit;
  throw new PawlError("invalidInput", `limit must be a whole number from 1 to ${largestLimit}, not ${String(limit)}.`, { path: "limit" });
}

export const writeCursor = (projection: Projection, { createdAt, id }: Position): string =>
  Buffer.from(JSON.stringify([projection, createdAt, id])).toString("base64url");

/** @throws PawlError invalidInput with path `cursor`, for one of another list too. */
export function readCursor(projection: Projection, cursor: string | undefined, first: Position = beginning): Position {
  if (cursor === undefined) return first;
  const parts = parse(cursor);
  if (Array.isArray(parts)) {
    const [of, createdAt, id]: unknown[] = parts;
    if (parts.length === 3 && of === projection && Number.isSafeInteger(createdAt) && typeof createdAt === "number" && typeof id === "string")
      return { createdAt, id };
  }
  throw new PawlError("invalidInput", `cursor is not one that a list of ${projection} gave; leave it out to begin at the first page.`, { path: "cursor" });
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    // Not JSON is not a cursor: the caller refuses it.
    return undefined;
  }
}

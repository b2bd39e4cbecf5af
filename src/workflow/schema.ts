import type { ZodType } from "zod";

/** True for a schema of zod 4, of any copy of it. */
export function isSchema(value: unknown): value is ZodType {
  return typeof value === "object" && value !== null && "_zod" in value && "safeParseAsync" in value;
}

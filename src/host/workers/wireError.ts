/** Errors over the channel: what the runtime reads of one survives the trip, its class does not. */
import { z } from "zod";
import { errorKinds, messageOf, PawlError, type PawlErrorCode } from "../../errors.ts";

const text = z.string();

export const WireError = z.strictObject({
  name: text,
  message: text,
  code: text.nullable(),
  subject: text.nullable(),
  path: text.nullable(),
  reason: text.nullable(),
  retryAfterMs: z.number().nullable(),
});
export type WireError = z.infer<typeof WireError>;

/** Never throws, whatever was thrown. */
export function toWire(error: unknown): WireError {
  const named = (name: string): unknown => {
    try {
      return error instanceof Error ? Reflect.get(error, name) : undefined;
    } catch {
      return undefined; // a getter of the author's: it has nothing to say
    }
  };
  const textOf = (name: string): string | null => {
    const value = named(name);
    return typeof value === "string" ? messageOf(value) : null;
  };
  const retryAfterMs = named("retryAfterMs");
  return {
    name: textOf("name") ?? "Error",
    message: messageOf(error),
    code: textOf("code"),
    subject: textOf("subject"),
    path: textOf("path"),
    reason: textOf("reason"),
    retryAfterMs: typeof retryAfterMs === "number" ? retryAfterMs : null,
  };
}

/** An error of author code, as the runtime tells such apart: by name, reason, code and `retryAfterMs`; `path` is the wrong field of an output. */
class AuthorError extends Error {
  readonly reason?: string;
  readonly code?: string;
  readonly retryAfterMs?: number;
  readonly path?: string;
  constructor({ name, message, code, reason, retryAfterMs, path }: WireError) {
    super(message);
    this.name = name;
    if (reason !== null) this.reason = reason;
    if (code !== null) this.code = code;
    if (retryAfterMs !== null) this.retryAfterMs = retryAfterMs;
    if (path !== null) this.path = path;
  }
}

const isPawlCode = (code: string | null): code is PawlErrorCode => code !== null && Object.hasOwn(errorKinds, code);

export function fromWire(error: WireError): Error {
  const { code, message, subject, path } = error;
  if (!isPawlCode(code)) return new AuthorError(error);
  return new PawlError(code, message, { ...(subject === null ? {} : { subject }), ...(path === null ? {} : { path }) });
}

/** One message, and how a large one travels: `{v, id, kind, body}` a line, or its text in `part` messages. Pure; HOST-41, HOST-42. */
import { z } from "zod";
import { partChars } from "./limits.ts";
import { malformed } from "./lines.ts";

const name = z.string().min(1).max(128);

export const Envelope = z.strictObject({
  /** Version of the protocol. */
  v: z.int().nonnegative(),
  /** Of a request and its answer; of a subscription and its events. */
  id: name,
  kind: name,
  body: z.record(z.string(), z.unknown()),
});
export type Envelope = z.infer<typeof Envelope>;

const Part = z.strictObject({ index: z.int().nonnegative(), last: z.boolean(), text: z.string().max(2 * partChars) });
const partKind = "part";

/** @throws protocolBroken naming the path, never the text: that may be private */
export function parseEnvelope(text: string): Envelope {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed("a line that is no JSON");
  }
  const parsed = Envelope.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, problem } = firstIssue(parsed.error);
  throw malformed(`a message whose ${path === "" ? "form" : `"${path}"`} is wrong (${problem})`, path);
}

/** The first thing that is wrong: where, and what without the value itself. Unknown keys are named by their path. */
export function firstIssue(error: z.ZodError): { readonly path: string; readonly problem: string } {
  const issue = error.issues[0];
  if (issue === undefined) return { path: "", problem: "invalid" };
  const extra = issue.code === "unrecognized_keys" ? [issue.keys[0] ?? ""] : [];
  const problem = extra.length > 0 ? "unknown key" : issue.code === "custom" ? "invalid" : issue.message;
  return { path: [...issue.path, ...extra].map(String).join("."), problem };
}

/** The lines that carry a message. @throws RangeError for one of more than `limit` characters */
export function linesOf(envelope: Envelope, limit: number): readonly string[] {
  const text = JSON.stringify(envelope);
  if (text.length <= partChars) return [text];
  if (text.length > limit) throw new RangeError(`a message of ${text.length} characters; the limit is ${limit}`);
  const lines: string[] = [];
  for (let from = 0, index = 0; from < text.length; from += partChars, index += 1)
    lines.push(
      JSON.stringify({
        v: envelope.v,
        id: envelope.id,
        kind: partKind,
        body: { index, last: from + partChars >= text.length, text: text.slice(from, from + partChars) },
      }),
    );
  return lines;
}

/** Room that several connections share for messages of which only a part has come. */
export interface HeldRoom {
  left: number;
}

/** Puts parts together. One message at a time is under way on a connection: its parts stand one after another, others may stand between. */
export class Assembler {
  private readonly limit: number;
  private readonly room: HeldRoom;
  private parts: string[] = [];
  private id: string | null = null;
  private chars = 0;

  constructor(limit: number, room: HeldRoom = { left: Number.POSITIVE_INFINITY }) {
    this.limit = limit;
    this.room = room;
  }

  /** The message that this line completes; null while more of it must come. @throws protocolBroken */
  take(line: string): Envelope | null {
    const envelope = parseEnvelope(line);
    if (envelope.kind !== partKind) return envelope;
    const parsed = Part.safeParse(envelope.body);
    if (!parsed.success) throw malformed(`a part whose "${firstIssue(parsed.error).path}" is wrong`, `body.${firstIssue(parsed.error).path}`);
    const { index, last, text } = parsed.data;
    if (index !== this.parts.length || (index > 0 && envelope.id !== this.id)) throw malformed("parts of a message out of their order", "body.index");
    if (this.chars + text.length > this.limit) throw malformed(`a message of more than ${this.limit} characters`);
    if (text.length > this.room.left) throw malformed("more unfinished messages than there is room for");
    this.id = envelope.id;
    this.parts.push(text);
    this.chars += text.length;
    this.room.left -= text.length;
    if (!last) return null;
    const whole = this.parts.join("");
    this.drop();
    const message = parseEnvelope(whole);
    if (message.kind === partKind || message.id !== envelope.id) throw malformed("a part inside parts", "kind");
    return message;
  }

  /** Forgets what has come of an unfinished message. */
  drop(): void {
    this.room.left += this.chars;
    this.parts = [];
    this.chars = 0;
    this.id = null;
  }
}

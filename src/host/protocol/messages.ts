/** Every message of the protocol with its schema: what a client may ask, what it is answered, and what a host says by itself. HOST-43.
 *  A message that this page does not know, or a key too many in one that it knows, is refused with its path, and nothing is done. */
import { z } from "zod";
import { errorKinds, isPawlError, messageOf, PawlError, type PawlErrorCode } from "../../errors.ts";
import { runIdPattern } from "../../ids.ts";
import { firstIssue } from "./envelope.ts";
import { malformed } from "./lines.ts";
import {
  AnswerResultSchema,
  CheckpointResultSchema,
  decisionStates,
  DecisionAuditSchema,
  DecisionViewSchema,
  EffectViewSchema,
  UpdateViewSchema,
  effectStates,
  RunEventSchema,
  runStates,
  RunSummarySchema,
  RunViewSchema,
} from "./views.ts";

const id = z.string().min(1).max(1024);
const pageRequest = z.strictObject({
  limit: z.int().min(1).max(500).exactOptional(),
  cursor: z.string().max(4096).exactOptional(),
  newest: z.boolean().exactOptional(),
});
const pageOf = <S extends z.ZodType>(item: S) => z.strictObject({ items: z.array(item), cursor: z.string().nullable() });
const nothing = z.strictObject({});

export const HostStatusSchema = z.strictObject({
  pid: z.int(),
  /** Of Pawl. */
  version: z.string(),
  home: z.string(),
  /** Epoch ms. */
  startedAt: z.number(),
  clients: z.int(),
  /** Runs that are not final, and those of them that move by themselves. */
  open: z.int(),
  moving: z.int(),
});
export type HostStatus = z.infer<typeof HostStatusSchema>;

/** What can be asked: the body, the value that answers it, and whether it changes anything. */
export const requests = {
  runs: {
    body: z.strictObject({ filter: z.strictObject({ state: z.array(runStates).exactOptional(), workflow: z.string().exactOptional() }), page: pageRequest }),
    value: pageOf(RunSummarySchema),
    changes: false,
  },
  run: { body: z.strictObject({ id }), value: RunViewSchema, changes: false },
  decisions: {
    body: z.strictObject({ filter: z.strictObject({ run: id.exactOptional(), state: z.array(decisionStates).exactOptional() }), page: pageRequest }),
    value: pageOf(DecisionViewSchema),
    changes: false,
  },
  decision: { body: z.strictObject({ decision: id }), value: DecisionViewSchema, changes: false },
  effects: {
    body: z.strictObject({ filter: z.strictObject({ run: id.exactOptional(), state: z.array(effectStates).exactOptional() }), page: pageRequest }),
    value: pageOf(EffectViewSchema),
    changes: false,
  },
  effect: { body: z.strictObject({ key: id }), value: EffectViewSchema, changes: false },
  audit: { body: z.strictObject({ decision: id }), value: DecisionAuditSchema, changes: false },
  updates: { body: z.strictObject({ filter: z.strictObject({ run: id }), page: pageRequest }), value: pageOf(UpdateViewSchema), changes: false },
  start: {
    body: z.strictObject({
      /** The id that the run gets: made by the client, so that asking again starts nothing twice. */
      id: z.string().regex(runIdPattern),
      workflow: z.string().min(1).max(4096),
      input: z.unknown(),
      cwd: z.string().min(1).max(4096),
      idempotencyKey: z.string().max(512).exactOptional(),
      session: z.string().min(1).max(1024).exactOptional(),
    }),
    value: z.strictObject({ id, duplicate: z.boolean() }),
    changes: true,
  },
  answer: {
    body: z.strictObject({
      decision: id,
      choice: z.string().max(1024),
      text: z.string().exactOptional(),
      idempotencyKey: z.string().min(1).max(1024),
      requestDigest: z.string().max(64).exactOptional(),
      revision: z.int().exactOptional(),
      source: z.strictObject({ kind: z.enum(["human", "model", "program"]), channel: z.string().max(1024), actor: z.string().max(1024) }),
    }),
    value: AnswerResultSchema,
    changes: true,
  },
  answerCheckpoint: {
    body: z.strictObject({
      run: id,
      visit: id.exactOptional(),
      output: z.unknown(),
      idempotencyKey: z.string().min(1).max(512),
      source: z.strictObject({ kind: z.enum(["human", "model", "program"]), channel: z.string().max(1024), actor: z.string().max(1024) }),
    }),
    value: CheckpointResultSchema,
    changes: true,
  },
  cancel: { body: z.strictObject({ id, by: z.enum(["user", "agent"]) }), value: RunViewSchema, changes: true },
  pause: { body: z.strictObject({ id }), value: RunViewSchema, changes: true },
  resume: { body: z.strictObject({ id }), value: RunViewSchema, changes: true },
  hold: { body: z.strictObject({ id }), value: RunViewSchema, changes: true },
  adoptRun: { body: z.strictObject({ id, session: z.string().min(1).max(1024) }), value: RunViewSchema, changes: true },
  /** `attempt`: the one that the person spoke of. One that has moved on since is answered as it stands, so asking again changes nothing. */
  confirmEffect: { body: z.strictObject({ key: id, attempt: z.int(), output: z.unknown() }), value: EffectViewSchema, changes: true },
  retryEffect: { body: z.strictObject({ key: id, attempt: z.int() }), value: EffectViewSchema, changes: true },
  /** Answered when the run rests. */
  wait: { body: z.strictObject({ id }), value: RunViewSchema, changes: false },
  /** Events come under the id of this request from now on. */
  subscribe: { body: nothing, value: nothing, changes: false },
  unsubscribe: { body: z.strictObject({ subscription: id }), value: nothing, changes: false },
  /** The answer to an earlier request is not waited for any more; what it asked for goes on. */
  abandon: { body: z.strictObject({ request: id }), value: nothing, changes: false },
  status: { body: nothing, value: HostStatusSchema, changes: false },
  /** `ifIdle`: only when no run moves by itself and no other client is there. */
  stop: { body: z.strictObject({ ifIdle: z.boolean() }), value: z.strictObject({ pid: z.int() }), changes: false },
} as const;

export type RequestKind = keyof typeof requests;
export type RequestBody<K extends RequestKind> = z.infer<(typeof requests)[K]["body"]>;
export type RequestValue<K extends RequestKind> = z.infer<(typeof requests)[K]["value"]>;

export const isRequestKind = (kind: string): kind is RequestKind => Object.hasOwn(requests, kind);

/** A request with the body that belongs to its kind. */
export type ParsedRequest = { readonly [K in RequestKind]: { readonly kind: K; readonly body: RequestBody<K> } }[RequestKind];

/** @throws invalidInput with the path; nothing was done then */
export function parseRequest(kind: string, body: unknown): ParsedRequest {
  if (!isRequestKind(kind))
    throw new PawlError("invalidInput", `This host knows no request of the kind "${kind.slice(0, 40)}". Nothing was done.`, { path: "kind" });
  const parsed = requests[kind].body.safeParse(body);
  if (!parsed.success) {
    const { path, problem } = firstIssue(parsed.error);
    throw new PawlError("invalidInput", `The request "${kind}" is wrong at "${path}": ${problem}. Nothing was done.`, {
      path: path === "" ? "body" : `body.${path}`,
    });
  }
  return { kind, body: parsed.data } as ParsedRequest; // parsed by the schema of this very kind
}

/** @throws protocolBroken for an answer that is none to this kind of request */
export function parseValue<K extends RequestKind>(kind: K, value: unknown): RequestValue<K> {
  const parsed = requests[kind].value.safeParse(value);
  if (!parsed.success) {
    const { path, problem } = firstIssue(parsed.error);
    throw malformed(`an answer to "${kind}" that is wrong at "${path}" (${problem})`, path);
  }
  return parsed.data as RequestValue<K>; // parsed by the schema of this very kind
}

/** An error as it travels. Its message is made for people and carries no secret. */
export const WireError = z.strictObject({
  code: z.string(),
  message: z.string(),
  subject: z.string().exactOptional(),
  path: z.string().exactOptional(),
});
export type WireError = z.infer<typeof WireError>;

export function wireError(error: unknown): WireError {
  if (!isPawlError(error)) return { code: "internal", message: messageOf(error) };
  const { code, message, subject, path } = error;
  return { code, message, ...(subject === undefined ? {} : { subject }), ...(path === undefined ? {} : { path }) };
}

/** The error on the other side, as this build knows it. */
export function errorOfWire({ code, message, subject, path }: WireError): PawlError {
  const known: PawlErrorCode = Object.hasOwn(errorKinds, code) ? (code as PawlErrorCode) : "internal"; // its keys are the codes
  return new PawlError(known, message, { ...(subject === undefined ? {} : { subject }), ...(path === undefined ? {} : { path }) });
}

/** What a host says. `welcome` and `refused` answer hello; `refused` may also come later, as the last line before the host closes the connection. */
export const hostMessages = {
  welcome: z.strictObject({ version: z.int(), host: z.strictObject({ pid: z.int(), version: z.string() }) }),
  refused: WireError,
  reply: z.strictObject({ value: z.unknown() }),
  failed: z.strictObject({ error: WireError }),
  event: z.strictObject({ event: RunEventSchema }),
  /** Events were left out, since they were read too slowly: read anew what matters. */
  lagged: nothing,
  /** The host ends, as it was told to. */
  closing: z.strictObject({ reason: z.string() }),
} as const;

export type HostMessageKind = keyof typeof hostMessages;
export type HostMessage = { readonly [K in HostMessageKind]: { readonly kind: K; readonly body: z.infer<(typeof hostMessages)[K]> } }[HostMessageKind];

/** @throws protocolBroken with the path */
export function parseHostMessage(kind: string, body: unknown): HostMessage {
  const isKnown = (word: string): word is HostMessageKind => Object.hasOwn(hostMessages, word);
  if (!isKnown(kind)) throw malformed("a message of a kind that this client does not know", "kind");
  const parsed = hostMessages[kind].safeParse(body);
  if (!parsed.success) {
    const { path, problem } = firstIssue(parsed.error);
    throw malformed(`a message "${kind}" that is wrong at "${path}" (${problem})`, `body.${path}`);
  }
  return { kind, body: parsed.data } as HostMessage; // parsed by the schema of this very kind
}

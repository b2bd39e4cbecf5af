/** The closed vocabulary between host and worker, checked on both sides. Values of authors travel as JSON text: structured clone would refuse some that JSON carries. */
import { z } from "zod";
import { Graph } from "../../workflow/graph.ts";
import { lineLimit } from "../boundedOutput.ts";
import { WireError } from "./wireError.ts";

const text = z.string();
const number = z.int().min(0);

/** A place in the texts that were sent with the call. */
const place = number;

const storedWorkflow = { source: text, graph: text, cwd: text };
const storedRun = { ...storedWorkflow, run: text, input: z.strictObject({ text: place, isParsed: z.boolean(), of: text.exactOptional() }) };
const Result = z.discriminatedUnion("status", [
  z.strictObject({ status: z.literal("accepted"), visit: text, text: place }),
  z.strictObject({ status: z.enum(["failed", "timedOut"]), visit: text, error: z.object({ reason: text, message: text }) }),
]);
const visit = {
  ...storedRun,
  node: text,
  visit: text,
  attempt: number,
  idempotencyKey: text,
  now: z.number(),
  results: z.record(text, Result),
};
const machine = { ...storedWorkflow, node: text, path: z.array(text) };
/** Absent: undefined. */
const promise = { src: text, input: place.optional(), key: text, idempotencyKey: text, attempt: number };
const ShellResult = z.strictObject({
  exitCode: z.number().nullable(),
  signal: text.nullable(),
  stdout: text,
  stderr: text,
  truncated: z.strictObject({ stdout: z.boolean(), stderr: z.boolean() }),
});

/** What each call is told. `directory` holds the stored sources as files. */
export const Bodies = {
  load: z.strictObject({ workflow: text, cwd: text, userHome: text, input: place.nullable(), isLook: z.boolean() }),
  ready: z.strictObject({ directory: text, call: z.strictObject(storedRun) }),
  prepare: z.strictObject({ directory: text, call: z.strictObject(storedRun) }),
  execute: z.strictObject({ directory: text, call: z.strictObject(visit) }),
  shellSpec: z.strictObject({ directory: text, call: z.strictObject(visit) }),
  parseShell: z.strictObject({ directory: text, call: z.strictObject(visit), result: ShellResult }),
  prepareNode: z.strictObject({ directory: text, call: z.strictObject(visit) }),
  acceptNode: z.strictObject({ directory: text, call: z.strictObject(visit), output: place }),
  acceptOutput: z.strictObject({ directory: text, workflow: z.strictObject(storedWorkflow), node: text, output: place }),
  open: z.strictObject({ directory: text, workflow: z.strictObject(storedWorkflow) }),
  step: z.strictObject({
    directory: text,
    machine: z.strictObject(machine),
    request: z.strictObject({
      actor: text,
      parent: text.nullable(),
      key: text.nullable(),
      names: z.array(z.tuple([text, text])).nullable(),
      from: place.nullable(),
      given: place,
    }),
  }),
  perform: z.strictObject({ directory: text, machine: z.strictObject(machine), name: text }),
  promise: z.strictObject({ directory: text, machine: z.strictObject(machine), call: z.strictObject(promise) }),
  observe: z.strictObject({ directory: text, machine: z.strictObject(machine), call: z.strictObject(promise) }),
} as const;

const Executed = z.strictObject({ case: text, json: text });

/** What each call is answered. */
export const Answers = {
  load: z.strictObject({
    name: text,
    graph: Graph,
    graphDigest: text,
    included: z.array(Graph),
    source: text,
    blobs: z.array(z.instanceof(Uint8Array)).min(1),
  }),
  ready: z.null(),
  /** JSON text of the parsed input. */
  prepare: text.nullable(),
  execute: Executed,
  shellSpec: z.strictObject({
    command: text,
    args: z.array(text),
    cwd: text.nullable(),
    /** Null takes a variable away. */
    env: z.array(z.tuple([text, text.nullable()])),
    stdin: text.nullable(),
    timeoutMs: z.number().nullable(),
    allowNonZeroExit: z.boolean(),
  }),
  parseShell: Executed,
  /** JSON text of what was prepared. */
  prepareNode: text,
  acceptNode: Executed,
  acceptOutput: Executed,
  open: z.null(),
  step: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("needsNames") }),
    z.strictObject({ kind: z.literal("unchanged") }),
    z.strictObject({ kind: z.literal("stepped"), usesTime: z.boolean(), json: text }),
  ]),
  perform: z.null(),
  /** JSON text of the output; null: undefined. */
  promise: text.nullable(),
  observe: z
    .discriminatedUnion("happened", [z.strictObject({ happened: z.literal(true), output: text.nullable() }), z.strictObject({ happened: z.literal(false) })])
    .nullable(),
} as const;

export type Method = keyof typeof Bodies;
export type Body<M extends Method> = z.infer<(typeof Bodies)[M]>;
export type Answer<M extends Method> = z.infer<(typeof Answers)[M]>;

const methods = Object.keys(Bodies) as [Method, ...Method[]]; // the keys of `Bodies` are exactly Method
const reason = z.enum(["cancelled", "timedOut", "silent", "shutdown"]);

const UpdateReceipt = z.strictObject({ type: text, key: text, revision: number, at: z.number() });

export const ToWorker = z.discriminatedUnion("kind", [
  /** A text that the next call names by its place; null: the worker was given it before, under the same key. */
  z.strictObject({ kind: z.literal("text"), key: text, json: text.nullable() }),
  z.strictObject({ kind: z.literal("call"), call: number, method: z.enum(methods), body: z.unknown() }),
  z.strictObject({ kind: z.literal("abort"), call: number, reason }),
  /** What became of an update. */
  z.strictObject({ kind: z.literal("updated"), call: number, number, receipt: UpdateReceipt }),
  z.strictObject({ kind: z.literal("updateRefused"), call: number, number, error: WireError }),
  z.strictObject({ kind: z.literal("ping") }),
  /** Its project, for one that was started before anybody needed it. */
  z.strictObject({ kind: z.literal("enter"), cwd: text }),
]);
export type ToWorker = z.infer<typeof ToWorker>;

export const FromWorker = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("ready") }),
  z.strictObject({ kind: z.literal("answered"), call: number, answer: z.unknown() }),
  z.strictObject({ kind: z.literal("threw"), call: number, error: WireError }),
  z.strictObject({ kind: z.literal("line"), call: number, line: text.max(lineLimit) }),
  /** The code of the call gave a sign of life. */
  z.strictObject({ kind: z.literal("beat"), call: number }),
  /** The code of the call publishes something. */
  z.strictObject({ kind: z.literal("update"), call: number, number, update: z.strictObject({ type: text, key: text, data: z.unknown() }) }),
  /** Something was thrown that nothing caught: the process is about to end. */
  z.strictObject({ kind: z.literal("lastWords"), message: text }),
  z.strictObject({ kind: z.literal("pong") }),
]);
export type FromWorker = z.infer<typeof FromWorker>;

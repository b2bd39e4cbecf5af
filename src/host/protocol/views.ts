/** The views of api.ts as schemas: what a host may answer, checked by the client before anybody reads it. HOST-43. */
import { z } from "zod";
import { Progress } from "../../../machines/contracts/progress.ts";
import { DecisionSettlement } from "../../../machines/contracts/settlement.ts";
import { DecisionChannelRequest, DecisionSource } from "../../../machines/contracts/decision.ts";
import { deliveryStates } from "../../../machines/contracts/delivery.ts";
import type { DecisionCandidate } from "../../../machines/decisionVerdicts.ts";
import type { DecisionState, EffectState, RunState } from "../../../persistence/store.ts";
import type { AnswerResult, CheckpointResult, DecisionAudit, DecisionView, EffectView, RunEvent, RunSummary, RunView, UpdateView, VisitView } from "../api.ts";

/** A schema that covers a type: what it gives fits `V`, and it knows every key of `V`. */
const covers =
  <V>() =>
  <S extends z.ZodType<V>>(schema: S & ([keyof V] extends [keyof z.infer<S>] ? unknown : never)): S =>
    schema;

const id = z.string().min(1).max(1024);
const time = z.number();

/** All words of a union, each exactly once: the record does not compile while one is missing. */
const wordsOf = <W extends string>(words: { readonly [word in W]: true }) => z.enum(Object.keys(words) as [W, ...W[]]); // the keys of `words` are exactly W

export const runStates = wordsOf<RunState>({
  queued: true,
  starting: true,
  running: true,
  pausing: true,
  paused: true,
  held: true,
  waiting: true,
  ambiguous: true,
  blocked: true,
  completed: true,
  failed: true,
  timedOut: true,
  cancelled: true,
});
export const decisionStates = wordsOf<DecisionState>({ open: true, accepted: true, defaulted: true, cancelled: true, expired: true });
export const effectStates = wordsOf<EffectState>({ planned: true, attempting: true, confirmed: true, failed: true, ambiguous: true, dropped: true });
const candidateOutcomes = wordsOf<DecisionCandidate["outcome"]>({
  won: true,
  lost: true,
  accepted: true,
  duplicate: true,
  keyReused: true,
  alreadyDecided: true,
  cancelled: true,
  expired: true,
  stale: true,
  invalid: true,
  unauthorised: true,
  humanOnly: true,
  defaulted: true,
  blocked: true,
});
const visitStatuses = wordsOf<VisitView["status"]>({
  running: true,
  waiting: true,
  accepted: true,
  failed: true,
  timedOut: true,
  cancelled: true,
  ambiguous: true,
});

export const EffectViewSchema = covers<EffectView>()(
  z.strictObject({
    key: id,
    visit: id.nullable(),
    type: z.string(),
    run: id,
    state: effectStates,
    attempt: z.int(),
    once: z.boolean(),
    error: z.strictObject({ reason: z.string(), message: z.string() }).nullable(),
    ambiguousSince: time.nullable(),
    createdAt: time,
  }),
);

export const DecisionViewSchema = covers<DecisionView>()(
  z.strictObject({
    id,
    run: id,
    node: z.string(),
    visit: id,
    state: decisionStates,
    code: z.string(),
    title: z.string(),
    audience: z.string(),
    deadlineAt: time.nullable(),
    defaultChoice: z.string().nullable(),
    choice: z.string().nullable(),
    createdAt: time,
    settledAt: time.nullable(),
    request: DecisionChannelRequest,
    delivery: z
      .strictObject({
        local: z.boolean(),
        deliver: z.enum(["any", "all"]),
        channels: z.array(z.strictObject({ channel: id, state: z.enum(deliveryStates) })),
        isDelivered: z.boolean(),
        problem: z.string().nullable(),
      })
      .nullable(),
    settlement: DecisionSettlement.nullable(),
  }),
);

export const DecisionAuditSchema = covers<DecisionAudit>()(
  z.strictObject({
    decision: id,
    code: z.string(),
    title: z.string(),
    state: decisionStates,
    candidates: z.array(
      z.strictObject({
        kind: z.enum(["human", "policy", "channel", "control"]),
        outcome: candidateOutcomes,
        at: time,
        source: DecisionSource.nullable(),
        idempotencyKey: z.string().nullable(),
        choice: z.string().nullable(),
        input: z.string().nullable(),
        requestDigest: z.string().nullable(),
        revision: z.int().nullable(),
        reason: z.string().nullable(),
      }),
    ),
    unlisted: z.int().min(0),
  }),
);

const VisitViewSchema = covers<VisitView>()(
  z.strictObject({
    id,
    node: z.string(),
    kind: z.string(),
    status: visitStatuses,
    attempt: z.int(),
    case: z.string().nullable(),
    output: z.unknown(),
    error: z.strictObject({ reason: z.string(), message: z.string() }).nullable(),
    startedAt: time,
    endedAt: time.nullable(),
  }),
);

export const UpdateViewSchema = covers<UpdateView>()(
  z.strictObject({
    type: z.string(),
    key: z.string(),
    visit: id,
    node: z.string(),
    revision: z.int().min(1),
    data: z.unknown(),
    progress: Progress.extend({ perSecond: z.number().nullable(), remainingMs: z.number().nullable() }).nullable(),
    createdAt: time,
    updatedAt: time,
  }),
);

const summary = {
  id,
  workflow: z.string(),
  state: runStates,
  createdAt: time,
  updatedAt: time,
  endedAt: time.nullable(),
  reason: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  since: time.nullable(),
  pausedAt: time.nullable(),
  current: z.string().nullable(),
  awaits: z
    .discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("time"), visit: id, node: z.string(), dueAt: time }),
      z.strictObject({ kind: z.literal("checkpoint"), visit: id, node: z.string(), title: z.string(), prompt: z.string() }),
    ])
    .nullable(),
  decisions: z.array(DecisionViewSchema),
  ambiguous: z.array(EffectViewSchema),
};

export const RunSummarySchema = covers<RunSummary>()(z.strictObject(summary));
export const RunViewSchema = covers<RunView>()(
  z.strictObject({ ...summary, input: z.unknown(), result: z.unknown(), visits: z.array(VisitViewSchema), updates: z.array(UpdateViewSchema) }),
);

export const AnswerResultSchema = covers<AnswerResult>()(
  z.strictObject({
    status: z.enum(["accepted", "duplicate", "refused"]),
    code: z.string().nullable(),
    message: z.string(),
    decision: DecisionViewSchema.nullable(),
  }),
);

export const CheckpointResultSchema = covers<CheckpointResult>()(
  z.strictObject({ status: z.enum(["accepted", "duplicate", "refused"]), code: z.string().nullable(), message: z.string(), visit: id }),
);

export const RunEventSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("run"), run: id, state: runStates, at: time }),
  z.strictObject({
    kind: z.literal("visit"),
    run: id,
    visit: id,
    node: z.string(),
    nodeKind: z.string(),
    status: visitStatuses,
    attempt: z.int(),
    at: time,
  }),
  z.strictObject({ kind: z.literal("line"), run: id, visit: id, node: z.string(), text: z.string(), at: time }),
  z.strictObject({ kind: z.literal("update"), run: id, update: UpdateViewSchema, at: time }),
  z.strictObject({
    kind: z.literal("notification"),
    run: id,
    visit: id,
    node: z.string(),
    as: z.enum(["progress", "final"]),
    text: z.string(),
    at: time,
  }),
  z.strictObject({ kind: z.literal("decision"), run: id, decision: id, state: decisionStates, at: time }),
]) satisfies z.ZodType<RunEvent>;

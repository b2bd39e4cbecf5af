/** Rows of effects: work outside the database, from planning to its end. What was asked for never changes; how it stands does. */
import type { Database } from "better-sqlite3";
import type { EffectRecord, EffectState, EffectWrite } from "../store.ts";
import { blobOf, flag, hashBytes, hashText, jsonOf, requiredValue, sizeOfBlob, storedValue } from "../values.ts";

interface Progress {
  readonly key: string;
  readonly state: EffectState;
  readonly attempt: number;
  readonly interruptions: number;
  readonly fingerprint: Buffer;
  readonly outputJson: string | null;
  readonly outputBlob: Buffer | null;
  readonly errorReason: string | null;
  readonly errorMessage: string | null;
  readonly processPgid: number | null;
  readonly processStartToken: string | null;
  readonly notBefore: number | null;
  readonly updatedAt: number;
  readonly ambiguousSince: number | null;
}

interface Stored extends Progress {
  readonly actor: string;
  readonly root: string;
  readonly invokeId: string | null;
  readonly type: string;
  readonly visit: string | null;
  readonly idempotencyKey: string;
  readonly once: 0 | 1;
  readonly policy: string;
  readonly inputJson: string | null;
  readonly inputBlob: Buffer | null;
  readonly createdAt: number;
}

export interface EffectColumns extends Stored {
  readonly inputBytes: number | null;
  readonly outputBytes: number | null;
}

export const effectColumns = `key, actor, root, invoke_id as invokeId, type, visit, idempotency_key as idempotencyKey, state, attempt, interruptions, once, policy,
  input_json as inputJson, input_blob as inputBlob, ${sizeOfBlob("input_blob")} as inputBytes, fingerprint,
  output_json as outputJson, output_blob as outputBlob, ${sizeOfBlob("output_blob")} as outputBytes,
  error_reason as errorReason, error_message as errorMessage, process_pgid as processPgid, process_start_token as processStartToken,
  not_before_ms as notBefore, created_at_ms as createdAt, updated_at_ms as updatedAt, ambiguous_since_ms as ambiguousSince`;

export const selectEffect = `select ${effectColumns} from effects where key = ?`;

export const selectEffectOfVisit = `select ${effectColumns} from effects where visit = ?`;

export const selectOpenEffects = `select ${effectColumns} from effects where state in ('planned', 'attempting') and key > ? order by key limit ?`;

export const insertEffect = `insert into effects (key, actor, root, invoke_id, type, visit, idempotency_key, state, attempt, interruptions, once, policy, input_json, input_blob, fingerprint,
    output_json, output_blob, error_reason, error_message, process_pgid, process_start_token, not_before_ms, created_at_ms, updated_at_ms, ambiguous_since_ms)
  values (:key, :actor, :root, :invokeId, :type, :visit, :idempotencyKey, :state, :attempt, :interruptions, :once, :policy, :inputJson, :inputBlob, :fingerprint,
    :outputJson, :outputBlob, :errorReason, :errorMessage, :processPgid, :processStartToken, :notBefore, :createdAt, :updatedAt, :ambiguousSince)
  on conflict (key) do nothing`;

export const updateEffect = `update effects set state = :state, attempt = :attempt, interruptions = :interruptions, output_json = :outputJson, output_blob = :outputBlob,
    error_reason = :errorReason, error_message = :errorMessage, process_pgid = :processPgid, process_start_token = :processStartToken,
    not_before_ms = :notBefore, updated_at_ms = :updatedAt, ambiguous_since_ms = :ambiguousSince
  where key = :key and state = :expectedState and attempt = :expectedAttempt and fingerprint = :fingerprint`;

const progressOf = (record: EffectRecord): Progress => ({
  key: record.key,
  state: record.state,
  attempt: record.attempt,
  interruptions: record.interruptions,
  fingerprint: hashBytes(record.fingerprint),
  outputJson: jsonOf(record.output),
  outputBlob: blobOf(record.output),
  errorReason: record.error?.reason ?? null,
  errorMessage: record.error?.message ?? null,
  processPgid: record.process?.pgid ?? null,
  processStartToken: record.process?.startToken ?? null,
  notBefore: record.notBefore,
  updatedAt: record.updatedAt,
  ambiguousSince: record.ambiguousSince,
});

const columnsOf = (record: EffectRecord): Stored => ({
  ...progressOf(record),
  actor: record.actor,
  root: record.root,
  invokeId: record.invokeId,
  type: record.type,
  visit: record.visit,
  idempotencyKey: record.idempotencyKey,
  once: flag(record.once),
  policy: record.policy,
  inputJson: jsonOf(record.input),
  inputBlob: blobOf(record.input),
  createdAt: record.createdAt,
});

export function effectOf(row: EffectColumns): EffectRecord {
  const { inputJson, inputBlob, inputBytes, outputJson, outputBlob, outputBytes, errorReason, errorMessage, processPgid, processStartToken, ...rest } = row;
  return {
    ...rest,
    once: row.once === 1,
    fingerprint: hashText(row.fingerprint),
    input: requiredValue(inputJson, inputBlob, inputBytes),
    output: storedValue(outputJson, outputBlob, outputBytes),
    error: errorReason === null ? null : { reason: errorReason, message: errorMessage ?? "" },
    process: processPgid === null ? null : { pgid: processPgid, startToken: processStartToken ?? "" },
  };
}

/** Writes an effect; a false answer means that it stands otherwise than expected, or was asked for with another request. */
export function effectWriter(db: Database): (write: EffectWrite) => boolean {
  const insert = db.prepare<[Stored]>(insertEffect);
  const update = db.prepare<[Progress & { expectedState: EffectState; expectedAttempt: number }]>(updateEffect);
  return ({ expect, record }) => {
    if (expect === null) return insert.run(columnsOf(record)).changes === 1;
    return update.run({ ...progressOf(record), expectedState: expect.state, expectedAttempt: expect.attempt }).changes === 1;
  };
}

export interface EffectReader {
  byKey(key: string): EffectRecord | undefined;
  byVisit(visit: string): EffectRecord | undefined;
  open(after: string, limit: number): EffectRecord[];
}

export function effectReader(db: Database): EffectReader {
  const byKey = db.prepare<[string], EffectColumns>(selectEffect);
  const byVisit = db.prepare<[string], EffectColumns>(selectEffectOfVisit);
  const open = db.prepare<[string, number], EffectColumns>(selectOpenEffects);
  const one = (row: EffectColumns | undefined): EffectRecord | undefined => row && effectOf(row);
  return { byKey: (key) => one(byKey.get(key)), byVisit: (visit) => one(byVisit.get(visit)), open: (after, limit) => open.all(after, limit).map(effectOf) };
}

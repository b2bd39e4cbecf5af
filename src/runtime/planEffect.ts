/** Effect rows as transitions ask for them, and as they are given up. */
import { sha256Hex } from "../digest.ts";
import type { EffectOptions } from "../../machines/define.ts";
import { policyFor } from "../../machines/policy.ts";
import type { ActorRecord, EffectRecord } from "../../persistence/store.ts";
import { jsonText } from "../json.ts";
import type { Draft } from "./draft.ts";
import { effectStep, isOpen } from "./effectRow.ts";
import { refsInMessages } from "./refs.ts";

export interface EffectAsked {
  /** Name the actor awaits its result by; null for an action's effect. */
  readonly invokeId: string | null;
  readonly type: string;
  readonly options: EffectOptions<unknown>;
  readonly input: unknown;
  /** Which it is of those that the actor's step asked for. */
  readonly ordinal: number;
}

/** Plans an effect and gives its key. `isAdopted`: it begins as soon as it is committed. @throws invalidValue, invalidMachine */
export function planEffect(draft: Draft, record: ActorRecord, { invokeId, type, options, input, ordinal }: EffectAsked, isAdopted: boolean): string {
  const key = `${record.id}@${record.revision}:${ordinal}`;
  const visitName = options.visit?.(input);
  const visit = visitName === undefined ? null : `${record.id}/${visitName}`;
  const text = jsonText(input ?? null, `input of "${invokeId ?? type}" in actor "${record.id}"`, refsInMessages);
  const effect: EffectRecord = {
    key,
    actor: record.id,
    root: record.root,
    invokeId,
    type,
    visit,
    idempotencyKey: visit ?? key,
    state: "planned",
    attempt: 1,
    interruptions: 0,
    once: typeof options.once === "function" ? options.once(input) : (options.once ?? false),
    policy: JSON.stringify(policyFor(options, input, `Effect "${invokeId ?? type}" of actor "${record.id}"`)),
    input: draft.storeText(text),
    fingerprint: sha256Hex(`${type}\n${text}`),
    output: null,
    error: null,
    process: null,
    notBefore: isAdopted ? null : draft.at,
    createdAt: draft.at,
    updatedAt: draft.at,
    ambiguousSince: null,
  };
  draft.putEffect(effect, null);
  return key;
}

/** Nobody wants the result any more. */
export async function dropEffect(draft: Draft, key: string): Promise<void> {
  const record = await draft.effect(key);
  if (!record || !isOpen(record.state)) return;
  const next = effectStep(record, { type: "effect.dropped" });
  if (next) draft.putEffect({ ...record, ...next, updatedAt: draft.at, ambiguousSince: next.state === "ambiguous" ? draft.at : null }, record);
}

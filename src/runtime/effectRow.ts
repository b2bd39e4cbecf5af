/** effectMachine over its row: reads the flat snapshot, takes one pure step, gives the row's next state. */
import { effectMachine, type EffectContext, type EffectEvent } from "../../machines/effectMachine.ts";
import type { EffectPolicy } from "../../machines/policy.ts";
import type { EffectRecord, EffectState } from "../../persistence/store.ts";
import { createStepper, type Hydrated } from "./step.ts";

export const policyOf = (record: EffectRecord): EffectPolicy => JSON.parse(record.policy) as EffectPolicy; // written by the cascade from policyFor()

export const isOpen = (state: EffectState): boolean => state === "planned" || state === "attempting";

/** The row after `event`, without output, error or times; null when its state has no transition for it. */
export function effectStep(record: EffectRecord, event: EffectEvent): Pick<EffectRecord, "state" | "attempt" | "interruptions"> | null {
  const policy = policyOf(record);
  const context: EffectContext = { once: record.once, attempt: record.attempt, interruptions: record.interruptions, maxAttempts: policy.retry?.maxAttempts ?? 1, maxInterrupted: policy.maxInterrupted };
  const from = base[record.state];
  const { changed, next } = stepper.step({ ...from, snapshot: { ...from.snapshot, context } }, event);
  if (!changed) return null;
  const after = next.snapshot as unknown as { value: EffectState; context: EffectContext }; // the chart's states are the row's states: a test compares them
  return { state: after.value, attempt: after.context.attempt, interruptions: after.context.interruptions };
}

const stepper = createStepper(effectMachine);
const final: readonly EffectState[] = ["confirmed", "failed", "dropped"];
const hydrated = (state: EffectState): Hydrated => stepper.hydrate("effect", null, JSON.stringify({ status: final.includes(state) ? "done" : "active", value: state, context: {}, children: {}, historyValue: {} }));

const base: { readonly [S in EffectState]: Hydrated } = {
  planned: hydrated("planned"),
  attempting: hydrated("attempting"),
  confirmed: hydrated("confirmed"),
  failed: hydrated("failed"),
  ambiguous: hydrated("ambiguous"),
  dropped: hydrated("dropped"),
};

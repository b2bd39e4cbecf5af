/** effectMachine over its row: reads the flat snapshot, takes one pure step, gives the row's next state. */
import { effectMachine, type EffectContext, type EffectEvent } from "../../machines/effectMachine.ts";
import type { EffectPolicy } from "../../machines/policy.ts";
import type { EffectRecord, EffectState } from "../../persistence/store.ts";
import { createStepper, type Hydrated } from "./step.ts";

export function policyOf({ policy }: EffectRecord): EffectPolicy {
  if (policy !== latest?.text) latest = { text: policy, policy: JSON.parse(policy) as EffectPolicy }; // written by the cascade from policyFor()
  return latest.policy;
}

/** Most effects in a row have the same. */
let latest: { readonly text: string; readonly policy: EffectPolicy } | undefined;

export const isOpen = (state: EffectState): boolean => state === "planned" || state === "attempting";

type Standing = Pick<EffectRecord, "state" | "attempt" | "interruptions">;

/** The row after `event`, without output, error or times; null when its state has no transition for it. */
export function effectStep(record: EffectRecord, event: EffectEvent): Standing | null {
  const { retry, maxInterrupted } = policyOf(record);
  const isOpenAttempt = !("attempt" in event) || event.attempt === record.attempt;
  const mayTryAgain = record.attempt < (retry?.maxAttempts ?? 1);
  const mayRunAgain = maxInterrupted === null || record.interruptions + 1 < maxInterrupted;
  // The chart compares these numbers and nothing else, so its answer to a small case is its answer to all that compare alike: each is computed once.
  const context: EffectContext = { once: record.once, attempt: 2, interruptions: 0, maxAttempts: mayTryAgain ? 3 : 2, maxInterrupted: mayRunAgain ? null : 1 };
  const alike: EffectEvent = "attempt" in event ? { ...event, attempt: isOpenAttempt ? 2 : 1 } : event;
  const key = `${record.state} ${String(context.once)} ${context.maxAttempts} ${String(context.maxInterrupted)} ${Object.values(alike).join(" ")}`;
  let answer = answers.get(key);
  if (answer === undefined) {
    answer = chartStep(record.state, context, alike);
    answers.set(key, answer);
  }
  return answer && { state: answer.state, attempt: record.attempt + answer.attempt - 2, interruptions: record.interruptions + answer.interruptions };
}

const answers = new Map<string, Standing | null>();

function chartStep(state: EffectState, context: EffectContext, event: EffectEvent): Standing | null {
  const from = base[state];
  const { changed, next } = stepper.step({ ...from, snapshot: { ...from.snapshot, context } }, event);
  if (!changed) return null;
  const after = next.snapshot as unknown as { value: EffectState; context: EffectContext }; // the chart's states are the row's states: a test compares them
  return { state: after.value, attempt: after.context.attempt, interruptions: after.context.interruptions };
}

const stepper = createStepper(effectMachine);
const final: readonly EffectState[] = ["confirmed", "failed", "dropped"];
const hydrated = (state: EffectState): Hydrated =>
  stepper.hydrate(
    "effect",
    null,
    JSON.stringify({ status: final.includes(state) ? "done" : "active", value: state, context: {}, children: {}, historyValue: {} }),
  );

const base: { readonly [S in EffectState]: Hydrated } = {
  planned: hydrated("planned"),
  attempting: hydrated("attempting"),
  confirmed: hydrated("confirmed"),
  failed: hydrated("failed"),
  ambiguous: hydrated("ambiguous"),
  dropped: hydrated("dropped"),
};

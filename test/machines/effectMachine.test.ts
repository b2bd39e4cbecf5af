import { describe, expect, test } from "vitest";
import { effectMachine, EffectEvent } from "../../machines/effectMachine.ts";
import type { EffectRecord, EffectState } from "../../persistence/store.ts";
import { effectStep } from "../../src/runtime/effectRow.ts";

const states: readonly EffectState[] = ["planned", "attempting", "ambiguous", "confirmed", "failed", "dropped"];

const events: readonly EffectEvent[] = [
  { type: "effect.begun", attempt: 2 },
  { type: "effect.succeeded", attempt: 2 },
  { type: "effect.succeeded", attempt: 1 },
  { type: "effect.failed", attempt: 2, mayRetry: true },
  { type: "effect.failed", attempt: 2, mayRetry: false },
  { type: "effect.failed", attempt: 1, mayRetry: true },
  { type: "effect.unproven", attempt: 2, mayRetry: true },
  { type: "effect.unproven", attempt: 1, mayRetry: true },
  { type: "effect.interrupted" },
  { type: "effect.released" },
  { type: "effect.dropped" },
  { type: "effect.confirm" },
  { type: "effect.retry" },
];

interface Variant {
  readonly once: boolean;
  readonly maxAttempts: number;
  readonly interruptions: number;
}

/** A row in its second attempt, with a bound of three interruptions. */
const row = (state: EffectState, { once, maxAttempts, interruptions }: Variant): EffectRecord => ({
  key: "a@1:0",
  actor: "a",
  root: "a",
  invokeId: "work",
  type: "test.work",
  visit: null,
  idempotencyKey: "a@1:0",
  state,
  attempt: 2,
  interruptions,
  once,
  policy: JSON.stringify({ retry: { maxAttempts, initialMs: 1 }, timeoutMs: null, maxInterrupted: 3 }),
  input: { json: "null" },
  fingerprint: "0".repeat(64),
  output: null,
  error: null,
  process: null,
  notBefore: null,
  createdAt: 1,
  updatedAt: 1,
  ambiguousSince: null,
});

/** `state:attempt` after each event; a dash: no transition. */
const table = (state: EffectState, variant: Variant): readonly string[] =>
  events.map((event) => {
    const next = effectStep(row(state, variant), event);
    return next ? `${next.state}:${next.attempt}` : "-";
  });

const plain: Variant = { once: false, maxAttempts: 3, interruptions: 0 };
const once: Variant = { once: true, maxAttempts: 3, interruptions: 0 };

describe("the effect row and its chart", () => {
  test("EFFECT-2 every state and event has its answer, for an effect that may run again", () => {
    expect(Object.keys(effectMachine.states).sort()).toEqual([...states].sort());
    //                                    begun          ok             ok old  failed         failed!     old  unproven      old  interrupted  released     dropped      confirm        retry
    expect(table("planned", plain)).toEqual(["-", "confirmed:2", "-", "planned:3", "failed:2", "-", "planned:3", "-", "planned:3", "planned:3", "dropped:2", "-", "-"]);
    for (const state of ["confirmed", "failed", "dropped"] as const) expect(table(state, plain)).toEqual(events.map(() => "-"));
  });

  test("EFFECT-3 every state and event has its answer, for an effect that must not run twice", () => {
    expect(table("planned", once)).toEqual(["attempting:2", "confirmed:2", "-", "planned:3", "failed:2", "-", "planned:3", "-", "planned:3", "planned:3", "dropped:2", "-", "-"]);
    expect(table("attempting", once)).toEqual(["-", "confirmed:2", "-", "planned:3", "failed:2", "-", "ambiguous:2", "-", "ambiguous:2", "ambiguous:2", "ambiguous:2", "-", "-"]);
    expect(table("ambiguous", once)).toEqual(["-", "confirmed:2", "-", "-", "-", "-", "-", "-", "-", "-", "-", "confirmed:2", "planned:3"]);
  });

  test("EFFECT-4 the last attempt that the policy allows fails", () => {
    expect(effectStep(row("planned", { ...plain, maxAttempts: 2 }), { type: "effect.failed", attempt: 2, mayRetry: true })).toMatchObject({ state: "failed", attempt: 2 });
  });

  test("EFFECT-2 the third interruption fails an effect that is bounded to three", () => {
    expect(effectStep(row("planned", { ...plain, interruptions: 1 }), { type: "effect.interrupted" })).toEqual({ state: "planned", attempt: 3, interruptions: 2 });
    expect(effectStep(row("planned", { ...plain, interruptions: 2 }), { type: "effect.interrupted" })).toEqual({ state: "failed", attempt: 2, interruptions: 3 });
  });

  test("EFFECT-1 every event of the chart is tried above", () => {
    expect([...new Set(events.map((event) => event.type))].sort()).toEqual([...effectMachine.events].sort());
    for (const event of events) expect(EffectEvent.parse(event)).toEqual(event);
  });
});

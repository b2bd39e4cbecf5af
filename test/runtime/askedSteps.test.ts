import { expect, test } from "vitest";
import { AskedSteps } from "../../src/runtime/askedSteps.ts";
import type { StepAnswer, StepRequest } from "../../src/runtime/stepWire.ts";

const request = (actor: string): StepRequest => ({ actor, parent: null, key: null, names: null, from: null, given: "{}" });
const large = (units: number): StepAnswer => ({ kind: "stepped", usesTime: false, json: "x".repeat(units) });

test("MACH-28 an answer is kept until whoever asked has taken it, however large it is", async () => {
  const steps = new AskedSteps();
  let asked = 0;
  const ask = async (): Promise<StepAnswer> => {
    asked += 1;
    return large(20 * 1024 * 1024);
  };
  await Promise.all([steps.answer(ask, request("a"), null), steps.answer(ask, request("b"), null)]);
  expect(steps.answer(ask, request("a"), null)).toMatchObject({ kind: "stepped" });
  expect(steps.answer(ask, request("b"), null)).toMatchObject({ kind: "stepped" });
  expect(asked).toBe(2);
  // Once taken, large ones make room.
  await steps.answer(ask, request("c"), null);
  expect(steps.answer(ask, request("a"), null)).toBeInstanceOf(Promise);
});

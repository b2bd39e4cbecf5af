import { expect, test } from "vitest";
import type { EffectView } from "../../src/host/api.ts";
import { settleCommands } from "../../src/cli/render/next.ts";

const effect = (visit: string): EffectView => ({
  key: `${visit}@2:1`,
  visit,
  type: "pawl.batch.item",
  run: "r_1",
  state: "ambiguous",
  attempt: 1,
  once: true,
  error: null,
  ambiguousSince: 1,
  createdAt: 1,
});

test("CLI-65 of several unknown outcomes each way to settle one names the step that it is about; a single one needs no name", () => {
  const command = (...words: readonly string[]): string => words.join(" ");
  expect(settleCommands(effect("r_1/graph/inc.1/graph/pay.2"), command, false).map(({ when }) => when)).toEqual([
    "When inc/pay happened, with what it gave as JSON:",
    "When inc/pay did not happen, to do it again:",
  ]);
  expect(settleCommands(effect("r_1/graph/pay.2"), command).map(({ when }) => when)).toEqual([
    "When it happened, with what it gave as JSON:",
    "When it did not happen, to do it again:",
  ]);
});

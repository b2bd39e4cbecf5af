import { describe, expect, test } from "vitest";
import { z } from "zod";
import { exampleInput } from "../../src/workflow/exampleInput.ts";

describe("an input that a schema takes", () => {
  test.each([
    ["what is required alone", z.object({ task: z.string(), times: z.number(), note: z.string().optional() }), '{"task":"text","times":1}'],
    ["defaults are left out", z.object({ task: z.string().default("t") }), "{}"],
    [
      "choices, constants and flags",
      z.object({ env: z.enum(["test", "live"]), kind: z.literal("a"), dry: z.boolean() }),
      '{"env":"test","kind":"a","dry":true}',
    ],
    [
      "what is nested, and lists that may not be empty",
      z.object({ who: z.object({ name: z.string().min(9) }), ids: z.array(z.int().min(5)).min(2) }),
      '{"who":{"name":"text text"},"ids":[5,5]}',
    ],
    ["the first of several", z.union([z.object({ a: z.null() }), z.string()]), '{"a":null}'],
    ["what is made of it is not shown", z.object({ n: z.string().transform(Number) }), '{"n":"text"}'],
    ["no object", z.string(), '"text"'],
  ])("CLI-63 %s", async (_what, schema, text) => {
    expect(await exampleInput(schema)).toBe(text);
  });

  test.each([
    ["a rule that JSON Schema cannot say", z.object({ task: z.string().refine((value) => value.startsWith("!")) })],
    ["a pattern", z.object({ id: z.string().regex(/^x\d{4}$/) })],
    ["something that JSON has not", z.object({ at: z.date() })],
    ["too much to read", z.object({ task: z.string().min(1_000) })],
    ["a schema that throws", z.string().transform(() => Promise.reject(new Error("no")))],
  ])("CLI-63 none is made up for %s", async (_what, schema) => {
    expect(await exampleInput(schema)).toBeNull();
  });
});

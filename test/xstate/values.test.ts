/** Values that JSON cannot carry are refused with their path, wherever they would be stored or sent: never changed silently. */
import { assign, emit, raise, sendTo, setup, spawnChild, type AnyStateMachine } from "xstate";
import { describe, expect, test } from "vitest";
import { effect, effectAction } from "../../machines/define.ts";
import { isPawlError } from "../../src/errors.ts";
import { jsonText } from "../../src/json.ts";
import { world } from "../runtime/kit.ts";
import { rest } from "./lost.ts";

class Money {
  readonly cents = 5;
}
const cycle: { self?: unknown } = {};
cycle.self = { back: cycle };
let deep: unknown = 1;
for (let level = 0; level < 1200; level += 1) deep = { deep };

const wrong: readonly (readonly [string, unknown, string, string])[] = [
  ["undefined in an array", { a: [1, undefined] }, "a[1]", "undefined"],
  ["a hole in an array", { a: [1, , 3] }, "a[1]", "undefined"], // oxlint-disable-line no-sparse-arrays
  ["a named field of an array", { a: "x-1".match(/x/) }, "a.index", "a named field of an array"],
  ["BigInt", { n: 5n }, "n", "a bigint"],
  ["Date", { at: new Date(0) }, "at", "a Date"],
  ["Map", { m: new Map() }, "m", "a Map"],
  ["Set", { s: new Set() }, "s", "a Set"],
  ["RegExp", { r: /x/ }, "r", "a RegExp"],
  ["Error", { e: new Error("x") }, "e", "a Error"],
  ["bytes", { b: new Uint8Array(1) }, "b", "a Uint8Array"],
  ["a class instance", { price: new Money() }, "price", "a Money"],
  ["a boxed number", { n: Object(1) }, "n", "a Number"],
  ["NaN", { n: Number.NaN }, "n", "NaN"],
  ["Infinity", { n: Infinity }, "n", "Infinity"],
  ["-0", { n: -0 }, "n", "-0"],
  ["a cycle", { c: cycle }, "c.self.back", "a cycle"],
  ["a key __proto__", { o: JSON.parse('{"__proto__":1}') }, "o.__proto__", "an unusable key"],
  ["a lone surrogate", { t: "\ud800" }, "t", "a lone surrogate"],
  ["a lone surrogate in a key", { o: { "\udc00": 1 } }, "o.\udc00", "an unusable key"],
  ["NUL", { t: "a\0b" }, "t", "a NUL character"],
  ["a function", { f: () => {} }, "f", "a function"],
  ["a symbol", { s: Symbol("x") }, "s", "a symbol"],
  ["a symbol as a key", { o: { [Symbol("x")]: 1 } }, "o", "a symbol as a key"],
  ["too many levels", { deep }, "", "more than 1000 levels"],
];

const right: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  1e300,
  "",
  "ä 🦀 \n",
  [],
  {},
  { a: { b: [1, "x", null] } },
  { left: undefined },
  Object.create(null),
  [{ twice: right0() }, { twice: right0() }],
];

function right0(): object {
  return { n: 1 };
}

const refusalOf = async (work: () => unknown): Promise<readonly [string, string | undefined, string]> => {
  try {
    await work();
  } catch (error) {
    return isPawlError(error) ? [error.code, error.path, error.message] : ["no Pawl error", undefined, String(error)];
  }
  return ["not refused", undefined, ""];
};

describe("the table of values", () => {
  test.each(wrong)("XS-11 %s is refused with its path", async (_name, value, path, kind) => {
    const [code, at, message] = await refusalOf(() => jsonText(value, "value"));
    expect([code, at]).toEqual(["invalidValue", path]);
    expect(message).toContain(`holds ${kind} at`);
  });

  test("XS-11 what JSON carries reads back the same", () => {
    for (const value of right) expect(JSON.parse(jsonText(value, "value"))).toEqual(value);
    const shared = { n: 1 };
    expect(JSON.parse(jsonText([shared, shared], "value"))).toEqual([shared, shared]);
  });
});

describe("the places", () => {
  const kid = setup({ types: {} as { context: object; input: unknown } }).createMachine({ id: "kid", version: "1", context: ({ input }) => ({ input }) });
  /** Does one thing with what the event names; a value that is no data cannot be in the event itself. */
  const placing = (value: unknown): AnyStateMachine =>
    setup({
      types: {} as { context: { kept: unknown } },
      actors: { kid, load: effect<unknown, unknown>("load") },
      actions: { note: effectAction<unknown>("note") },
    }).createMachine({
      id: "placing",
      version: "1",
      context: { kept: null },
      output: () => value,
      initial: "on",
      states: {
        on: {
          on: {
            context: { actions: assign({ kept: () => value }) },
            message: {
              actions: sendTo(
                ({ self }) => self,
                () => ({ type: "x", value }),
              ),
            },
            "delayed event": { actions: raise(() => ({ type: "x", value }), { delay: 10 }) },
            "emitted event": { actions: emit(() => ({ type: "x", value }) as never) },
            "input of a child": { actions: spawnChild("kid", { id: "k", input: () => value as never }) },
            "input of an effect": { actions: spawnChild("load", { id: "l", input: () => value }) },
            "params of an effect": { actions: { type: "note", params: () => value } },
            output: "over",
          },
        },
        over: { type: "final" },
      },
    });

  test.each(["context", "message", "delayed event", "emitted event", "input of a child", "input of an effect", "params of an effect", "output"])(
    "XS-11 a date in a machine's %s refuses the event and names its path",
    async (place) => {
      const { runtime, store } = await world([placing({ when: [new Date(0)] }), kid]);
      await runtime.start("placing", { id: "p", input: undefined });
      const [code, path, message] = await refusalOf(() => runtime.send("p", { type: place }));
      expect(code).toBe("invalidValue");
      expect(path).toMatch(/when\[0\]$/);
      expect(message).toMatch(/"p(\/k)?"/);
      expect(await store.journal("p", 0, 10)).toHaveLength(1);
    },
  );

  test("XS-11 what comes from outside is refused with its path too: events, inputs, outputs of effects", async () => {
    const { runtime } = await world([placing(null), kid, placingInput], { load: async () => ({ output: { when: new Date(0) } }) });
    await runtime.start("placing", { id: "p", input: undefined });
    expect((await refusalOf(() => runtime.send("p", { type: "context", when: new Date(0) }))).slice(0, 2)).toEqual(["invalidValue", "when"]);
    expect((await refusalOf(() => runtime.start("placingInput", { id: "q", input: { when: new Date(0) } })))[0]).toBe("invalidValue");
    expect(await runtime.view("q")).toBeNull();
    await runtime.adopt("r");
    await runtime.start("placingInput", { id: "r", input: null });
    await rest({ runtime } as never);
    expect(await runtime.view("r")).toMatchObject({
      value: "failed",
      context: { why: { reason: "invalidOutput", message: expect.stringContaining('"when"') } },
    });
  });

  const placingInput = setup({
    types: {} as { context: { why: unknown }; input: unknown },
    actors: { load: effect<unknown, undefined>("load") },
  }).createMachine({
    id: "placingInput",
    version: "1",
    context: { why: null },
    initial: "on",
    states: {
      on: { invoke: { id: "l", src: "load", onDone: "done", onError: { target: "failed", actions: assign({ why: ({ event }) => event.error }) } } },
      done: {},
      failed: {},
    },
  });
});

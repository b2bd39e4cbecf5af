/** What a runtime refuses so that nobody waits for what will never come. */
import { assign, setup } from "xstate";
import { expect, test } from "vitest";
import { effect } from "../../machines/define.ts";
import { memoryStore } from "../../persistence/index.ts";
import { PawlError } from "../../src/errors.ts";
import { world } from "./kit.ts";

const payer = setup({
  types: {} as { events: { type: "leave" } },
  actors: { pay: effect<string, undefined>("pay", { once: true }) },
}).createMachine({
  id: "payer",
  version: "1",
  initial: "paying",
  states: { paying: { invoke: { id: "pay", src: "pay" }, on: { leave: "gone" } }, gone: {} },
});

const counter = setup({ types: {} as { context: { n: number }; events: { type: "add" } } }).createMachine({
  id: "counter",
  version: "1",
  context: { n: 0 },
  on: { add: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
});

test("EFFECT-43 an ambiguous effect that nobody waits for any more is not done again, and can still be confirmed", async () => {
  let calls = 0;
  const { runtime, store } = await world([payer], {
    pay: async () => {
      calls += 1;
      throw new Error("the line broke");
    },
  });
  await runtime.start("payer", { id: "p", input: undefined });
  await runtime.adopt("p");
  await runtime.settled();
  await runtime.send("p", { type: "leave" });
  await expect(runtime.retryEffect("p@1:0")).rejects.toMatchObject({ code: "refused", message: expect.stringContaining("nobody waits") });
  await runtime.settled();
  expect((await store.effects(["p@1:0"]))[0]).toMatchObject({ state: "ambiguous", attempt: 1 });
  expect(calls).toBe(1);
  expect(await runtime.confirmEffect("p@1:0", { output: "it went through" })).toMatchObject({ state: "confirmed" });
});

test("RT-23 what is queued when the store refuses for good meets the same refusal, though the disk is free again", async () => {
  const inner = memoryStore();
  let refusals = 0;
  const full = new PawlError("storageFull", "no space");
  const store = {
    ...inner,
    commit: (group: Parameters<typeof inner.commit>[0]) => (refusals > 0 ? ((refusals -= 1), Promise.reject(full)) : inner.commit(group)),
  };
  const { runtime } = await world([counter], {}, { store });
  await runtime.start("counter", { id: "c", input: undefined });
  // The group, and its first entry when it is tried alone.
  refusals = 2;
  const answers = await Promise.allSettled([runtime.send("c", { type: "add" }), runtime.send("c", { type: "add" }), runtime.send("c", { type: "add" })]);
  expect(answers).toEqual(Array.from({ length: 3 }, () => ({ status: "rejected", reason: full })));
  expect(refusals).toBe(0);
  await expect(runtime.send("c", { type: "add" })).rejects.toBe(full);
  expect(await inner.journal("c", 2, 10)).toEqual([]);
});

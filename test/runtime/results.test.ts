import { assign, setup } from "xstate";
import { expect, test } from "vitest";
import { effect, NotApplied } from "../../machines/define.ts";
import { memoryStore, type Commit, type Store } from "../../persistence/index.ts";
import { messageOf } from "../../src/errors.ts";
import type { EffectTask } from "../../src/runtime/executor.ts";
import { world } from "./kit.ts";

const working = (once: boolean) =>
  setup({
    types: {} as { context: { why: { reason: string; message: string } | null }; events: { type: "effect.ambiguous"; effect: string } },
    actors: { work: effect<null, null>("test.work", { once }) },
  }).createMachine({
    id: "working",
    version: "1",
    context: { why: null },
    initial: "on",
    states: {
      on: {
        invoke: {
          id: "work",
          src: "work",
          input: null,
          onDone: "done",
          onError: { target: "failed", actions: assign({ why: ({ event }) => event.error as { reason: string; message: string } }) },
        }, // what the runtime sends
        on: { "effect.ambiguous": "unsure" },
      },
      unsure: {},
      done: {},
      failed: {},
    },
  });

const broken = ["a\0b", "x\ud800y", `x${"😀".repeat(5000)}`];

test.each(broken)("EFFECT-45 a failure whose text cannot be stored as it is is stored as text that can", async (text) => {
  for (const thrown of [new Error(text), text, new NotApplied(text)]) {
    const { runtime } = await world([working(false)], { "test.work": () => Promise.reject(thrown) });
    await runtime.adopt("w");
    await runtime.start("working", { id: "w", input: undefined });
    await runtime.settled();
    const view = await runtime.view("w");
    expect(view?.value).toBe("failed");
    const message = (view?.context as { why: { message: string } } | undefined)?.why.message ?? "\0"; // the machine above
    expect(message.isWellFormed() && !message.includes("\0") && message.length <= 8192).toBe(true);
  }
});

test("EFFECT-45 anything thrown has a message", () => {
  const hostile = {
    get message() {
      throw new Error("no");
    },
  };
  const secret = { code: 7, token: "sesame", toString: () => "sesame" };
  const thrown = [hostile, secret, { message: "it said so" }, {}, null, new AggregateError([new Error("a"), "b"]), new TypeError()];
  expect(thrown.map(messageOf)).toEqual([
    "Something was thrown that cannot be shown.",
    "An object that is no Error was thrown, with code, token, toString.",
    "it said so",
    "An object that is no Error was thrown.",
    "null",
    "a; b",
    "TypeError",
  ]);
});

/** A store that refuses the first confirmed effect by a rule of its own, as often as the dispatcher asks: with its group, and alone. */
function refusing(): Store {
  const store = memoryStore();
  let refusals = 2;
  return new Proxy(store, {
    get(target, name) {
      if (name !== "commit") return Reflect.get(target, name);
      return async (commits: readonly Commit[]) => {
        const isBad = (commit: Commit): boolean => refusals > 0 && commit.effects.some(({ record }) => record.state === "confirmed");
        if (!commits.some(isBad)) return target.commit(commits);
        refusals -= 1;
        return commits.map(() => ({ status: "constraint" as const, rule: "some_rule", message: "not this" }));
      };
    },
  });
}

test.each([
  [false, "failed"],
  [true, "unsure"],
] as const)("EFFECT-46 a result that the store refuses ends its attempt (once: %s)", async (once, state) => {
  const store = refusing();
  let runs = 0;
  const { runtime } = await world([working(once)], { "test.work": async (_task: EffectTask) => ((runs += 1), { output: null }) }, { store });
  await runtime.adopt("w");
  await runtime.start("working", { id: "w", input: undefined });
  await runtime.settled();
  expect([(await runtime.view("w"))?.value, runs]).toEqual([state, 1]);
});

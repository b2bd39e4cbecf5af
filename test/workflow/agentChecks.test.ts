/** For authors without a compiler: what the types refuse of agent steps and notifications is refused when the workflow is built, by name and with the mend. */
import { expect, test } from "vitest";
import { z } from "zod";
import { agent, assistantMessage, choose, notify, workflow } from "../../src/workflow/authoring.ts";
import { prepareNode } from "../../src/workflow/prepareNode.ts";
import { acceptNode } from "../../src/workflow/acceptNode.ts";
import { executeNode } from "../../src/workflow/execute.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { contextFor } from "./contexts.ts";

/** An author without a compiler: every node and every target is allowed. */
const built = (node: unknown, next?: unknown): unknown =>
  workflow({ name: "w", input: z.object({}) })
    .node("a", node as ReturnType<typeof assistantMessage>, next as undefined) // what a file without types may say
    .build();

const label = { label: "Go" };
const none = undefined as never; // as an author without types would leave it out

test.each<[string, unknown, unknown, RegExp]>([
  ["an agent without a prompt", agent({ prompt: none }), none, /node "a" has no prompt; give a text, or a callback that gives one/],
  ["an output that is no schema", agent({ prompt: "p", output: { type: "object" } as never }), none, /has an output that is no zod schema/],
  ["a validate that is no function", agent({ prompt: "p", validate: "no" as never }), none, /has a validate that is no function/],
  ["a route that is no function", agent({ prompt: "p", route: "a" as never }), { x: "a" }, /has a route that is no function/],
  ["a timeout below nothing", agent({ prompt: "p", timeoutMs: -1 }), none, /has timeoutMs -1; give milliseconds above 0/],
  ["a choose without choices", choose({ prompt: "p", choices: none }), none, /has no choices; give at least one/],
  ["a choice without a label", choose({ prompt: "p", choices: { go: {} as never } }), { go: "a" }, /has a choice "go" without a label of 1 to 64 characters/],
  ["a choice with a reserved name", choose({ prompt: "p", choices: { failed: label } }), { failed: "a" }, /uses the reserved name "failed"/],
  ["a choice with a wrong name", choose({ prompt: "p", choices: { "go.on": label } }), { "go.on": "a" }, /has the case "go\.on"/],
  ["a choice without a target", choose({ prompt: "p", choices: { go: label, stop: label } }), { go: "a" }, /has no target for its case "stop"/],
  [
    "twenty-one choices",
    choose({ prompt: "p", choices: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`c${n}`, label])) }),
    Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`c${n}`, "a"])),
    /has 21 choices; at most 20 can be offered/,
  ],
  ["an assistant message without a prompt", assistantMessage({ prompt: "" }), none, /has no prompt/],
  ["a notification without a text", notify({ kind: "final", text: none }), none, /has no text; give what is to be told/],
  ["a notification of another kind", notify({ kind: "loud" as never, text: "t" }), none, /has the kind loud; give "progress" or "final"/],
])("AGENT-25 %s is refused by name and with the mend", (_, node, next, message) => {
  expect(() => built(node, next)).toThrow(expect.objectContaining({ code: "invalidWorkflow", message: expect.stringMatching(message) }));
});

const plan = workflow({ name: "w", input: z.object({ task: z.string() }) })
  .node("plan", agent({ prompt: ({ input }) => input.task, output: z.object({ at: z.date().optional(), steps: z.array(z.string()) }) }), {
    done: "pick",
    failed: "sorry",
  })
  .node("pick", choose({ prompt: "Which?", choices: { go: label, stop: label } }), { go: "say", stop: "say" })
  .node("say", assistantMessage({ prompt: "Say" }), "tell")
  .node("tell", notify({ kind: "final", text: ({ input }) => input.task }))
  .node("sorry", notify({ kind: "final", text: "no" }))
  .build();

const context = (node: string, task: string) => contextFor(plan, node, { input: { task } });
const message = async (node: string, task = "t"): Promise<unknown> => (await prepareNode(plan, node, context(node, task), "r_1", fakeClock())).value;

test("AGENT-1 the message of a step is its prompt, the schema of what may be submitted, and the choices", async () => {
  expect(await message("plan")).toMatchObject({ prompt: "t", schema: { type: "object", required: ["steps"] }, choices: null });
  expect(await message("pick")).toMatchObject({
    prompt: "Which?",
    choices: { go: "Go", stop: "Go" },
    schema: { required: ["choice"], additionalProperties: false },
  });
  expect(await message("say")).toEqual({ prompt: "Say", schema: null, choices: null });
});

test.each([
  ["", "an empty text"],
  ["   ", "an empty text"],
  ["x".repeat(1_000_001), "1000001 characters"],
])("AGENT-1 a prompt that is none fails the visit and asks nobody", async (task, what) => {
  await expect(message("plan", task)).rejects.toMatchObject({ code: "nodeFailed", message: expect.stringContaining(`has a prompt that gave ${what}`) });
});

test("AGENT-8 what is chosen is one of the choices, with a reason of at most 4,000 characters", async () => {
  const chosen = (output: unknown): Promise<unknown> => acceptNode(plan, "pick", context("pick", "t"), output);
  expect(await chosen({ choice: "go" })).toEqual({ case: "go", value: { choice: "go" } });
  expect(await chosen({ choice: "stop", reason: "r".repeat(4_000) })).toMatchObject({ case: "stop" });
  for (const wrong of [{ choice: "back" }, { choice: "go", more: 1 }, { choice: "go", reason: "r".repeat(4_001) }, "go", null])
    await expect(chosen(wrong)).rejects.toMatchObject({ code: "invalidOutput" });
});

test("AGENT-9 an assistant message accepts no submit", async () => {
  await expect(acceptNode(plan, "say", context("say", "t"), 1)).rejects.toMatchObject({
    code: "invalidOutput",
    message: expect.stringContaining("takes no submit"),
  });
});

test("NOTE-3 a text is at most 16,000 characters and not empty", async () => {
  const told = (task: string): Promise<unknown> => executeNode(plan, "tell", context("tell", task), fakeClock());
  expect(await told("x".repeat(16_000))).toMatchObject({ case: "done", value: { kind: "final" } });
  for (const wrong of ["", "x".repeat(16_001)]) await expect(told(wrong)).rejects.toMatchObject({ code: "nodeFailed" });
});

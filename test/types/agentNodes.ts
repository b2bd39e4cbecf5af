/** Steps that agents work on, notifications and what actions publish: typed without a cast, and what does not fit does not compile. Checked by tsc; never run. */
import { z } from "zod";
import { action, agent, assistantMessage, choose, compute, notify, workflow } from "../../src/workflow/authoring.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const proven = <_Proof extends true>(): void => {};

const Plan = z.object({ steps: z.array(z.string()), risk: z.number().default(0) });
const start = workflow({ name: "build", input: z.object({ task: z.string() }) });

export const build = start
  .later("review", z.object({ notes: z.string() }))
  .node(
    "plan",
    agent({
      prompt: ({ input, results }) => {
        proven<Same<typeof input, { task: string }>>();
        return results.review?.status === "accepted" ? results.review.output.notes : input.task;
      },
      output: Plan,
      validate: (plan, { input }) => {
        proven<Same<typeof plan, { steps: string[]; risk: number }>>();
        return plan.steps.includes(input.task) ? undefined : `name the task ${input.task}`;
      },
      timeoutMs: ({ input }) => input.task.length * 1_000,
      statusDetail: "planning",
    }),
    { done: "size", failed: "sorry", timedOut: "sorry" },
  )
  .node("size", agent({ prompt: "How many?", output: z.number(), route: (count) => (count > 3 ? "many" : "few"), cases: ["many", "few"] }), {
    many: "pick",
    few: "pick",
  })
  .node(
    "pick",
    choose({
      prompt: ({ outputs }) => `${outputs.plan.steps.length} steps, ${outputs.size}`,
      choices: { go: { label: "Go" }, stop: { label: "Stop" } },
      validate: ({ choice, reason }) => {
        proven<Same<typeof choice, "go" | "stop">>();
        return choice === "stop" && reason === undefined ? "say why" : null;
      },
    }),
    { go: "copy", stop: "review" },
  )
  .node("review", agent({ prompt: "Notes?", output: z.object({ notes: z.string() }) }), "plan")
  .node(
    "copy",
    action({
      output: z.object({ copied: z.number() }),
      run: async ({ outputs, update, progress }) => {
        await progress({ label: "Copying", completed: 1, total: outputs.size, unit: "files" });
        const receipt = await update({ type: "copy.state", key: "a", data: { ok: true } });
        return { copied: receipt.revision };
      },
    }),
    "free",
  )
  .node("free", agent({ prompt: "Anything?" }), "tell")
  .node("tell", notify({ kind: "progress", text: ({ outputs }) => `${outputs.copy.copied} of ${outputs.plan.risk}` }), "say")
  .node("say", assistantMessage({ prompt: ({ outputs }) => `Tell them ${outputs.tell.text}` }), "last")
  .node(
    "last",
    compute(({ outputs }) => {
      proven<Same<typeof outputs.plan, { steps: string[]; risk: number }>>();
      proven<Same<typeof outputs.pick.choice, "go" | "stop">>();
      proven<Same<typeof outputs.say, { readonly answered: boolean; readonly text: string | null }>>();
      const anything: string = JSON.stringify(outputs.free);
      return anything;
    }),
  )
  .node("sorry", notify({ kind: "final", text: "No plan." }))
  .build();

// @ts-expect-error AGENT-17 an agent without a prompt
start.node("a", agent({ output: Plan }));
// @ts-expect-error AGENT-17 a choice without a target
start.node("a", choose({ prompt: "p", choices: { go: { label: "Go" }, stop: { label: "Stop" } } }), { go: "a" });
// @ts-expect-error AGENT-17 a choose without routes
start.node("a", choose({ prompt: "p", choices: { go: { label: "Go" } } }));
start.node(
  "a",
  agent({
    prompt: "p",
    output: Plan,
    // @ts-expect-error AGENT-17 a validate that reads what the output does not have
    validate: ({ stages }) => (stages ? "no" : undefined),
  }),
);
start.node(
  "a",
  agent({
    // @ts-expect-error AGENT-17 a prompt that reads a node that is not there
    prompt: ({ outputs }) => String(outputs.nothing),
    output: Plan,
  }),
);
start.node(
  "a",
  action({
    run: async ({ progress }) => {
      // @ts-expect-error AGENT-17 progress with a field that it does not have
      await progress({ done: 4 });
    },
  }),
);
start.node(
  "a",
  // @ts-expect-error AGENT-17 a compute that would publish
  compute(({ update }) => update),
);
start.node(
  "a",
  notify({
    // @ts-expect-error AGENT-17 a notification of another kind
    kind: "loud",
    text: "t",
  }),
);

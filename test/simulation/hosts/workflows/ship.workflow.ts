/** Plans, asks, goes round as often as the person wants, builds with retries, pays once. */
import { action, choices, compute, humanDecision, text, workflow } from "pawl";
import { z } from "zod";
import { reach } from "./outside.ts";

const approval = choices({ go: { label: "Go" }, stop: { label: "Stop" }, replan: { label: "Again", input: text("What?", { max: 40 }) } });

export default workflow({ name: "ship", input: z.object({ task: z.string(), patience: z.number() }), maxSteps: 30 })
  .later("ask", approval)
  .node(
    "plan",
    compute(({ input, results }) => ({ task: input.task, heard: results.ask?.status ?? "nothing" })),
    "ask",
  )
  .node(
    "ask",
    humanDecision({
      audience: "operator",
      choices: approval,
      request: ({ outputs, attempt }) => ({ title: "Ship it?", subject: { plan: outputs.plan, attempt } }),
      onTimeout: ({ input }) => (input.patience === 0 ? undefined : { afterMs: input.patience, response: { choice: "stop" } }),
    }),
    { go: "build", stop: "stopped", replan: "plan" },
  )
  .node("build", action({ run: reach, retry: { maxAttempts: 3, initialMs: 100 }, timeoutMs: 5000 }), { done: "pay", failed: "mend", timedOut: "mend" })
  .node("mend", compute(reach), "build")
  .node("pay", action({ run: reach, once: true, timeoutMs: 8000 }), { done: "shipped", failed: "stopped" })
  .node(
    "shipped",
    compute(({ outputs }) => ({ paid: outputs.pay.serial })),
  )
  .node(
    "stopped",
    compute(() => ({ status: "stopped" as const })),
  )
  .build();

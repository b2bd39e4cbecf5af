/** One leg of a voyage, included by it: a step outside, a checkpoint that may send it back, and a question. */
import { action, checkpoint, choices, compute, humanDecision, workflow } from "pawl";
import { z } from "zod";
import { reach } from "./outside.ts";

const Sailed = z.object({ serial: z.number() });

export default workflow({ name: "leg", input: z.object({ legs: z.number() }), maxSteps: 12 })
  .node("sail", action({ run: reach, output: Sailed }), { done: "look", failed: "lost" })
  .node(
    "look",
    checkpoint({
      prompt: ({ outputs }) => `Is ${outputs.sail.serial} right?`,
      output: z.object({ ok: z.boolean() }),
      route: ({ ok }) => (ok ? "good" : "bad"),
    }),
    {
      good: "more",
      bad: "sail",
    },
  )
  .node(
    "more",
    humanDecision({
      audience: "operator",
      choices: choices({ more: { label: "More" }, enough: { label: "Enough" } }),
      request: ({ input, outputs }) => ({ title: "More?", subject: [input, outputs.sail] }),
    }),
    { more: "sail", enough: "arrived" },
  )
  .node(
    "arrived",
    compute(({ outputs }) => ({ sailed: outputs.sail.serial })),
  )
  .node(
    "lost",
    compute(({ results }) => ({ sailed: 0, why: results.sail?.status === "failed" ? results.sail.error.message : null })),
  )
  .build();

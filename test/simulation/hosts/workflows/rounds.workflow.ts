/** A loop of steps that route on what they gave; a question that may expire ends it. */
import { action, choices, compute, humanDecision, workflow } from "pawl";
import { z } from "zod";
import { reach } from "./outside.ts";

const Round = z.object({ serial: z.number() });
const more = choices({ more: { label: "More" }, enough: { label: "Enough" } });

export default workflow({ name: "rounds", input: z.object({ rounds: z.number(), expires: z.number() }), maxSteps: 24 })
  .later("round", Round)
  .node(
    "begin",
    compute(({ now }) => ({ begun: now })),
    "round",
  )
  .node("round", action({ run: reach, output: Round, cases: ["again", "ask"], route: ({ serial }) => (serial % 3 === 0 ? "ask" : "again") }), {
    again: "round",
    ask: "more",
  })
  .node(
    "more",
    humanDecision({
      audience: "operator",
      choices: more,
      request: ({ input, outputs, now }) => ({
        title: "More?",
        subject: outputs.round,
        ...(input.expires === 0 ? {} : { expiresAt: now + input.expires }),
      }),
    }),
    { more: "round", enough: "end", timedOut: "late" },
  )
  .node(
    "end",
    compute(({ results }) => ({ rounds: results.round?.visit ?? null })),
  )
  .node("late", compute(reach))
  .build();

/** Waits, and included workflows one after the other: a workflow that goes on inside others, and stands still there. */
import { compute, include, wait, workflow } from "pawl";
import { z } from "zod";
import leg from "./leg.workflow.ts";

export default workflow({ name: "voyage", input: z.object({ legs: z.number(), restMs: z.number() }), maxSteps: 30 })
  .later("count", z.object({ legs: z.number() }))
  .node("rest", wait({ forMs: ({ input }) => input.restMs }), "leg")
  .node("leg", include(leg, { input: ({ input }) => ({ legs: input.legs }), timeoutMs: ({ input }) => input.restMs * 40 }), {
    arrived: "count",
    lost: "count",
    timedOut: "late",
  })
  .node(
    "count",
    compute(({ results }) => ({ legs: 1 + (results.count?.status === "accepted" ? results.count.output.legs : 0) }), {
      output: z.object({ legs: z.number() }),
      route: ({ legs }) => (legs < 2 ? "again" : "enough"),
    }),
    { again: "rest", enough: "end" },
  )
  .node(
    "end",
    compute(({ outputs }) => [outputs.count.legs, outputs.leg.sailed]),
  )
  .node(
    "late",
    compute(({ results }) => ({ late: results.leg?.visit ?? null })),
  )
  .build();

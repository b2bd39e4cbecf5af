/** What the growth benchmark runs: one step entered again and again, with a constant state. */
import { compute, workflow } from "pawl";
import { z } from "zod";

const text = "x".repeat(200);

export default workflow({ name: "loop", input: z.object({ times: z.int() }), maxSteps: 20_000 })
  .node(
    "step",
    compute(({ visit }) => ({ i: Number(visit.slice(visit.lastIndexOf(".") + 1)), text })),
    "weigh",
  )
  .node(
    "weigh",
    compute(({ input, outputs }) => outputs.step.i < input.times, { route: (more) => (more ? "more" : "enough") }),
    { more: "step", enough: "end" },
  )
  .node(
    "end",
    compute(({ outputs }) => outputs.step.i),
  )
  .build();

/** A question, and the one step that its answer leads to; each execution of a step leaves a line. */
import { appendFileSync } from "node:fs";
import { choices, compute, humanDecision, workflow } from "pawl";
import { z } from "zod";

export default workflow({ name: "race", input: z.object({ side: z.string(), deadlineMs: z.number().nullable() }) })
  .node(
    "ask",
    humanDecision({
      audience: "operator",
      choices: choices({ go: { label: "Go" }, stop: { label: "Stop" }, wait: { label: "Wait" } }),
      request: () => ({ title: "Go on?", subject: null }),
      onTimeout: ({ input }) => (input.deadlineMs === null ? undefined : { afterMs: input.deadlineMs, response: { choice: "wait" } }),
    }),
    { go: "went", stop: "stopped", wait: "waited" },
  )
  .node(
    "went",
    compute(({ input, visit, attempt }) => mark(input.side, visit, attempt, "go")),
    "end",
  )
  .node(
    "stopped",
    compute(({ input, visit, attempt }) => mark(input.side, visit, attempt, "stop")),
    "end",
  )
  .node(
    "waited",
    compute(({ input, visit, attempt }) => mark(input.side, visit, attempt, "wait")),
    "end",
  )
  .node(
    "end",
    compute(({ input, visit, attempt }) => mark(input.side, visit, attempt, "end")),
  )
  .build();

function mark(side: string, visit: string, attempt: number, what: string): string {
  appendFileSync(side, `${visit} ${attempt}\n`);
  return what;
}

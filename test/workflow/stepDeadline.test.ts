import { expect, test } from "vitest";
import { z } from "zod";
import { createStepper } from "../../src/runtime/step.ts";
import { choices, humanDecision, workflow } from "../../src/workflow/authoring.ts";
import { compileGraph } from "../../src/workflow/compile.ts";

test("WF-33 a deadline that ran out before its timer was heard is due at once when the run's word comes in between", () => {
  const { graph } = workflow({ name: "job", input: z.object({}) })
    .node(
      "ask",
      humanDecision({ audience: "operator", choices: choices({ go: { label: "Go" } }), request: () => ({ title: "Go?", subject: 1 }), timeoutMs: 1000 }),
      { go: "ask" },
    )
    .build();
  const stepper = createStepper(compileGraph(graph, "digest"));
  const begun = stepper.init("r/graph", "r", { run: "r", graph: "digest", source: "s", at: 100 });
  const resumed = stepper.step(begun.next, { type: "graph.resume", at: 9000 } as { readonly type: string }); // every event has its time besides
  expect(resumed.records.filter(({ kind }) => kind === "timer")).toMatchObject([{ key: "deadline", delayMs: 0 }]);
});

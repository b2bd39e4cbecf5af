/** What must not compile: one line for each mistake that the builder's types find. Checked by tsc; never run. */
import { z } from "zod";
import { action, choices, compute, humanDecision, shell, text, workflow } from "../../src/workflow/authoring.ts";

const approval = choices({ go: { label: "Go" }, stop: { label: "Stop" }, replan: { label: "Plan again", input: text("What should change?") } });
const request = () => ({ title: "Approve", subject: 1 });
const ask = humanDecision({ audience: "operator", choices: approval, request });
const start = workflow({ name: "ship", input: z.object({ n: z.number() }) });
const end = compute(() => 1);

start
  // @ts-expect-error WF-1 a case without target: replan
  .node("ask", ask, { go: "end", stop: "end" });
start
  // @ts-expect-error WF-1 a target for a case that the node does not have: maybe
  .node("ask", ask, { go: "end", stop: "end", replan: "end", maybe: "end" });
start
  // @ts-expect-error WF-1 a decision without routes
  .node("ask", ask);
start
  // @ts-expect-error WF-1 a decision with one target for all cases
  .node("ask", ask, "end");
start
  // @ts-expect-error WF-1 an extra case of a node with one outcome
  .node("a", end, { done: "b", other: "b" });
start
  .node("a", end, "b")
  // @ts-expect-error WF-1 an unknown target
  .build();
start
  .node("ask", ask, { go: "end", stop: "end", replan: "end", failed: "nowhere" })
  .node("end", end)
  // @ts-expect-error WF-1 an unknown target of failed
  .build();
start
  .node("a", end)
  // @ts-expect-error WF-1 a duplicate id
  .node("a", end);
start.node("a", end, "b").node(
  "b",
  // @ts-expect-error WF-1 an unknown output
  compute(({ outputs }) => outputs.c),
);
start
  .node(
    "a",
    // @ts-expect-error WF-1 an output of a node that comes later
    compute(({ outputs }) => outputs.b),
    "b",
  )
  .node("b", end);
start
  .later("b", z.string())
  .node(
    "a",
    compute(({ results }) => results.b?.status ?? null),
  )
  // @ts-expect-error WF-1 a promised node that never comes
  .build();
start
  .later("b", z.object({ text: z.string() }))
  // @ts-expect-error WF-1 a promised node of another type
  .node("b", end);
start
  .later("ask", approval)
  // @ts-expect-error WF-1 a promised decision with other choices
  .node("ask", humanDecision({ audience: "operator", choices: { go: { label: "Go" }, no: { label: "No" } }, request }), {
    go: "ask",
    no: "ask",
  });
start
  .node("a", end)
  // @ts-expect-error WF-1 a promise of a node that is there
  .later("a", z.number());
start.later("b", z.string()).node(
  "a",
  // @ts-expect-error WF-1 a result read without looking at its status
  compute(({ results }) => results.b.output),
);
start.later("ask", approval).node(
  "a",
  // @ts-expect-error WF-1 the text of a choice that has none
  compute(({ results }) => (results.ask?.status === "accepted" && results.ask.output.choice === "go" ? results.ask.output.input : null)),
);
start.node(
  "a",
  // @ts-expect-error WF-1 a field that the input does not have
  compute(({ input }) => input.m),
);
start.node("ask", ask, { go: "end", stop: "end", replan: "end" }).node(
  "end",
  // @ts-expect-error WF-1 a comparison with a choice that the decision does not offer
  compute(({ outputs }) => outputs.ask.choice === "gone"),
);
humanDecision({
  audience: "operator",
  choices: approval,
  request,
  // @ts-expect-error WF-1 a default answer that is not offered
  onTimeout: { afterMs: 1, response: { choice: "later" } },
});
humanDecision({
  audience: "operator",
  choices: approval,
  request,
  // @ts-expect-error WF-1 a default answer without the text that its choice asks for
  onTimeout: { afterMs: 1, response: { choice: "replan" } },
});
// @ts-expect-error WF-1 a request without a title
humanDecision({ audience: "operator", choices: approval, request: () => ({ subject: 1 }) });
// @ts-expect-error WF-1 a returned value that the schema does not take
action({ run: () => ({ id: 1 }), output: z.object({ id: z.string() }) });
// @ts-expect-error WF-1 a returned value that the schema of a compute node does not take
compute(() => ({ id: 1 }), { output: z.object({ id: z.string() }) });
const sized = compute(() => 3, { route: (n) => (n > 2 ? "big" : "small") });
start
  // @ts-expect-error WF-1 a route to a case without target
  .node("a", sized, { big: "b" });
start
  // @ts-expect-error WF-1 a route and no targets
  .node("a", shell({ command: "true", route: () => "fine" }));
// @ts-expect-error WF-1 a command that is no text
shell({ command: 3 });
// @ts-expect-error WF-1 a deadline that is no number
action({ run: () => 1, timeoutMs: "1 s" });
// @ts-expect-error WF-1 an input that is no schema
workflow({ name: "ship", input: { task: "text" } });

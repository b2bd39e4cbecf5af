import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { check, checkMarks } from "./check.ts";

test("WF-1 each mistake that the types find is an error at its own line, and the workflow's own mistakes name the node", { timeout: 120_000 }, async () => {
  const source = readFileSync(join(import.meta.dirname, "mistakes.ts"), "utf8").replaceAll("../../src/", "../../../src/");
  const { found, others } = await checkMarks(source, "WF-1");
  expect(found.filter(([, text]) => text === "no error")).toEqual([]);
  expect(others).toEqual([]);

  const sentences = Object.fromEntries(
    found.flatMap(([contract, text]) =>
      text.includes("Mistake<") ? [[contract, /Mistake<((?:"(?:\\.|[^"\\])*"(?: \| )?)+)>/.exec(text)?.[1]?.replaceAll('\\"', "'")]] : [],
    ),
  );
  expect(sentences).toMatchInlineSnapshot(`
    {
      "a case without target: replan": ""node 'ask' has no target for its case 'replan'"",
      "a decision with one target for all cases": ""node 'ask' has no target for its case 'go'" | "node 'ask' has no target for its case 'replan'" | "node 'ask' has no target for its case 'stop'"",
      "a decision without routes": ""node 'ask' needs a target for each of its cases: go" | "node 'ask' needs a target for each of its cases: replan" | "node 'ask' needs a target for each of its cases: stop"",
      "a duplicate id": ""two nodes are named 'a'"",
      "a promise of a node that is there": ""node 'a' is there already"",
      "a promised decision with other choices": ""node 'ask' was promised by later() with another output"",
      "a promised node of another type": ""node 'b' was promised by later() with another output"",
      "a promised node that never comes": ""later() promised a node 'b' that never comes"",
      "a route and no targets": ""node 'a' needs a target for each of its cases: fine"",
      "a route to a case without target": ""node 'a' has no target for its case 'small'"",
      "a target for a case that the node does not have: maybe": ""node 'ask' has no case 'maybe'"",
      "an extra case of a node with one outcome": ""node 'a' has no case 'other'"",
      "an unknown target": ""node 'a' goes to 'b', but no node is named 'b'"",
      "an unknown target of failed": ""node 'ask' goes to 'nowhere', but no node is named 'nowhere'"",
    }
  `);
});

test("WF-7 a workflow of 80 nodes is checked in less than 3 seconds", { timeout: 120_000, retry: 2 }, async () => {
  const empty = await check('import { workflow } from "../../../src/workflow/authoring.ts";\nvoid workflow;\n');
  const nodes = Array.from({ length: 80 }, (_, i) => {
    const before = i === 0 ? "input.n" : `outputs.n${i - 1}.value + (results.n${Math.max(0, i - 7)}?.status === "accepted" ? 1 : 0)`;
    if (i % 8 === 7)
      return `  .node("n${i}", humanDecision({ audience: "o", choices: { go: { label: "Go" }, back: { label: "Back", input: text("Why?") } }, request: ({ outputs }) => ({ title: "t", subject: outputs.n${i - 1}.value }) }), { go: "n${i + 1}", back: "n${i - 1}" })`;
    const value = i % 8 === 0 && i > 0 ? `outputs.n${i - 1}.choice === "back" ? outputs.n${i - 1}.input.length : 0` : before;
    return `  .node("n${i}", compute(({ ${i === 0 ? "input" : value.includes("results") ? "outputs, results" : "outputs"} }) => ({ value: ${value}, name: "n${i}" })), { done: "n${i + 1}", failed: "n80" })`;
  });
  const big = await check(`import { z } from "zod";
import { compute, humanDecision, text, workflow } from "../../../src/workflow/authoring.ts";
export const big = workflow({ name: "big", input: z.object({ n: z.number() }) })
${nodes.join("\n")}
  .node("n80", compute(({ outputs }) => outputs.n78.value))
  .build();
const wrong: string = big.graph.maxSteps;
`);
  // The one wrong line proves that the file was looked at.
  expect(big.messages.map(({ text }) => text.trim())).toEqual(["error TS2322: Type 'number' is not assignable to type 'string'."]);
  expect(big.seconds - empty.seconds).toBeLessThan(3);
});

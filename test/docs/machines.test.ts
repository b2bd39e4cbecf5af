import { test, expect } from "vitest";
import { decisionMachine } from "../../machines/decisionMachine.ts";
import { effectMachine } from "../../machines/effectMachine.ts";
import { humanDecisionNode } from "../../machines/nodes/humanDecisionNode.ts";
import { runMachine } from "../../machines/runMachine.ts";
import { machinePage } from "./machinePages.ts";

const pages = [
  ["run", runMachine, "One execution of a workflow for one input."],
  ["effect", effectMachine, "Work outside the database that a transition asked for."],
  ["decision", decisionMachine, "One question put to people, settled at most once."],
  ["humanDecision", humanDecisionNode, "The node that prepares a decision, waits for it and ends with its outcome."],
] as const;

for (const [name, machine, about] of pages) {
  test(`HOUSE-20 the page of the ${name} machine shows the chart as it is`, async () => {
    await expect(machinePage(machine, about)).toMatchFileSnapshot(`../../docs/machines/${name}.md`);
  });
}

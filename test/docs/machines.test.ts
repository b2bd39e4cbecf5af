import type { AnyStateMachine } from "xstate";
import { test, expect } from "vitest";
import { decisionMachine } from "../../machines/decisionMachine.ts";
import { effectMachine } from "../../machines/effectMachine.ts";
import { batchNode } from "../../machines/nodes/batchNode.ts";
import { checkpointNode } from "../../machines/nodes/checkpointNode.ts";
import { includeNode } from "../../machines/nodes/includeNode.ts";
import { machineNode } from "../../machines/nodes/machineNode.ts";
import { agentStepNode } from "../../machines/nodes/agentNode.ts";
import { humanDecisionNode } from "../../machines/nodes/humanDecisionNode.ts";
import { waitNode } from "../../machines/nodes/waitNode.ts";
import { runMachine } from "../../machines/runMachine.ts";
import { RunCommand } from "../../machines/runMachine.ts";
import { machinePage, type Silence } from "./machinePages.ts";

const commands: readonly string[] = RunCommand.options.map(({ shape }) => shape.type.value);
const isCommand = (event: string): boolean => commands.includes(event);

/** How the host registers the run's machine: a command is answered in every state, a fact of what is not there any more needs no answer. */
const answersOfRun: Silence = {
  answer: (event) => (isCommand(event) ? "refused: notNow" : "ignored (RUN-21)"),
  afterEnd: (event) => (isCommand(event) ? "refused: finished" : "ignored (RUN-4)"),
  answers: { answerAlready: "already" },
  legend:
    "`·` means that it stays and does what is named. `already`: it is as the command wants it, and is answered so. A command that has no meaning in a state is refused with a code; a fact that cannot come there (the graph, or the preparation, is not running) is ignored by the rule named.",
};

const pages = [
  ["run", runMachine, "One execution of a workflow for one input.", answersOfRun],
  ["effect", effectMachine, "Work outside the database that a transition asked for."],
  ["decision", decisionMachine, "One question put to people, settled at most once."],
  ["machine", machineNode, "The node around a machine of its author's: it prepares the input, and accepts the output."],
  ["wait", waitNode, "The node that waits for a time."],
  ["checkpoint", checkpointNode, "The node that waits for one answer, from anybody."],
  ["include", includeNode, "The node that is a workflow of its own."],
  ["batch", batchNode, "The node that runs many commands, some at a time."],
  ["agent", agentStepNode, "A step that an agent works on; the charts of `choose` and of `assistantMessage`, which takes no submit, are the same."],
  ["humanDecision", humanDecisionNode, "The node that prepares a decision, waits for it and ends with its outcome."],
] satisfies readonly (readonly [string, AnyStateMachine, string, Silence?])[];

for (const [name, machine, about, silence] of pages) {
  test(`HOUSE-20 the page of the ${name} machine shows the chart as it is`, async () => {
    await expect(machinePage(machine, about, silence)).toMatchFileSnapshot(`../../docs/machines/${name}.md`);
  });
}

test("RUN-21 every state of a run has its answer to every event", () => {
  const rows = machinePage(runMachine, "", answersOfRun)
    .split("\n")
    .filter((line) => line.startsWith("| "));
  const cells = rows.flatMap((row) => row.split(" | ").map((cell) => cell.replaceAll("|", "").trim()));
  expect(cells.length).toBeGreaterThan(300);
  expect(cells.filter((cell) => cell === "" || cell === "-")).toEqual([]);
});

/** `pawl workflows` and `pawl graph`: what could be started, and what it looks like. */
import { homedir } from "node:os";
import { PawlError } from "../../errors.ts";
import { namedWorkflows } from "../../host/namedWorkflows.ts";
import { visible } from "../../text/visible.ts";
import type { Environment } from "../environment.ts";
import { exitCodes, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";
import { workflowLines } from "../render/workflowList.ts";
import type { GraphFormat } from "../workflowProgram.ts";

export function listWorkflows({ cwd, json, out, width, paint, command }: Environment): ExitCode {
  const items = namedWorkflows(cwd);
  out(json ? jsonLine({ items }) : `${workflowLines(items, { width: width(), paint, command, cwd, userHome: homedir() }).join("\n")}\n`);
  return exitCodes.completed;
}

export async function showGraph(
  workflow: string | undefined,
  { format = "mermaid", run }: { readonly format?: GraphFormat; readonly run?: string },
  { cwd, home, json, out }: Environment,
): Promise<ExitCode> {
  if ((run === undefined) === (workflow === undefined))
    throw new PawlError("invalidInput", "Name a workflow, or a run with --run, and not both: `pawl graph ship`, `pawl graph --run 8B9C0D`.", {
      path: "workflow",
    });
  const { graphOfRun, graphOfWorkflow } = await import("../../host/shownGraph.ts");
  const found = workflow === undefined ? await graphOfRun(run ?? "", home) : await graphOfWorkflow(workflow, cwd);
  const { text, ...data } = found;
  out(json ? jsonLine(data) : visible(text(format)));
  return exitCodes.completed;
}

/** The commands about workflows themselves, whether one was started or not: their options and their help. What they do stands in commands/. */
import { Option, type Command } from "commander";
import { examples } from "./help.ts";

/** As src/workflow/graphText.ts writes them; named here again because help must not load what reads workflows. */
export type GraphFormat = "mermaid" | "json" | "dot";

export type WorkflowRequest =
  | { readonly command: "workflows" }
  | { readonly command: "graph"; readonly workflow: string | undefined; readonly options: { readonly format?: GraphFormat; readonly run?: string } };

export function addWorkflowCommands(root: Command, program: string, found: (request: WorkflowRequest) => void): void {
  root
    .command("workflows")
    .description("list the workflows that can be started by name from here, and which of two with one name is taken")
    .addHelpText("after", examples(program, ["workflows", "workflows --json"]))
    .action(() => found({ command: "workflows" }));
  root
    .command("graph [workflow]")
    .description("write the graph of a workflow, or of a run as it was started, for a program that draws it")
    .addOption(new Option("--format <format>", "mermaid is what Markdown draws (default), dot is for Graphviz").choices(["mermaid", "json", "dot"]))
    .option("--run <run>", "the graph that this run goes through, whatever became of its file")
    .addHelpText("after", examples(program, ["graph ship", "graph ./deploy.workflow.ts --format dot | dot -Tsvg > deploy.svg", "graph --run 8B9C0D"]))
    .action((workflow: string | undefined, options: { format?: GraphFormat; run?: string }) => found({ command: "graph", workflow, options }));
}

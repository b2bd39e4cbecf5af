/** The list of workflows that have a name here. Pure. */
import type { ListedWorkflow } from "../../host/namedWorkflows.ts";
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { CommandLine } from "./next.ts";
import type { Paint } from "./style.ts";
import { tableLines } from "./table.ts";

export interface WorkflowListContext {
  readonly width: number;
  readonly paint: Paint;
  readonly command: CommandLine;
  /** Directories that paths are shown below of. */
  readonly cwd: string;
  readonly userHome: string;
}

const places: { readonly [origin in ListedWorkflow["origin"]]: string } = { project: "project", user: "yours", builtIn: "built in" };

const none =
  "No workflow has a name here. A file NAME.workflow.ts in .pi/workflows of a project, or in ~/.pi/agent/workflows, has one; any other is started by its path.";

export function workflowLines(items: readonly ListedWorkflow[], { width, paint, command, cwd, userHome }: WorkflowListContext): readonly string[] {
  if (items.length === 0) return wrap(none, width);
  const columns = [{ title: "NAME", min: 8 }, { title: "FROM" }, { title: "STARTS", min: 6 }, { title: "FILE", min: 16 }];
  const isStartable = ({ hiddenBy, isReserved }: ListedWorkflow): boolean => hiddenBy === null && !isReserved;
  const rows = items.map((item) => {
    const tone = isStartable(item) ? ("plain" as const) : ("quiet" as const); // a tone of its own widens to string
    const starts = item.isReserved ? "no: a command has this name" : item.hiddenBy === null ? "yes" : "no: hidden by the first";
    return [item.name, places[item.origin], starts, shortPath(item.file, cwd, userHome)].map((text) => ({ text, tone }));
  });
  const first = items.find(isStartable);
  return [...tableLines(columns, rows, width, paint), ...(first === undefined ? [] : ["", `Start one: ${command("run", visibleLine(first.name))}`])];
}

function shortPath(file: string, cwd: string, userHome: string): string {
  if (file.startsWith(`${cwd}/`)) return file.slice(cwd.length + 1);
  return file.startsWith(`${userHome}/`) ? `~/${file.slice(userHome.length + 1)}` : file;
}

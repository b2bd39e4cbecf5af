/** Workflows within workflows: their end nodes, their graphs, and finding one by the nodes that lead to it. */
import { PawlError } from "../errors.ts";
import type { AnyWorkflow } from "./definition.ts";
import type { Graph } from "./graph.ts";

/** Ids of the nodes that a graph may end with as completed: those with an outcome that goes nowhere. */
export const exitsOf = ({ nodes }: Graph): readonly string[] =>
  nodes.filter(({ cases, routes }) => cases.some((name) => routes[name] === undefined)).map(({ id }) => id);

/** Graphs of every workflow that this one includes, however deep, by digest. */
export function includedGraphs(workflow: AnyWorkflow, found = new Map<string, Graph>()): ReadonlyMap<string, Graph> {
  for (const { behaviour } of Object.values(workflow.nodes)) {
    if (behaviour.kind !== "include" || found.has(behaviour.child.graphDigest)) continue;
    found.set(behaviour.child.graphDigest, behaviour.child.graph);
    includedGraphs(behaviour.child, found);
  }
  return found;
}

/** The workflow that a node stands in, and its id there. `path`: `sub/inner` for a node of the workflow that `sub` includes. @throws internal */
export function workflowOf(workflow: AnyWorkflow, path: string): { readonly workflow: AnyWorkflow; readonly id: string } {
  const slash = path.indexOf("/");
  if (slash < 0) return { workflow, id: path };
  const name = path.slice(0, slash);
  const behaviour = Object.hasOwn(workflow.nodes, name) ? workflow.nodes[name]?.behaviour : undefined;
  if (behaviour?.kind !== "include") throw new PawlError("internal", `Workflow "${workflow.name}" includes nothing at node "${name}".`, { subject: name });
  return workflowOf(behaviour.child, path.slice(slash + 1));
}

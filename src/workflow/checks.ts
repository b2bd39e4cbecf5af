/** The rules of a workflow at run time, for authors without a compiler: what the types refuse is refused here too, by name and with the mend. */
import { z, type ZodType } from "zod";
import { PawlError } from "../errors.ts";
import { closestTo } from "../text/closest.ts";
import type { AnyNode } from "./definition.ts";
import { defaultMaxSteps, defaultTimeoutMs, doneCase, Graph, isSoftCase, nodeIdPattern, type GraphNode } from "./graph.ts";
import { nodeProblems } from "./nodeChecks.ts";
import { nodeData } from "./nodeData.ts";
import { reservedNames } from "./reservedNames.ts";
import { isSchema } from "./schema.ts";

/** What a builder has collected; nothing of it is trusted. */
export interface Draft {
  readonly name: string;
  readonly input: ZodType;
  readonly maxSteps: number | undefined;
  readonly promised: readonly string[];
  readonly nodes: readonly DraftNode[];
}

export interface DraftNode {
  readonly id: string;
  readonly definition: AnyNode;
  readonly next: unknown;
}

const longestNameUnits = 256;
const controlCharacter = /\p{Cc}/u;

/** @throws invalidWorkflow with every problem, each naming its node. */
export function checkedGraph(draft: Draft): Graph {
  const ids = draft.nodes.map(({ id }) => id);
  const problems = [
    ...headProblems(draft),
    ...idProblems(ids),
    ...draft.nodes.flatMap((node) => nodeProblems(node, ids)),
    ...promiseProblems(draft.promised, ids),
  ];
  if (problems.length === 0) problems.push(...reachProblems(draft));
  if (problems.length > 0) throw invalidWorkflow(draft.name, problems);
  const first = ids[0] ?? "";
  const checked = Graph.safeParse({
    schema: "pawl.graph.v1",
    name: draft.name,
    entry: first,
    maxSteps: draft.maxSteps ?? defaultMaxSteps,
    nodes: draft.nodes.map(graphNode),
  });
  if (!checked.success) throw invalidWorkflow(draft.name, [z.prettifyError(checked.error)]);
  return checked.data;
}

function invalidWorkflow(name: unknown, problems: readonly string[]): PawlError {
  const subject = typeof name === "string" && name !== "" ? name : "(without a name)";
  const text = problems.length === 1 ? ` ${problems[0]}` : `\n${problems.map((problem) => `  - ${problem}`).join("\n")}`;
  return new PawlError("invalidWorkflow", `Workflow "${subject}" cannot be built:${text}`, { subject });
}

function headProblems({ name, input, maxSteps, nodes }: Draft): string[] {
  const problems: string[] = [];
  if (typeof name !== "string" || name.trim() === "" || name.length > longestNameUnits || controlCharacter.test(name))
    problems.push(`its name must be text of 1 to ${longestNameUnits} characters without control characters.`);
  else if (reservedNames.includes(name)) problems.push(`the name "${name}" is that of a command; choose another (taken: ${reservedNames.join(", ")}).`);
  if (!isSchema(input)) problems.push("its input must be a zod schema, such as z.object({ task: z.string() }).");
  if (maxSteps !== undefined && !(Number.isSafeInteger(maxSteps) && maxSteps >= 1))
    problems.push(`maxSteps must be a whole number of at least 1, not ${String(maxSteps)}.`);
  if (nodes.length === 0) problems.push("it has no node; add one with .node(id, definition).");
  return problems;
}

function idProblems(ids: readonly unknown[]): string[] {
  const problems: string[] = [];
  for (const [index, id] of ids.entries()) {
    if (typeof id !== "string" || !nodeIdPattern.test(id) || id === "__proto__")
      problems.push(
        `node ${index + 1} has the id ${JSON.stringify(id) ?? String(id)}; an id is a letter or _, then up to 63 letters, digits, _ or -, and not __proto__.`,
      );
    else if (ids.indexOf(id) !== index && ids.lastIndexOf(id) === index) problems.push(`two nodes are named "${id}"; give one of them another id.`);
  }
  return problems;
}

function promiseProblems(promised: readonly string[], ids: readonly string[]): string[] {
  return promised
    .filter((id, index) => !ids.includes(id) || promised.indexOf(id) !== index)
    .map((id) =>
      ids.includes(id)
        ? `later("${id}") stands there twice; leave one.`
        : `later("${id}") promised a node that never comes; add it or take the promise away. ${closestTo(id, ids)}`,
    );
}

/** Nodes that no route leads to. A cycle is allowed: `maxSteps` bounds it. */
function reachProblems({ nodes }: Draft): string[] {
  const targets = new Map(nodes.map((node) => [node.id, [...new Set(Object.values(routesOf(node)))]]));
  const first = nodes[0];
  const reached = new Set<string>();
  const open = first ? [first.id] : [];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    open.push(...(targets.get(id) ?? []));
  }
  return nodes
    .filter(({ id }) => !reached.has(id))
    .map(
      ({ id }) => `no route leads to node "${id}"; name it as the next of another node, or take it away. The first node, "${first?.id ?? ""}", is the entry.`,
    );
}

/** Targets by case. `next` has passed `nodeProblems`. */
function routesOf({ next }: DraftNode): { readonly [name: string]: string } {
  if (typeof next === "string") return { [doneCase]: next };
  if (typeof next !== "object" || next === null) return {};
  return Object.fromEntries(Object.entries(next).flatMap(([name, target]): [string, string][] => (typeof target === "string" ? [[name, target]] : [])));
}

function graphNode(node: DraftNode): GraphNode {
  const { settings, behaviour } = node.definition;
  const routes = routesOf(node);
  const timeoutMs = settings.timeoutMs;
  return {
    id: node.id,
    kind: behaviour.kind,
    cases: [...(settings.cases ?? Object.keys(routes).filter((name) => !isSoftCase(name)))],
    routes,
    timeoutMs: timeoutMs === undefined ? defaultTimeoutMs : typeof timeoutMs === "function" ? "callback" : timeoutMs,
    once: settings.once,
    ...(settings.retry ? { retry: { ...settings.retry } } : {}),
    statusDetail: settings.statusDetail ?? null,
    ...nodeData(behaviour),
  };
}

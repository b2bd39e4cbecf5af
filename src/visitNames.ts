/** Ids of graphs and visits, read: a run's graph is `<run>/graph`, a visit `<graph>/<node>.<n>`, the graph that a visit includes `<visit>/graph`. */

/** A node and the number of its visit. */
export interface VisitName {
  readonly node: string;
  readonly number: number;
}

/** Id of a run's graph actor: the child that runMachine calls `graph`. */
export const graphActor = (run: string): string => `${run}/graph`;

const between = "/graph/";

/** Node and number of a visit. */
export function visitParts(visit: string): VisitName {
  const name = visit.slice(visit.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return { node: name.slice(0, dot), number: Number(name.slice(dot + 1)) };
}

/** The graph that an actor of a run belongs to: itself, or the one whose node it is. */
export const graphOf = (actor: string): string => (actor.endsWith("/graph") ? actor : actor.slice(0, actor.lastIndexOf("/")));

/** The visit that includes this graph; null for a run's own. */
export function includingVisit(graph: string): string | null {
  const visit = graph.slice(0, -"/graph".length);
  return visit.includes(between) ? visit : null;
}

/** From the run's own graph inwards: each visit that this one, or whatever works for it, stands in, and itself. */
export const visitsAlong = (visit: string): readonly VisitName[] =>
  visit
    .split(between)
    .slice(1)
    .map((part) => visitParts(part.split("/")[0] ?? ""));

/** Nodes of the graphs that include this one, from the run's own inwards; none for a run's own. */
export const includesOf = (graph: string): readonly string[] => visitsAlong(includingVisit(graph) ?? "").map(({ node }) => node);

/** What people call the node of a visit: `inner`, `sub/inner` in an included workflow, `many[7]` for a command of a batch. */
export function nodePath(visit: string): string {
  const path = visitsAlong(visit)
    .map(({ node }) => node)
    .join("/");
  const item = /\.\d+\/item\.(\d+)$/.exec(visit)?.[1];
  return item === undefined ? path : `${path}[${item}]`;
}

/** What people call the visit: `sub.3/inner.1`. */
export const visitPath = (visit: string): string => visit.split(between).slice(1).join("/");

/** Orders visits as they were entered, the inner ones after the one that includes them. */
export function byEntry(a: string, b: string): number {
  const [left, right] = [visitsAlong(a), visitsAlong(b)];
  for (const [index, { number }] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (number !== other.number) return number - other.number;
  }
  return left.length - right.length;
}

/** The node's visit that something of a run works for: a command of a batch works for the batch. */
export const nodeVisit = (visit: string): string => visit.replace(/\/item\.\d+$/, "");

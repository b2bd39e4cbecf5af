/** A workflow's graph as text that other programs draw: Mermaid and Graphviz. Pure; the same graph gives the same text.
 *  Nodes are numbered, since an author's id may be a word of the drawing language ("end"). */
import { visibleLine } from "../text/visible.ts";
import type { Graph, GraphNode } from "./graph.ts";
import type { NodeKind } from "./kinds.ts";
import { isSoftCase } from "./graph.ts";
import { effectKinds } from "./kinds.ts";

export const graphFormats = ["mermaid", "json", "dot"] as const;
export type GraphFormat = (typeof graphFormats)[number];

/** Graphs that others include, by digest. */
export type Included = ReadonlyMap<string, Graph>;

interface Drawn {
  readonly name: string;
  readonly node: GraphNode;
  /** What an include mounts. */
  readonly inside: Drawing | null;
}

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** What happens when things go wrong. */
  readonly soft: boolean;
}

interface Drawing {
  readonly entry: string;
  readonly nodes: readonly Drawn[];
  /** Some node ends the run. */
  readonly completes: boolean;
  readonly arrows: readonly Arrow[];
}

const completed = "completed";

/** Nodes, ways and ends of a graph. A failure without a route of its own is not drawn: it would be an arrow from every node. */
function drawingOf({ nodes, entry }: Graph, included: Included, prefix = "n"): Drawing {
  const names = new Map(nodes.map(({ id }, index) => [id, `${prefix}${index + 1}`]));
  const nameOf = (id: string): string => names.get(id) ?? id;
  const arrows = nodes.flatMap(({ id, cases, routes }): Arrow[] => {
    const from = nameOf(id);
    const ways = new Map<string, { labels: string[]; soft: boolean }>();
    const way = (to: string, label: string, soft: boolean): void => {
      const known = ways.get(`${to} ${soft}`) ?? { labels: [], soft };
      ways.set(`${to} ${soft}`, { labels: [...known.labels, label], soft });
    };
    const isPlain = cases.length === 1;
    for (const name of cases) way(routes[name] === undefined ? completed : nameOf(routes[name]), isPlain ? "" : name, false);
    for (const [name, to] of Object.entries(routes)) if (isSoftCase(name)) way(nameOf(to), name, true);
    return [...ways].map(([key, { labels, soft }]) => ({ from, to: key.split(" ")[0] ?? key, label: labels.filter((label) => label !== "").join(", "), soft }));
  });
  return {
    entry: nameOf(entry),
    nodes: nodes.map((node) => {
      const graph = node.include && included.get(node.include.graph);
      const name = nameOf(node.id);
      return { name, node, inside: graph ? drawingOf(graph, included, `${name}_`) : null };
    }),
    completes: arrows.some(({ to }) => to === completed),
    arrows,
  };
}

/** Kinds that wait for somebody or something. */
const waits = (kind: NodeKind): boolean => kind !== "batch" && !effectKinds.some((effect) => effect === kind);

const labelLines = ({ id, kind, statusDetail }: GraphNode): readonly string[] => [
  id,
  ...(statusDetail === null ? [kind] : [`${kind}: ${visibleLine(statusDetail)}`]),
];

/** A flowchart, as Markdown of many places draws it in a block of the language `mermaid`. */
export function graphMermaid(graph: Graph, included: Included = new Map()): string {
  const { entry, nodes, completes, arrows } = drawingOf(graph, included);
  const label = (lines: readonly string[]): string => `"${lines.map(mermaidText).join("<br/>")}"`;
  const boxes = ({ name, node, inside }: Drawn): readonly string[] => {
    const lines = label(labelLines(node));
    if (inside === null) return [waits(node.kind) ? `${name}{{${lines}}}` : `${name}[${lines}]`];
    return [
      `subgraph ${name}[${lines}]`,
      ...inside.nodes.flatMap(boxes).map(indented),
      ...insideArrows(inside).map((arrow) => indented(mermaidArrow(arrow))),
      "end",
    ];
  };
  const lines = [
    "flowchart TD",
    `  start((" ")) --> ${entry}`,
    ...nodes.flatMap((drawn) => boxes(drawn).map((line) => `  ${line}`)),
    ...(completes ? [`  ${completed}(["completed"])`] : []),
    ...arrows.map((arrow) => `  ${mermaidArrow(arrow)}`),
  ];
  return `${lines.join("\n")}\n`;
}

const mermaidArrow = ({ from, to, label, soft }: Arrow): string => `${from} ${soft ? "-.->" : "-->"}${label === "" ? "" : `|"${mermaidText(label)}"|`} ${to}`;

const mermaidText = (text: string): string => text.replaceAll(/[#"<>&|]/g, (character) => `#${character.charCodeAt(0)};`);

/** A digraph for Graphviz. */
export function graphDot(graph: Graph, included: Included = new Map()): string {
  const { entry, nodes, completes, arrows } = drawingOf(graph, included);
  const label = (lines: readonly string[]): string => `"${lines.map(dotText).join("\\n")}"`;
  const dotArrow = ({ from, to, label: text, soft }: Arrow): string =>
    `${from} -> ${to}${attributes([...(text === "" ? [] : [`label=${label([text])}`]), ...(soft ? ["style=dashed"] : [])])};`;
  const boxes = ({ name, node, inside }: Drawn): readonly string[] => {
    const box = `${name} [label=${label(labelLines(node))}${waits(node.kind) ? ", shape=hexagon" : ""}];`;
    if (inside === null) return [box];
    const below = [`${name} -> ${inside.entry} [style=dotted];`, ...inside.nodes.flatMap(boxes), ...insideArrows(inside).map(dotArrow)];
    return [`subgraph cluster_${name} {`, ...[box, ...below].map(indented), "}"];
  };
  const lines = [
    `digraph ${label([visibleLine(graph.name)])} {`,
    "  node [fontname=sans, shape=box, style=rounded];",
    "  edge [fontname=sans, fontsize=10];",
    `  start [shape=point]; start -> ${entry};`,
    ...nodes.flatMap((drawn) => boxes(drawn).map((line) => `  ${line}`)),
    ...(completes ? [`  ${completed} [label="completed", shape=oval];`] : []),
    ...arrows.map((arrow) => `  ${dotArrow(arrow)}`),
    "}",
  ];
  return `${lines.join("\n")}\n`;
}

/** Where an included workflow ends the include goes on: there is no arrow to an end of the run. */
const insideArrows = ({ arrows }: Drawing): readonly Arrow[] => arrows.filter(({ to }) => to !== completed);

const indented = (line: string): string => `  ${line}`;

const attributes = (all: readonly string[]): string => (all.length === 0 ? "" : ` [${all.join(", ")}]`);

const dotText = (text: string): string => text.replaceAll(/["\\]/g, (character) => `\\${character}`);

export const graphJson = (graph: Graph): string => `${JSON.stringify(graph, null, 2)}\n`;

const writers: { readonly [format in GraphFormat]: (graph: Graph, included: Included) => string } = { mermaid: graphMermaid, json: graphJson, dot: graphDot };

/** `included`: graphs that are drawn inside of the nodes that include them. */
export const graphText = (graph: Graph, format: GraphFormat, included: Included = new Map()): string => writers[format](graph, included);

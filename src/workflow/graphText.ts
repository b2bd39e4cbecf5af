/** A workflow's graph as text that other programs draw: Mermaid and Graphviz. Pure; the same graph gives the same text.
 *  Nodes are numbered, since an author's id may be a word of the drawing language ("end"). */
import { visibleLine } from "../text/visible.ts";
import type { Graph, GraphNode, NodeKind } from "./graph.ts";
import { isSoftCase } from "./graph.ts";

export const graphFormats = ["mermaid", "json", "dot"] as const;
export type GraphFormat = (typeof graphFormats)[number];

interface Drawn {
  readonly name: string;
  readonly node: GraphNode;
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
function drawingOf({ nodes, entry }: Graph): Drawing {
  const names = new Map(nodes.map(({ id }, index) => [id, `n${index + 1}`]));
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
    nodes: nodes.map((node) => ({ name: nameOf(node.id), node })),
    completes: arrows.some(({ to }) => to === completed),
    arrows,
  };
}

/** Kinds that wait for somebody or something. */
const waits = (kind: NodeKind): boolean => !["compute", "action", "shell"].includes(kind);

const labelLines = ({ id, kind, statusDetail }: GraphNode): readonly string[] => [
  id,
  ...(statusDetail === null ? [kind] : [`${kind}: ${visibleLine(statusDetail)}`]),
];

/** A flowchart, as Markdown of many places draws it in a block of the language `mermaid`. */
export function graphMermaid(graph: Graph): string {
  const { entry, nodes, completes, arrows } = drawingOf(graph);
  const label = (lines: readonly string[]): string => `"${lines.map(mermaidText).join("<br/>")}"`;
  const box = ({ name, node }: Drawn): string => (waits(node.kind) ? `${name}{{${label(labelLines(node))}}}` : `${name}[${label(labelLines(node))}]`);
  const lines = [
    "flowchart TD",
    `  start((" ")) --> ${entry}`,
    ...nodes.map((drawn) => `  ${box(drawn)}`),
    ...(completes ? [`  ${completed}(["completed"])`] : []),
    ...arrows.map(({ from, to, label: text, soft }) => `  ${from} ${soft ? "-.->" : "-->"}${text === "" ? "" : `|"${mermaidText(text)}"|`} ${to}`),
  ];
  return `${lines.join("\n")}\n`;
}

const mermaidText = (text: string): string => text.replaceAll(/[#"<>&|]/g, (character) => `#${character.charCodeAt(0)};`);

/** A digraph for Graphviz. */
export function graphDot(graph: Graph): string {
  const { entry, nodes, completes, arrows } = drawingOf(graph);
  const label = (lines: readonly string[]): string => `"${lines.map(dotText).join("\\n")}"`;
  const lines = [
    `digraph ${label([visibleLine(graph.name)])} {`,
    "  node [fontname=sans, shape=box, style=rounded];",
    "  edge [fontname=sans, fontsize=10];",
    `  start [shape=point]; start -> ${entry};`,
    ...nodes.map(({ name, node }) => `  ${name} [label=${label(labelLines(node))}${waits(node.kind) ? ", shape=hexagon" : ""}];`),
    ...(completes ? [`  ${completed} [label="completed", shape=oval];`] : []),
    ...arrows.map(
      ({ from, to, label: text, soft }) =>
        `  ${from} -> ${to}${attributes([...(text === "" ? [] : [`label=${label([text])}`]), ...(soft ? ["style=dashed"] : [])])};`,
    ),
    "}",
  ];
  return `${lines.join("\n")}\n`;
}

const attributes = (all: readonly string[]): string => (all.length === 0 ? "" : ` [${all.join(", ")}]`);

const dotText = (text: string): string => text.replaceAll(/["\\]/g, (character) => `\\${character}`);

export const graphJson = (graph: Graph): string => `${JSON.stringify(graph, null, 2)}\n`;

const writers: { readonly [format in GraphFormat]: (graph: Graph) => string } = { mermaid: graphMermaid, json: graphJson, dot: graphDot };

export const graphText = (graph: Graph, format: GraphFormat): string => writers[format](graph);

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { choices, compute, humanDecision, include, shell, text, workflow } from "../../src/workflow/authoring.ts";
import type { Graph } from "../../src/workflow/graph.ts";
import { includedGraphs } from "../../src/workflow/included.ts";
import { graphText } from "../../src/workflow/graphText.ts";

const approval = choices({ go: { label: "Go" }, stop: { label: "Stop" }, replan: { label: "Again", input: text("What?") } });

const ship = workflow({ name: "ship", input: z.object({}) })
  .node("end", shell({ command: "true", statusDetail: `Reads "all" <it>; #1 & 2|3` }), { done: "ask", failed: "stopped", timedOut: "stopped" })
  .node("ask", humanDecision({ audience: "operator", choices: approval, request: () => ({ title: "Go?", subject: {} }) }), {
    go: "built",
    stop: "stopped",
    replan: "end",
  })
  .node(
    "built",
    compute(() => 1),
  )
  .node(
    "stopped",
    compute(() => 2),
  )
  .build();

describe("a graph as text", () => {
  test("WF-34 Mermaid: every node with its kind, every way with its cases, what happens when things go wrong dashed", () => {
    expect(graphText(ship.graph, "mermaid")).toBe(`flowchart TD
  start((" ")) --> n1
  n1["end<br/>shell: Reads #34;all#34; #60;it#62;; #35;1 #38; 2#124;3"]
  n2{{"ask<br/>humanDecision"}}
  n3["built<br/>compute"]
  n4["stopped<br/>compute"]
  completed(["completed"])
  n1 --> n2
  n1 -.->|"failed, timedOut"| n4
  n2 -->|"go"| n3
  n2 -->|"stop"| n4
  n2 -->|"replan"| n1
  n3 --> completed
  n4 --> completed
`);
  });

  test("WF-34 Graphviz gets the same", () => {
    expect(graphText(ship.graph, "dot")).toBe(`digraph "ship" {
  node [fontname=sans, shape=box, style=rounded];
  edge [fontname=sans, fontsize=10];
  start [shape=point]; start -> n1;
  n1 [label="end\\nshell: Reads \\"all\\" <it>; #1 & 2|3"];
  n2 [label="ask\\nhumanDecision", shape=hexagon];
  n3 [label="built\\ncompute"];
  n4 [label="stopped\\ncompute"];
  completed [label="completed", shape=oval];
  n1 -> n2;
  n1 -> n4 [label="failed, timedOut", style=dashed];
  n2 -> n3 [label="go"];
  n2 -> n4 [label="stop"];
  n2 -> n1 [label="replan"];
  n3 -> completed;
  n4 -> completed;
}
`);
  });

  test("WF-34 an included workflow is drawn inside of its node, two deep, without ends of its own", () => {
    const inner = workflow({ name: "inner", input: z.object({}) })
      .node(
        "look",
        compute(() => 1, { route: () => "good", cases: ["good", "bad"] }),
        { good: "fine", bad: "poor" },
      )
      .node(
        "fine",
        compute(() => 1),
      )
      .node(
        "poor",
        compute(() => 2),
      )
      .build();
    const middle = workflow({ name: "middle", input: z.object({}) })
      .node("deep", include(inner, { input: {} }), { fine: "over", poor: "over" })
      .node(
        "over",
        compute(() => 3),
      )
      .build();
    const outer = workflow({ name: "outer", input: z.object({}) })
      .node("sub", include(middle, { input: {} }), { over: "last" })
      .node(
        "last",
        compute(() => 4),
      )
      .build();
    const included = includedGraphs(outer);
    expect(included.size).toBe(2);
    expect(graphText(outer.graph, "mermaid", included)).toBe(`flowchart TD
  start((" ")) --> n1
  subgraph n1["sub<br/>include"]
    subgraph n1_1["deep<br/>include"]
      n1_1_1["look<br/>compute"]
      n1_1_2["fine<br/>compute"]
      n1_1_3["poor<br/>compute"]
      n1_1_1 -->|"good"| n1_1_2
      n1_1_1 -->|"bad"| n1_1_3
    end
    n1_2["over<br/>compute"]
    n1_1 -->|"fine, poor"| n1_2
  end
  n2["last<br/>compute"]
  completed(["completed"])
  n1 --> n2
  n2 --> completed
`);
    expect(graphText(outer.graph, "dot", included)).toContain(`  subgraph cluster_n1 {
    n1 [label="sub\\ninclude", shape=hexagon];
    n1 -> n1_1 [style=dotted];
    subgraph cluster_n1_1 {`);
    expect(graphText(outer.graph, "mermaid")).toContain('n1{{"sub<br/>include"}}');
  });

  test("WF-34 JSON is the graph itself", () => {
    expect(JSON.parse(graphText(ship.graph, "json"))).toEqual(ship.graph);
  });

  test("WF-34 no text of an author ends a label early or begins a line", () => {
    const withText = (detail: string): Graph => ({ ...ship.graph, nodes: ship.graph.nodes.map((node) => ({ ...node, statusDetail: detail })) });
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 120 }), (detail) => {
        const count = (graph: Graph, format: "mermaid" | "dot"): number => graphText(graph, format).split("\n").length;
        for (const format of ["mermaid", "dot"] as const) expect(count(withText(detail), format)).toBe(count(ship.graph, format));
        for (const line of graphText(withText(detail), "mermaid").split("\n")) expect(line.split('"').length % 2).toBe(1);
      }),
    );
  });
});

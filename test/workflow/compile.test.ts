import { describe, expect, test } from "vitest";
import { createActor, fromPromise, waitFor, type AnyMachineSnapshot } from "xstate";
import { getShortestPaths } from "xstate/graph";
import { z } from "zod";
import { markOf } from "../../machines/define.ts";
import { createStepper, type OwnHydrated, type OwnResult } from "../../src/runtime/step.ts";
import { defineMachine } from "../../src/runtime/registry.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { action, choices, compute, humanDecision, shell, text, workflow } from "../../src/workflow/authoring.ts";
import { compileGraph } from "../../src/workflow/compile.ts";
import type { NodeResult } from "../../src/workflow/context.ts";
import { executeNode } from "../../src/workflow/execute.ts";
import { digestOfGraph, Graph, graphMachineId, type GraphInput, type GraphOutput, type NodeInput, type NodeOutput } from "../../src/workflow/graph.ts";
import { contextFor } from "./contexts.ts";

const run = "r_00000000000000000000000001";
const input: GraphInput = { run, graph: "g", source: "s" };
const approval = choices({ go: { label: "Go" }, stop: { label: "Stop" }, replan: { label: "Plan again", input: text("What should change?") } });

const ship = workflow({ name: "ship", input: z.object({ task: z.string() }), maxSteps: 9 })
  .later("approve", approval)
  .node(
    "propose",
    compute(({ input: { task }, results }) => ({
      plan: results.approve?.status === "accepted" && results.approve.output.choice === "replan" ? results.approve.output.input : task,
    })),
    { done: "approve", failed: "stopped" },
  )
  .node("approve", humanDecision({ audience: "operator", choices: approval, request: ({ outputs }) => ({ title: "Approve", subject: outputs.propose }) }), {
    go: "build",
    stop: "stopped",
    replan: "propose",
    timedOut: "stopped",
  })
  .node(
    "build",
    action({
      run: ({ outputs }) => ({ built: outputs.propose.plan }),
      once: true,
      retry: { maxAttempts: 2, initialMs: 10 },
      timeoutMs: 5000,
      statusDetail: "Building",
    }),
    "check",
  )
  .node("check", shell({ command: "true", timeoutMs: () => 3, route: ({ exitCode }) => (exitCode === 0 ? "fine" : "bad") }), { fine: "finished", bad: "check" })
  .node(
    "stopped",
    compute(() => "stopped"),
  )
  .node(
    "finished",
    compute(() => "finished"),
  )
  .build();

describe("the graph as data", () => {
  test("WF-20 the graph holds nodes, kinds, cases, targets and limits, and survives JSON", () => {
    expect(ship.graph).toMatchInlineSnapshot(`
      {
        "entry": "propose",
        "maxSteps": 9,
        "name": "ship",
        "nodes": [
          {
            "cases": [
              "done",
            ],
            "id": "propose",
            "kind": "compute",
            "once": false,
            "routes": {
              "done": "approve",
              "failed": "stopped",
            },
            "statusDetail": null,
            "timeoutMs": 900000,
          },
          {
            "cases": [
              "go",
              "stop",
              "replan",
            ],
            "id": "approve",
            "kind": "humanDecision",
            "once": false,
            "routes": {
              "go": "build",
              "replan": "propose",
              "stop": "stopped",
              "timedOut": "stopped",
            },
            "statusDetail": null,
            "timeoutMs": null,
          },
          {
            "cases": [
              "done",
            ],
            "id": "build",
            "kind": "action",
            "once": true,
            "retry": {
              "initialMs": 10,
              "maxAttempts": 2,
            },
            "routes": {
              "done": "check",
            },
            "statusDetail": "Building",
            "timeoutMs": 5000,
          },
          {
            "cases": [
              "fine",
              "bad",
            ],
            "id": "check",
            "kind": "shell",
            "once": false,
            "routes": {
              "bad": "check",
              "fine": "finished",
            },
            "statusDetail": null,
            "timeoutMs": "callback",
          },
          {
            "cases": [
              "done",
            ],
            "id": "stopped",
            "kind": "compute",
            "once": false,
            "routes": {},
            "statusDetail": null,
            "timeoutMs": 900000,
          },
          {
            "cases": [
              "done",
            ],
            "id": "finished",
            "kind": "compute",
            "once": false,
            "routes": {},
            "statusDetail": null,
            "timeoutMs": 900000,
          },
        ],
        "schema": "pawl.graph.v1",
      }
    `);
    expect(Graph.parse(JSON.parse(JSON.stringify(ship.graph)))).toEqual(ship.graph);
    expect(ship.graphDigest).toBe(digestOfGraph(ship.graph));
  });

  test("WF-21 the digest depends on the data alone, and on all of it", () => {
    const reordered: Graph = Graph.parse(
      JSON.parse(`{"nodes":${JSON.stringify(ship.graph.nodes)},"maxSteps":9,"entry":"propose","name":"ship","schema":"pawl.graph.v1"}`),
    );
    expect(digestOfGraph(reordered)).toBe(ship.graphDigest);
    for (const changed of [
      { maxSteps: 10 },
      { name: "ships" },
      { entry: "build" },
      { nodes: ship.graph.nodes.slice(1) },
      { nodes: ship.graph.nodes.map((node) => ({ ...node, once: true })) },
    ])
      expect(digestOfGraph({ ...ship.graph, ...changed })).not.toBe(ship.graphDigest);
  });
});

describe("the machine as data", () => {
  test("WF-22 a state per node, each invoking an actor of its own id by name; the definition is registered as durable", () => {
    const machine = compileGraph(ship.graph, ship.graphDigest);
    expect([machine.id, machine.config.version]).toEqual([graphMachineId, ship.graphDigest]);
    const states = Object.entries(machine.config.states ?? {});
    expect(states.map(([name]) => name)).toEqual([...ship.graph.nodes.map(({ id }) => id), "$paused", "$completed", "$failed", "$timedOut"]);
    const stored: { states: { [name: string]: { invoke?: { id: string; src: string } } } } = JSON.parse(JSON.stringify(machine.config));
    for (const { id } of ship.graph.nodes) expect(stored.states[id]?.invoke).toMatchObject({ id, src: id });
    expect(defineMachine(machine).digest).toBe(defineMachine(compileGraph(ship.graph, ship.graphDigest)).digest);
  });

  test("WF-23 the actors name effects with the policy of their node", () => {
    const { actors } = compileGraph(ship.graph, ship.graphDigest).implementations;
    const nodeInput: NodeInput = { run, node: "build", visit: "build.3", once: true };
    const effectOf = (id: string) => {
      const mark = markOf(actors[id]);
      if (mark?.kind !== "effect") throw new Error(`${id} is no effect`);
      const { once, visit, ...options } = mark.options;
      return { type: mark.type, ...options, once: typeof once === "function" ? once(nodeInput as never) : once, visit: visit?.(nodeInput as never) }; // the mark forgets the input's type
    };
    expect(effectOf("propose")).toEqual({ type: "pawl.compute", timeoutMs: 900_000, once: true, visit: "build.3" });
    expect(effectOf("build")).toEqual({
      type: "pawl.action",
      timeoutMs: 5000,
      retry: { maxAttempts: 2, initialMs: 10 },
      maxInterrupted: 3,
      once: true,
      visit: "build.3",
    });
    expect(effectOf("check")).toEqual({ type: "pawl.shell", timeoutMs: null, maxInterrupted: 3, once: true, visit: "build.3" });
    expect(markOf(actors["approve"])).toMatchObject({ kind: "child" });
  });
});

/** Walks the compiled machine as the runtime does: pure steps under a parent, with a JSON round trip between them. */
class Walk {
  readonly stepper;
  at: OwnResult;
  readonly context: () => { step: number; visits: object; paused: boolean; target: string | null; end: unknown };
  constructor(graph: Graph) {
    this.stepper = createStepper(compileGraph(graph, "digest"));
    this.at = this.stepper.init(`${run}/graph`, run, input);
    this.context = () => this.snapshot().context;
  }
  snapshot(): AnyMachineSnapshot {
    return this.at.next.snapshot;
  }
  send(event: { readonly type: string; readonly [key: string]: unknown }): this {
    const restored: OwnHydrated = this.stepper.hydrate(`${run}/graph`, run, this.stepper.persist(this.at.next).snapshot);
    this.at = this.stepper.step(restored, event);
    return this;
  }
  done(node: string, output: unknown): this {
    return this.send({ type: `xstate.done.actor.${node}`, output, actorId: node });
  }
  failed(node: string, error: unknown): this {
    return this.send({ type: `xstate.error.actor.${node}`, error, actorId: node });
  }
  get told(): readonly unknown[] {
    return this.at.records.flatMap((record) => (record.kind === "send" && record.to.kind === "parent" ? [record.event] : []));
  }
  get spawned(): readonly unknown[] {
    return this.at.records.flatMap((record) => (record.kind === "spawn" ? [{ key: record.key, src: record.src, input: record.input }] : []));
  }
}

describe("stepping", () => {
  test("WF-24 one step a node; a node's visit has the number of the entry; plain steps tell the parent nothing", () => {
    const walk = new Walk(ship.graph);
    expect(walk.spawned).toEqual([{ key: "propose", src: "propose", input: { run, node: "propose", visit: "propose.1", once: false } }]);
    walk.done("propose", { case: "done" });
    expect([walk.snapshot().value, walk.told]).toEqual(["approve", []]);
    expect(walk.spawned).toEqual([{ key: "approve", src: "approve", input: { run, node: "approve", visit: "approve.2", once: false } }]);
    walk.done("approve", { case: "go", value: { choice: "go" } }).done("build", { case: "done" });
    expect([walk.snapshot().value, walk.told]).toEqual(["check", []]);
    walk.done("check", { case: "bad" });
    expect(walk.spawned).toEqual([{ key: "check", src: "check", input: { run, node: "check", visit: "check.5", once: false } }]);
    walk.done("check", { case: "fine" }).done("finished", { case: "done" });
    expect(walk.at).toMatchObject({ status: "done", output: { outcome: "completed", node: "finished", visit: `${run}/graph/finished.6` } });
  });

  test("WF-25 the context keeps the latest visit of each node, however long a loop runs", () => {
    const walk = new Walk({ ...ship.graph, maxSteps: 10_000 });
    const sizes: number[] = [];
    for (let round = 0; round < 50; round += 1) {
      walk.done("propose", { case: "done" }).done("approve", { case: "replan" });
      sizes.push(walk.stepper.persist(walk.at.next).context.length);
    }
    expect(walk.context().visits).toEqual({
      propose: { visit: `${run}/graph/propose.99`, status: "accepted", case: "done", reason: null },
      approve: { visit: `${run}/graph/approve.100`, status: "accepted", case: "replan", reason: null },
    });
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(10);
  });

  test("WF-26 a decision's waiting is told with its visit, and its end as active again", () => {
    const walk = new Walk(ship.graph).done("propose", { case: "done" }).send({ type: "node.waiting", node: "approve" });
    expect(walk.told).toEqual([{ type: "graph.waiting", node: "approve", visit: `${run}/graph/approve.2` }]);
    expect(walk.done("approve", { case: "stop" }).told).toEqual([{ type: "graph.active" }]);
  });

  test("WF-27 an effect that became ambiguous is told with node and visit, and that it is settled", () => {
    const walk = new Walk(ship.graph).done("propose", { case: "done" }).done("approve", { case: "go" });
    expect(walk.send({ type: "effect.ambiguous", effect: "e@3:1" }).told).toEqual([
      { type: "graph.ambiguous", node: "build", visit: `${run}/graph/build.3`, effect: "e@3:1" },
    ]);
    expect(walk.send({ type: "effect.settled", effect: "e@3:1" }).told).toEqual([{ type: "graph.active" }]);
    expect(walk.snapshot().value).toBe("build");
  });

  test("RUN-20 a paused graph ends the node that it is in, remembers the next one, and enters it when it goes on", () => {
    const walk = new Walk(ship.graph).send({ type: "graph.pause" }).done("propose", { case: "done" });
    expect(walk.told).toEqual([{ type: "graph.paused" }]);
    expect([walk.snapshot().value, walk.context().target, walk.context().step]).toEqual(["$paused", "approve", 1]);
    expect(walk.send({ type: "graph.resume" }).snapshot().value).toBe("approve");
    expect(walk.context()).toMatchObject({ paused: false, target: null, step: 2 });
    const back = new Walk(ship.graph).send({ type: "graph.pause" }).send({ type: "graph.resume" }).done("propose", { case: "done" });
    expect(back.snapshot().value).toBe("approve");
  });

  test("RUN-20 a paused graph that fails without a route, or comes to its end, ends", () => {
    const paused = () => new Walk(ship.graph).done("propose", { case: "done" }).done("approve", { case: "go" }).send({ type: "graph.pause" });
    expect(paused().failed("build", { reason: "nodeFailed", message: "no" }).at.status).toBe("done");
    const loop = new Walk(ship.graph).send({ type: "graph.pause" }).failed("propose", { reason: "nodeFailed", message: "no" });
    expect([loop.snapshot().value, loop.context().target]).toEqual(["$paused", "stopped"]);
  });

  test.each([
    ["nodeTimedOut", "timedOut"],
    ["decisionExpired", "timedOut"],
    ["nodeFailed", "failed"],
    ["decisionCancelled", "failed"],
  ])("WF-28 reason %s without a route ends the graph as %s, or takes it", (reason, outcome) => {
    const error = { reason, message: "It did not work." };
    const unrouted = new Walk(ship.graph).done("propose", { case: "done" }).done("approve", { case: "go" }).failed("build", error);
    expect(unrouted.at).toMatchObject({ status: "done", output: { outcome, node: "build", visit: `${run}/graph/build.3`, ...error } });
    const routed = new Walk(ship.graph).failed("propose", error);
    expect(routed.snapshot().value).toBe(outcome === "failed" ? "stopped" : "$timedOut");
    expect(routed.context().visits).toEqual({ propose: { visit: `${run}/graph/propose.1`, status: outcome, case: null, reason } });
  });

  test("WF-28 a child machine's output `failed` is a failure, and so is an Error of plain XState", () => {
    const expired = new Walk(ship.graph)
      .done("propose", { case: "done" })
      .done("approve", { failed: { reason: "decisionExpired", message: "Nobody answered." } });
    expect(expired.snapshot().value).toBe("stopped");
    const failed = new Walk(ship.graph).done("propose", { case: "done" }).done("approve", { failed: { reason: "nodeFailed", message: "No title." } });
    expect(failed.at).toMatchObject({ output: { outcome: "failed", node: "approve", reason: "nodeFailed", message: "No title." } });
    const thrown = new Walk(ship.graph).done("propose", { case: "done" }).done("approve", { case: "go" }).failed("build", new Error("plain"));
    expect(thrown.at).toMatchObject({ output: { outcome: "failed", reason: "nodeFailed", message: "plain" } });
  });

  test("WF-29 a case without a route, which types and checks would have found, fails the run by name", () => {
    const walk = new Walk(ship.graph).done("propose", { case: "done" }).done("approve", { case: "maybe" });
    expect(walk.at).toMatchObject({
      status: "done",
      output: {
        outcome: "failed",
        node: "approve",
        reason: "routing",
        message: 'Node "approve" took the case "maybe", which has no route. Its cases are: go, stop, replan.',
      },
    });
  });

  test("WF-30 maxSteps ends a loop as failed, naming limit and node; the last allowed node still runs, and an end needs no further step", () => {
    const walk = new Walk(ship.graph);
    for (let entry = 1; entry < 9; entry += 2) walk.done("propose", { case: "done" }).done("approve", { case: "replan" });
    expect([walk.context().step, walk.at.status]).toEqual([9, "active"]);
    const over = walk.done("propose", { case: "done" });
    expect(over.at).toMatchObject({ status: "done", output: { outcome: "failed", node: "propose", visit: `${run}/graph/propose.9`, reason: "maxSteps" } });
    expect(over.at.output).toHaveProperty(
      "message",
      'The run has entered 9 nodes, its limit maxSteps, and ended after node "propose". Raise maxSteps, or look for a loop that does not end.',
    );

    const three = { ...ship.graph, maxSteps: 3 };
    const ends = new Walk(three).done("propose", { case: "done" }).done("approve", { case: "stop" }).done("stopped", { case: "done" });
    expect(ends.at).toMatchObject({ output: { outcome: "completed", node: "stopped" } });
    const failing = new Walk({ ...ship.graph, maxSteps: 1 }).failed("propose", { reason: "nodeFailed", message: "no" });
    expect(failing.at).toMatchObject({ output: { outcome: "failed", reason: "maxSteps" } });
  });
});

describe("plain XState", () => {
  test("WF-31 the definition's machine runs in plain XState with provided actors, loops and results included", async () => {
    const results: { [node: string]: NodeResult } = {};
    const answers = [{ choice: "replan", input: "smaller" }, { choice: "go" }];
    const visits: string[] = [];
    const actors = Object.fromEntries(
      ship.graph.nodes.map(({ id, kind }) => [
        id,
        fromPromise<NodeOutput, NodeInput>(async ({ input: { node, visit } }) => {
          visits.push(visit);
          const answer = kind === "humanDecision" ? answers.shift() : undefined;
          const { case: taken, value } = answer
            ? { case: answer.choice, value: answer }
            : kind === "shell"
              ? { case: "fine", value: null }
              : await executeNode(ship, node, contextFor(ship, node, { input: { task: "big" }, results }), fakeClock());
          results[node] = { status: "accepted", output: value, visit };
          return { case: taken };
        }),
      ]),
    );
    const actor = createActor(ship.machine.provide({ actors }), { input }).start();
    const last = await waitFor(actor, (snapshot) => snapshot.status === "done");
    expect(last.output).toEqual({ outcome: "completed", node: "finished", visit: `${run}/graph/finished.7` } satisfies GraphOutput);
    expect(visits).toEqual(["propose.1", "approve.2", "propose.3", "approve.4", "build.5", "check.6", "finished.7"]);
    expect(results["build"]).toMatchObject({ output: { built: "smaller" } });
  });

  test("WF-31 without provided actors it says what is missing", async () => {
    const actor = createActor(
      workflow({ name: "one", input: z.object({}) })
        .node(
          "only",
          compute(() => 1),
        )
        .build().machine,
      { input },
    );
    actor.start();
    const last = await waitFor(actor, (snapshot) => snapshot.status === "done");
    expect(last.output).toMatchObject({ outcome: "failed", message: expect.stringContaining("provide({ actors })") });
  });

  test("WF-32 path tests work: every node and every end is reached by a shortest path", () => {
    const events = ship.graph.nodes.flatMap(({ id, cases }) => [
      ...cases.map((taken) => ({ type: `xstate.done.actor.${id}`, output: { case: taken } })),
      ...["nodeFailed", "nodeTimedOut"].map((reason) => ({ type: `xstate.error.actor.${id}`, error: { reason, message: reason } })),
    ]);
    const paths = getShortestPaths(ship.machine, {
      events: events as never,
      input,
      stopWhen: (snapshot) => snapshot.status !== "active",
      serializeState: (snapshot) => JSON.stringify([snapshot.value, snapshot.status]),
    }); // XState types done events by the actors' ids, which come from data here
    const reached = new Set(paths.map(({ state }) => String(state.value)));
    expect([...reached].sort()).toEqual(["$completed", "$failed", "$timedOut", "approve", "build", "check", "finished", "propose", "stopped"]);
  });
});

/** Graph data to an XState machine: a state per node, each invoking what does the node's work. Needs no author code and holds none.
 *  WF-24 one step a node. WF-25 the context is bounded by the number of nodes. WF-30 a run enters at most `maxSteps` nodes. */
import type { AnyActorLogic, AnyStateMachine } from "xstate";
import { effect, type EffectOptions } from "../../machines/define.ts";
import { graphEffects, graphMachineId, type Graph, type GraphContext, type GraphNode, type NodeInput, type NodeOutput } from "./graph.ts";
import { isActorKind, isAgentKind } from "./kinds.ts";
import { graphActor } from "../visitNames.ts";
import { actorInput } from "./actorInput.ts";
import { nodeMachines } from "./nodeMachines.ts";
import type { DeadlineEvent } from "./stepDeadline.ts";
import { endStates, graphSetup, pausedState, timeOf, type FailureParams, type PauseParams } from "./graphSetup.ts";

/** Raised when the same graph compiles to a chart that an actor of the earlier one cannot go on with: it is part of the definition's digest. */
export const compilerRevision = 1;

/**
 * The machine that runs this graph, as a child of a run: it tells its parent what the run must show (`graph.waiting`, `graph.active`, `graph.ambiguous`).
 * `version` is the graph's digest; graphs with the same digest give the same machine.
 */
export function compileGraph(graph: Graph, digest: string): AnyStateMachine {
  const base = graphSetup(Object.fromEntries(graph.nodes.map((node) => [node.id, logicOf(node)])));
  return base.createMachine({
    id: graphMachineId,
    version: digest,
    description: graph.name,
    context: ({ input }): GraphContext => ({
      run: input.run,
      graph: input.graph,
      source: input.source,
      path: input.path ?? graphActor(input.run),
      step: 0,
      included: 0,
      limit: Math.min(graph.maxSteps, input.limit ?? graph.maxSteps),
      visits: {},
      paused: false,
      frozen: input.frozen ?? false,
      deadline: null,
      target: null,
      end: null,
    }),
    output: ({ context }) => context.end ?? neverEnded(),
    initial: graph.entry,
    on: {
      "graph.pause": { actions: "pause" },
      "graph.resume": { actions: ["unpause", "thaw", "runDeadline"] },
      "graph.freeze": { actions: ["freeze", "runDeadline"] },
      "graph.thaw": { actions: ["thaw", "runDeadline"] },
    },
    states: {
      ...Object.fromEntries(graph.nodes.map((node) => [node.id, base.createStateConfig(stateOf(node))])),
      [pausedState]: base.createStateConfig({
        entry: "tellPaused",
        on: {
          "graph.resume": graph.nodes.map(({ id }) => ({ guard: { type: "goesTo" as const, params: { node: id } }, target: id, actions: "goOn" as const })),
        },
      }),
      ...Object.fromEntries(Object.values(endStates).map((name) => [name, { type: "final" as const }])), // "final" alone widens to string
    },
    options: { maxIterations: 1000 },
  });
}

/** The same machine without a parent: what it would tell a run goes nowhere, so that plain XState and its tools can run it. */
export function standalone(machine: AnyStateMachine): AnyStateMachine {
  const nothing = (): void => {};
  return machine.provide({ actions: { tellWaiting: nothing, tellActive: nothing, tellAmbiguous: nothing, tellPaused: nothing, tellEntered: nothing } });
}

function neverEnded(): never {
  throw new Error("A graph has an output only after it ended.");
}

const visitName = (input: NodeInput): string => input.visit;

function logicOf(node: GraphNode): AnyActorLogic {
  if (isActorKind(node.kind)) return nodeMachines[node.kind];
  const options: EffectOptions<NodeInput> = {
    once: (input) => input.once,
    // A callback's limit is the executor's to hold: only there it is known.
    timeoutMs: node.timeoutMs === "callback" ? null : node.timeoutMs,
    visit: visitName,
    ...(node.retry ? { retry: retryOf(node.retry) } : {}),
    ...(node.kind === "compute" ? {} : { maxInterrupted: 3 }),
  };
  return effect<NodeOutput, NodeInput>(graphEffects[node.kind], options);
}

const retryOf = ({ maxAttempts, initialMs, factor, maxMs }: NonNullable<GraphNode["retry"]>) => ({
  maxAttempts,
  initialMs,
  ...(factor === undefined ? {} : { factor }),
  ...(maxMs === undefined ? {} : { maxMs }),
});

type Guard =
  | { type: "failed"; params: FailureParams }
  | { type: "took"; params: { case: string } & PauseParams }
  | { type: "outOfSteps"; params: { cases: readonly string[] } };
type Action =
  | { type: "recordAccepted" | "complete"; params: { node: string } }
  | { type: "recordFailed" | "fail"; params: { node: string; as: "failed" | "timedOut" } }
  | { type: "rememberTarget"; params: { node: string } }
  | { type: "failSteps"; params: { node: string } }
  | { type: "failRouting"; params: { node: string; cases: readonly string[] } };
interface Transition {
  guard?: Guard;
  target: string;
  reenter?: boolean;
  actions: Action[];
}

/** What the run's word does in a node that speaks to an agent: as everywhere, and the node hears of it. */
function heldBy(node: string) {
  const tell = { type: "tellHeld" as const, params: { node } };
  return {
    "graph.pause": { actions: ["pause" as const, tell] },
    "graph.resume": { actions: ["unpause" as const, "thaw" as const, "runDeadline" as const, tell] },
    "graph.freeze": { actions: ["freeze" as const, "runDeadline" as const, tell] },
    "graph.thaw": { actions: ["thaw" as const, "runDeadline" as const, tell] },
  };
}

/** What the run's word does in a node that includes a workflow: as everywhere, and that workflow hears of it. */
function includedBy(node: string) {
  const passOn = { type: "passOn" as const, params: { node } };
  return {
    "graph.pause": { actions: ["pause" as const, passOn] },
    "graph.resume": { actions: ["unpause" as const, "thaw" as const, "runDeadline" as const, passOn] },
    "graph.freeze": { actions: ["freeze" as const, "runDeadline" as const, passOn] },
    "graph.thaw": { actions: ["thaw" as const, "runDeadline" as const, passOn] },
    "node.entered": { actions: ["countIncluded" as const, "tellEntered" as const] },
    "node.paused": { actions: "tellPaused" as const },
  };
}

function stateOf(node: GraphNode) {
  const { id, routes } = node;
  const isActor = isActorKind(node.kind);
  const to = (name: string) => ({ target: routes[name] ?? endStates.completed, ...(routes[name] === id ? { reenter: true } : {}) });
  /** Into the node that a route names; a paused graph remembers it instead. */
  const onto = (name: string, guard: (params: PauseParams) => Guard, actions: Action[]): Transition[] => {
    const node = routes[name];
    if (node === undefined) return [{ guard: guard({}), ...to(name), actions }];
    return [
      { guard: guard({ paused: true }), target: pausedState, actions: [...actions, { type: "rememberTarget", params: { node } }] },
      { guard: guard({}), ...to(name), actions },
    ];
  };
  const accepted: Action = { type: "recordAccepted", params: { node: id } };
  const stopped: Action = { type: "failSteps", params: { node: id } };

  const failures = (["timedOut", "failed"] as const).flatMap((as): Transition[] => {
    const failed: Action = { type: "recordFailed", params: { node: id, as } };
    if (routes[as] === undefined)
      return [{ guard: { type: "failed", params: { as } }, target: endStates[as], actions: [failed, { type: "fail", params: { node: id, as } }] }];
    return [
      { guard: { type: "failed", params: { as, spent: true } }, target: endStates.failed, actions: [failed, stopped] },
      ...onto(as, (params) => ({ type: "failed", params: { as, ...params } }), [failed]),
    ];
  });
  const onward = node.cases.filter((name) => routes[name] !== undefined);
  const outOfSteps: Transition[] =
    onward.length === 0 ? [] : [{ guard: { type: "outOfSteps", params: { cases: onward } }, target: endStates.failed, actions: [accepted, stopped] }];
  const taken = node.cases.flatMap((name) =>
    onto(
      name,
      (params) => ({ type: "took", params: { case: name, ...params } }),
      routes[name] === undefined ? [accepted, { type: "complete", params: { node: id } }] : [accepted],
    ),
  );
  const unknownCase: Transition = { target: endStates.failed, actions: [accepted, { type: "failRouting", params: { node: id, cases: node.cases } }] };

  return {
    description: node.statusDetail ?? node.kind,
    meta: { kind: node.kind },
    entry:
      isActor && typeof node.timeoutMs === "number"
        ? ["enter" as const, "tellEntered" as const, { type: "setDeadline" as const, params: { ms: node.timeoutMs } }, "runDeadline" as const]
        : ["enter" as const, "tellEntered" as const],
    ...(isActor ? { exit: ["tellActive", "clearDeadline"] as const } : {}),
    invoke: {
      id,
      src: id,
      input: ({ context, event }: { context: GraphContext; event: object }): NodeInput => {
        const input: NodeInput = { run: context.run, node: id, visit: `${id}.${context.step}`, once: node.once };
        return isActorKind(node.kind) ? actorInput(node, input, context, timeOf(event)) : input;
      },
      onDone: [...failures, ...outOfSteps, ...taken, unknownCase],
      onError: failures,
    },
    on: {
      "effect.ambiguous": { actions: { type: "tellAmbiguous" as const, params: { node: id } } },
      "effect.settled": { actions: "tellActive" as const },
      ...(isActor
        ? {
            "node.waiting": { actions: { type: "tellWaiting" as const, params: { node: id } } },
            "node.active": { actions: "tellActive" as const },
            "node.ambiguous": { actions: { type: "tellAmbiguous" as const, params: { node: id } } },
            "node.deadline": {
              actions: [{ type: "setDeadline" as const, params: ({ event }: { event: DeadlineEvent }) => ({ ms: event.ms }) }, "runDeadline" as const],
            },
            ...(isAgentKind(node.kind) ? heldBy(id) : {}),
            ...(node.kind === "include" ? includedBy(id) : {}),
            "node.clockStopped": { actions: ["stopClock" as const, "runDeadline" as const] },
            "node.clockStarted": { actions: ["startClock" as const, "runDeadline" as const] },
            "step.timedOut": failures,
          }
        : {}),
    },
  };
}

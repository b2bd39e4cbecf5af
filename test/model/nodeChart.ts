/** The chart of a node as a model, below a graph that only listens: its places, and how each of its events is made to happen on the real runtime. */
import { sendParent, setup, type AnyStateMachine, type EventObject } from "xstate";
import { adjacencyMapToArray, getAdjacencyMap, getShortestPaths } from "xstate/graph";
import { expect } from "vitest";
import { NotApplied, type NodeInput } from "../../machines/define.ts";
import type { RunEnd } from "../../machines/runMachine.ts";
import type { ActorView } from "../../src/runtime/definition.ts";
import { EffectFailure, type Executor } from "../../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import { Replay, standstill, type Opened } from "./replay.ts";

export const at = standstill;
export const run = "r_00000000000000000000000000";
export const nodeInput: NodeInput = { run, node: "step", visit: "step.1", once: false };
const graph = `${run}/graph`;
const actor = `${graph}/step.1`;

export type NodeEvent = EventObject & { readonly [key: string]: unknown };

export interface NodeModel {
  /** One of `nodeMachines`: with visits of its own. */
  readonly machine: AnyStateMachine;
  readonly input: object;
  readonly events: readonly NodeEvent[];
  /** Whether an event can happen in a state at all: the end of an effect only while that is open. */
  readonly isPossible: (state: { readonly value: unknown; readonly context: unknown }, event: NodeEvent) => boolean;
  /** What of a context is compared; all of it unless given. */
  readonly compared?: (context: unknown, unknownItems: ReadonlyMap<string, string>) => unknown;
  /** Effect types of the machine. */
  readonly effects: { readonly [invokeId: string]: string };
}

interface Place {
  readonly name: string;
  readonly path: readonly NodeEvent[];
  readonly edges: readonly { readonly event: NodeEvent; readonly to: { readonly value: unknown; readonly context: unknown; readonly status: string } }[];
}

/** Every place that can be reached, with what the chart does there at each event that can happen. */
export function placesOf({ machine, input, events, isPossible }: NodeModel): readonly Place[] {
  const options = {
    input,
    events: (state: { value: unknown; context: unknown }) => events.filter((event) => isPossible(state, event)),
    stopWhen: (snapshot: { status: string }) => snapshot.status !== "active",
  };
  // A path knows no parent: what is told to one changes nothing of the node.
  const told = Object.keys(machine.implementations.actions).filter((name) => name.startsWith("tell"));
  const alone = machine.provide({ actions: Object.fromEntries(told.map((name) => [name, () => {}])) });
  // xstate/graph types its options by the machine's own events; these hold done, error and delayed events too.
  const paths = getShortestPaths(alone, options as never);
  const edges = adjacencyMapToArray(getAdjacencyMap(alone, options as never));
  return paths
    .filter((path) => path.state.status === "active")
    .map((path) => {
      const state = JSON.stringify(path.state);
      return {
        name: `${JSON.stringify(path.state.value)} after ${
          path.steps
            .slice(1)
            .map(({ event }) => event.type.replace(/^xstate\.|\.actor/g, ""))
            .join(", ") || "nothing"
        }`,
        path: path.steps.slice(1).map(({ event }) => event as NodeEvent), // one of `events`
        edges: edges.filter((edge) => JSON.stringify(edge.state) === state).map((edge) => ({ event: edge.event as NodeEvent, to: edge.nextState })), // as above
      };
    });
}

/** A graph that does as it is told: it stands for any that a workflow is included by. */
const toldGraph: AnyStateMachine = setup({
  types: {} as { context: object; events: { type: "tell"; event: EventObject } | { type: "end"; end: RunEnd }; output: RunEnd },
}).createMachine({
  id: "pawl.graph",
  version: "g",
  context: {},
  initial: "on",
  states: {
    on: { on: { tell: { actions: sendParent(({ event }) => event.event) }, end: "off" } },
    off: { type: "final", output: ({ event }) => ("end" in event ? event.end : null) },
  },
  output: ({ event }) => (event as unknown as { output: RunEnd }).output, // the event of the end carries the final state's output
});

const registryOf = ({ machine, input }: NodeModel) => {
  const listener = setup({ actors: { step: machine } }).createMachine({
    id: "listener",
    version: "1",
    initial: "on",
    states: { on: { invoke: { id: "step", src: "step", input, onDone: "off", onError: "off" } }, off: {} },
  });
  return createRegistry([defineMachine(listener), defineMachine(machine), defineMachine(toldGraph)]);
};

const hangs: Executor = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new NotApplied("it did not begin")), { once: true });
  });

/** Takes every edge that leaves a place, each from a copy of the directory that stands there, opened anew before every event. */
export async function takeEdges(model: NodeModel, { path, edges }: Place): Promise<number> {
  const there = new Replay(() => registryOf(model));
  const compared = model.compared ?? ((context: unknown) => context);
  try {
    await there.step(graph, {}, async ({ runtime }) => void (await runtime.start("listener", { id: graph, input: undefined })));
    for (const event of path) await happen(model, there, event);
    for (const { event, to } of edges) {
      const replay = there.copy();
      try {
        const { view, items } = await happen(model, replay, event);
        expect({ value: view?.value, context: compared(view?.context, items), status: view?.record.status }, JSON.stringify(event)).toEqual({
          value: to.value,
          context: compared(to.context, new Map()),
          status: to.status,
        });
      } finally {
        replay.remove();
      }
    }
    return edges.length;
  } finally {
    there.remove();
  }
}

interface Happened {
  readonly view: ActorView | null;
  /** Items of a batch by the key of their effect. */
  readonly items: ReadonlyMap<string, string>;
}

async function happen({ effects }: NodeModel, replay: Replay, event: NodeEvent): Promise<Happened> {
  const items = new Map<string, string>();
  const [, kind, name = ""] = /^xstate\.(done|error)\.actor\.(.+)$/.exec(event.type) ?? [];
  const [invoke = "", item] = name.split(".");
  const isMeant = (input: unknown): boolean => item === undefined || String((input as { item: number }).item) === item; // batchNode's own input
  const outcome: Executor = async (task) => {
    if (!isMeant(task.input)) return hangs(task);
    if (kind === "error") throw new EffectFailure("nodeFailed", "no");
    return { output: event["output"] };
  };
  const all: { [type: string]: Executor } = Object.fromEntries(Object.values(effects).map((type) => [type, hangs]));
  const wanted = effects[invoke];
  if (wanted !== undefined) all[wanted] = outcome;
  if (event.type === "effect.ambiguous")
    all[effects["item"] ?? ""] = async (task) => {
      if (`item.${(task.input as { item: number }).item}` !== event["effect"]) return hangs(task); // as above
      throw new Error("cut off");
    };
  const work = async (opened: Opened): Promise<void> => {
    await act(opened, event, wanted !== undefined || event.type === "effect.ambiguous");
    await opened.settle();
    for (const record of await opened.effects(actor)) items.set(record.key, `item.${(record.input as { item?: number }).item ?? ""}`); // as above
  };
  const view = await replay.step(actor, all, work, { hangs: true });
  return { view, items };
}

async function act({ runtime, advance, effects }: Opened, event: NodeEvent, isEffect: boolean): Promise<void> {
  const { type, at: _at, ...payload } = event;
  if (isEffect) return runtime.adopt(graph);
  if (type.startsWith("xstate.after.")) return advance(Number(event["ms"]));
  if (type === "effect.settled") {
    const settled = (await effects(actor)).find(({ state, input }) => state === "ambiguous" && `item.${(input as { item: number }).item}` === event["effect"]); // as above
    return void (await runtime.retryEffect(settled?.key ?? ""));
  }
  if (type === "xstate.done.actor.graph") return void (await runtime.send(`${actor}/graph`, { type: "end", end: event["output"] }));
  if (event["from"] === "below") return void (await runtime.send(`${actor}/graph`, { type: "tell", event: { type, ...payload } }));
  await runtime.send(actor, { type, ...payload });
}

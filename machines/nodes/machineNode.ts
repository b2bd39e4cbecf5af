/** A node that is a machine of its author's: the author's callback gives the input, the machine lives as an actor of its own, and what it ends with is
 *  the node's output when it fits.
 *  MACH-10 the author's machine begins with what its callback gave. MACH-11 its end is the node's output; its error fails the visit. */
import { assign, enqueueActions, sendParent, setup, type DoneActorEvent } from "xstate";
import { effect, machineFromInput, type NodeFailure, type NodeInput, type NodeOutput } from "../define.ts";
import { failureIn, outputIn } from "./nodeEvents.ts";

/** What the author's callbacks gave. */
export interface PreparedMachine {
  readonly timeoutMs: number | null;
  /** Where the author's machine is found again. */
  readonly version: string;
  /** Its own id, for people. */
  readonly machine: string;
  /** Absent: it takes none. */
  readonly input?: unknown;
}

export interface MachineNodeContext extends NodeInput {
  /** The id of the author's machine; null until it begins. */
  readonly machine: string | null;
  /** Keys of effects below it whose outcome is unknown, the oldest first. */
  readonly unknown: readonly string[];
  readonly outcome: NodeOutput | NodeFailure | null;
}

/** Of the effect whose row holds the value that the node ends with. */
const acceptVisit = "accept";

interface AcceptInput extends NodeInput {
  readonly output: unknown;
}

type NodeEvent =
  | DoneActorEvent<PreparedMachine, "prepare">
  | DoneActorEvent<unknown, "machine">
  | DoneActorEvent<{ readonly case: string }, "accept">
  | { readonly type: "xstate.error.actor.prepare" | "xstate.error.actor.machine" | "xstate.error.actor.accept"; readonly error: unknown }
  /** The runtime's word on an effect of the author's machine, or of a machine below that. */
  | { readonly type: "effect.ambiguous" | "effect.settled"; readonly effect: string };

const ofNode = ({ run, node, visit, once }: NodeInput): NodeInput => ({ run, node, visit, once });

export const machineNode = setup({
  types: {} as { context: MachineNodeContext; input: NodeInput; events: NodeEvent; output: NodeOutput | NodeFailure },
  actors: {
    prepare: effect<PreparedMachine, NodeInput>("pawl.machine.prepare", { timeoutMs: 15 * 60_000, maxInterrupted: 3 }),
    machine: machineFromInput<unknown, { readonly version: string; readonly input?: unknown }>("pawl.author", ({ version }) => version),
    accept: effect<{ readonly case: string }, AcceptInput>("pawl.machine.accept", { timeoutMs: 15 * 60_000, maxInterrupted: 3, visit: () => acceptVisit }),
  },
  actions: {
    tellDeadline: enqueueActions(({ event, enqueue }) => {
      const given = outputIn(event) as PreparedMachine; // only the end of `prepare` comes with this action
      if (given.timeoutMs !== null) enqueue(sendParent({ type: "node.deadline", ms: given.timeoutMs }));
    }),
    nameMachine: assign({ machine: ({ event }) => (outputIn(event) as PreparedMachine).machine }), // as in tellDeadline
    noteUnknown: assign({ unknown: ({ context, event }) => ("effect" in event ? [...context.unknown, event.effect] : context.unknown) }),
    noteSettled: assign({ unknown: ({ context, event }) => context.unknown.filter((key) => !("effect" in event) || key !== event.effect) }),
    tellActive: sendParent({ type: "node.active" }),
    tellUnknown: enqueueActions(({ context, enqueue }) => {
      const [key] = context.unknown;
      if (key !== undefined) enqueue(sendParent({ type: "node.ambiguous", effect: key }));
    }),
    recordCase: assign({ outcome: ({ event }) => ({ case: (outputIn(event) as { readonly case: string }).case, kept: acceptVisit }) }), // only the end of `accept` comes with this action
    recordFailure: assign({ outcome: ({ event }) => failureIn(event, "The machine ended with an error that says nothing.") }),
  },
}).createMachine({
  id: "machine",
  version: "1",
  context: ({ input }) => ({ ...ofNode(input), machine: null, unknown: [], outcome: null }),
  output: ({ context }) => context.outcome ?? failureIn({}, "It ended without a word."),
  initial: "preparing",
  on: {
    "effect.ambiguous": { actions: ["noteUnknown", "tellUnknown"] },
    "effect.settled": { actions: ["noteSettled", "tellActive", "tellUnknown"] },
  },
  states: {
    preparing: {
      invoke: {
        id: "prepare",
        src: "prepare",
        input: ({ context }) => ofNode(context),
        onDone: { target: "running", actions: ["tellDeadline", "nameMachine"] },
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    running: {
      invoke: {
        id: "machine",
        src: "machine",
        input: ({ event }) => authorInput(event),
        onDone: "accepting",
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    accepting: {
      invoke: {
        id: "accept",
        src: "accept",
        input: ({ context, event }) => ({ ...ofNode(context), output: outputIn(event) ?? null }),
        onDone: { target: "ended", actions: "recordCase" },
        onError: { target: "ended", actions: "recordFailure" },
      },
    },
    ended: { type: "final" },
  },
  options: { maxIterations: 1000 },
});

/** The input goes from the effect's result straight into the machine: the node keeps no copy of it. */
function authorInput(event: object): { readonly version: string; readonly input?: unknown } {
  const { version, input } = outputIn(event) as PreparedMachine; // only the end of `prepare` leads here
  return input === undefined ? { version } : { version, input };
}

/** A machine of its author's: regions, delays, a guide below it that is told and tells, and promises that reach the outside. */
import { compute, durable, machineNode, workflow } from "pawl";
import { assign, sendParent, sendTo, setup } from "xstate";
import { z } from "zod";
import { reach } from "./outside.ts";

interface Asked {
  readonly input: { readonly stop: number };
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

const visited = async ({ idempotencyKey, attempt, signal }: Asked): Promise<number> =>
  (await reach({ visit: idempotencyKey, attempt, idempotencyKey, signal })).serial;

export const guide = setup({
  types: {} as { context: { walked: number; stops: number }; input: { stops: number }; output: number; events: { type: "hurry" } },
  guards: { hasMore: ({ context }) => context.walked < context.stops },
  actions: { walk: assign({ walked: ({ context }) => context.walked + 1 }), tell: sendParent(({ context }) => ({ type: "walked", stops: context.walked })) },
}).createMachine({
  id: "guide",
  context: ({ input }) => ({ walked: 0, stops: input.stops }),
  initial: "walking",
  states: {
    walking: {
      after: { 400: [{ guard: "hasMore", target: "walking", reenter: true, actions: ["walk", "tell"] }, { target: "home" }] },
      on: { hurry: { guard: "hasMore", target: "walking", reenter: true, actions: ["walk", "tell"] } },
    },
    home: { type: "final" },
  },
  output: ({ context }) => context.walked,
});

export const tour = setup({
  types: {} as {
    context: { stops: number; seen: number[]; walked: number; latest: number };
    input: { stops: number };
    output: { seen: number; walked: number };
    events: { type: "walked"; stops: number; at?: number };
  },
  actors: { guide, visit: durable(visited, { retry: { maxAttempts: 4, initialMs: 50 }, timeoutMs: 4000 }) },
  guards: { hasSeenAll: ({ context }) => context.seen.length >= context.stops },
}).createMachine({
  id: "tour",
  context: ({ input }) => ({ stops: input.stops, seen: [], walked: 0, latest: 0 }),
  type: "parallel",
  states: {
    walk: {
      initial: "out",
      states: {
        out: {
          invoke: { src: "guide", id: "guide", input: ({ context }) => ({ stops: context.stops }), onDone: "back" },
          on: { walked: { actions: assign({ walked: ({ event }) => event.stops, latest: ({ event }) => event.at ?? 0 }) } },
          after: { 1000: { actions: sendTo("guide", { type: "hurry" }) } },
        },
        back: { type: "final" },
      },
    },
    sights: {
      initial: "looking",
      states: {
        looking: {
          invoke: {
            src: "visit",
            id: "visit",
            input: ({ context }) => ({ stop: context.seen.length }),
            onDone: { target: "resting", actions: assign({ seen: ({ context, event }) => [...context.seen, event.output] }) },
            onError: { target: "resting", actions: assign({ seen: ({ context }) => [...context.seen, 0] }) },
          },
        },
        resting: { after: { 250: [{ guard: "hasSeenAll", target: "done" }, { target: "looking" }] } },
        done: { type: "final" },
      },
    },
  },
  output: ({ context }) => ({ seen: context.seen.length, walked: context.walked }),
});

export default workflow({ name: "tours", input: z.object({ stops: z.number() }) })
  .node("tour", machineNode(tour, { input: ({ input }) => ({ stops: input.stops }), timeoutMs: 600_000 }), { done: "home", timedOut: "home", failed: "home" })
  .node(
    "home",
    compute(({ results }) => ({ tour: results.tour?.status ?? null })),
  )
  .build();

/** Machines under load: one that is told things, one whose effects follow each other, one that lives by timers. */
import { appendFileSync } from "node:fs";
import { assign, setup } from "xstate";
import { durable } from "../../machines/define.ts";

/** Takes numbers from outside. */
export const accountMachine = setup({
  types: {} as { context: { sum: number; count: number }; events: { type: "add"; n: number } },
}).createMachine({
  id: "account",
  version: "1",
  context: { sum: 0, count: 0 },
  on: { add: { actions: assign({ sum: ({ context, event }) => context.sum + event.n, count: ({ context }) => context.count + 1 }) } },
});

/** Has one effect after the other done, each leaving a line with its key in the side file; every third is `once`. */
export const workerMachine = (sideFile: string) => {
  const leave = async ({ idempotencyKey, attempt }: { idempotencyKey: string; attempt: number; input: { n: number } }): Promise<string> => {
    appendFileSync(sideFile, `${idempotencyKey} ${attempt}\n`);
    await new Promise((resolve) => setImmediate(resolve));
    return idempotencyKey;
  };
  return setup({
    types: {} as {
      context: { results: number; last: string | null; unsure: number };
      events: { type: "effect.ambiguous"; effect: string } | { type: "effect.settled"; effect: string };
    },
    actors: {
      work: durable(leave, { once: ({ n }) => n % 3 === 2 }),
    },
  }).createMachine({
    id: "worker",
    version: "1",
    context: { results: 0, last: null, unsure: 0 },
    initial: "working",
    states: {
      working: {
        invoke: {
          id: "work",
          src: "work",
          input: ({ context }) => ({ n: context.results }),
          onDone: { target: "working", reenter: true, actions: assign({ results: ({ context }) => context.results + 1, last: ({ event }) => event.output }) },
        },
        on: { "effect.ambiguous": { actions: assign({ unsure: ({ context }) => context.unsure + 1 }) } },
      },
    },
  });
};

/** Ticks by itself. */
export const tickerMachine = setup({
  types: {} as { context: { ticks: number } },
}).createMachine({
  id: "ticker",
  version: "1",
  context: { ticks: 0 },
  initial: "on",
  states: { on: { after: { 3: { target: "on", reenter: true, actions: assign({ ticks: ({ context }) => context.ticks + 1 }) } } } },
});

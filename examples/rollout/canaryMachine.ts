/** Brings a release to more and more people: a share, a pause in which to watch, the next share. A plain XState machine, and a node of a workflow. */
import { writeFile } from "node:fs/promises";
import { durable } from "pawl";
import { assign, setup } from "xstate";

export interface Canary {
  /** Where the load balancer reads its share, in percent. */
  readonly shareFile: string;
  readonly shares: readonly number[];
  /** How long each share is watched, in ms. */
  readonly watchMs: number;
}

export interface CanaryOutput {
  readonly share: number;
  readonly steps: number;
}

interface Types {
  context?: Canary & { readonly step: number };
  input?: Canary;
  output?: CanaryOutput;
}

const types: Types = {};

/** Setting the same share twice is harmless: an interrupted one is simply done again. */
const shift = durable(async ({ input }: { readonly input: { readonly shareFile: string; readonly share: number } }) => {
  await writeFile(input.shareFile, `${input.share}\n`);
  return input.share;
});

const shareAt = ({ shares, step }: { readonly shares: readonly number[]; readonly step: number }): number => shares[step] ?? 100;

export const canaryMachine = setup({
  types,
  actors: { shift },
  guards: { isLast: ({ context }) => context.step + 1 >= context.shares.length },
  actions: { advance: assign({ step: ({ context }) => context.step + 1 }) },
  delays: { watch: ({ context }) => context.watchMs },
}).createMachine({
  id: "canary",
  context: ({ input }) => ({ ...input, step: 0 }),
  initial: "shifting",
  states: {
    shifting: {
      invoke: {
        id: "shift",
        src: "shift",
        input: ({ context }) => ({ shareFile: context.shareFile, share: shareAt(context) }),
        onDone: "watching",
      },
    },
    watching: {
      after: {
        watch: [
          { guard: "isLast", target: "out" },
          { target: "shifting", actions: "advance" },
        ],
      },
    },
    out: { type: "final" },
  },
  output: ({ context }) => ({ share: shareAt(context), steps: context.step + 1 }),
});

/** Machines and places for the tests of `openPawl`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { assign, emit, fromPromise, setup } from "xstate";
import { durable, effect } from "../../src/index.ts";

const leftovers: (() => unknown)[] = [];
afterEach(async () => {
  for (const clear of leftovers.splice(0).reverse()) await clear();
});

/** Runs after the test, the latest first. */
export const afterwards = (clear: () => unknown): void => void leftovers.push(clear);

export function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "pawl-library-"));
  afterwards(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** Lets what is ready come through. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export const counterMachine = setup({
  types: {} as {
    context: { n: number };
    input: { from: number };
    events: { type: "add"; by: number } | { type: "stop" };
    output: { total: number };
    emitted: { type: "pawl.reply"; n: number } | { type: "added"; by: number };
    tags: "counting";
  },
  actions: {
    add: assign({ n: ({ context }, by: number) => context.n + by }),
  },
}).createMachine({
  id: "counter",
  version: "1",
  context: ({ input }) => ({ n: input.from }),
  initial: "on",
  states: {
    on: {
      tags: "counting",
      on: {
        add: {
          actions: [
            { type: "add", params: ({ event }) => event.by },
            emit(({ event }) => ({ type: "added", by: event.by })),
            emit(({ context }) => ({ type: "pawl.reply", n: context.n })),
          ],
        },
        stop: "off",
      },
    },
    off: { type: "final" },
  },
  output: ({ context }) => ({ total: context.n }),
});

export interface Mail {
  readonly to: string;
}

export const sendMail = effect<{ readonly sent: string }, Mail>("mail.send");

export const mailMachine = setup({
  types: {} as { context: { to: string; sent: string | null }; input: { to: string }; events: { type: "again" } },
  actors: { sendMail },
}).createMachine({
  id: "mail",
  version: "1",
  context: ({ input }) => ({ to: input.to, sent: null }),
  initial: "sending",
  states: {
    sending: {
      invoke: {
        id: "send",
        src: "sendMail",
        input: ({ context }) => ({ to: context.to }),
        onDone: { target: "sent", actions: assign({ sent: ({ event }) => event.output.sent }) },
        onError: "failed",
      },
    },
    sent: { type: "final" },
    failed: { on: { again: "sending" } },
  },
});

/** A child machine that is reachable only through its parent. */
export const grandchildMachine = setup({ types: {} as { events: { type: "end" } } }).createMachine({
  id: "grandchild",
  version: "1",
  initial: "on",
  states: { on: { on: { end: "off" } }, off: { type: "final" } },
});
export const childMachine = setup({ types: {} as { events: { type: "end" } }, actors: { grandchild: grandchildMachine } }).createMachine({
  id: "child",
  version: "1",
  initial: "on",
  states: { on: { invoke: { id: "kid", src: "grandchild", onDone: "off" } }, off: { type: "final" } },
});
export const parentMachine = setup({ types: {} as { events: { type: "leave" } }, actors: { child: childMachine } }).createMachine({
  id: "parent",
  version: "1",
  initial: "with",
  states: {
    with: { invoke: { id: "kid", src: "child", onDone: "after" }, on: { leave: "without" }, after: { 60_000: "late" } },
    after: { type: "final" },
    late: {},
    without: {},
  },
});

/** Waits for its own promise, and tells what the promise was given. */
export const promiseMachine = (run: (args: { input: { n: number }; signal: AbortSignal; idempotencyKey: string; attempt: number }) => Promise<number>) =>
  setup({
    types: {} as { context: { n: number | null; why: unknown }; events: { type: "leave" } },
    actors: { work: durable(run), plain: fromPromise(async () => 1) },
  }).createMachine({
    id: "promise",
    version: "1",
    context: { n: null, why: null },
    initial: "working",
    states: {
      working: {
        invoke: {
          id: "work",
          src: "work",
          input: { n: 2 },
          onDone: { target: "worked", actions: assign({ n: ({ event }) => event.output }) },
          onError: { target: "failed", actions: assign({ why: ({ event }) => event.error }) },
        },
        on: { leave: "left" },
      },
      worked: { type: "final" },
      failed: {},
      left: {},
    },
  });

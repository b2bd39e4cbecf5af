/** Every machine that docs/xstate.md calls refused, by the name of its row: how it is written, and where it is refused. */
import {
  and,
  assign,
  createMachine,
  enqueueActions,
  fromCallback,
  fromEventObservable,
  fromObservable,
  fromPromise,
  fromTransition,
  raise,
  sendTo,
  setup,
  spawnChild,
  type AnyStateMachine,
} from "xstate";

/** Refused when it is registered, when it starts, or at the event `go`. */
export interface Refusal {
  readonly machine: AnyStateMachine;
  readonly at: "registration" | "start" | "event";
}

const child = setup({}).createMachine({ id: "child", version: "1" });
const work = fromPromise(async () => 1);
const never = { subscribe: () => ({ unsubscribe: () => {} }) };

/** A machine of this config; one whose types would not allow it. */
const chart = (config: object, implementations: object = {}): AnyStateMachine =>
  (setup(implementations as never) as unknown as { createMachine(config: object): AnyStateMachine }).createMachine({ id: "m", version: "1", ...config });

const registration = (config: object, implementations: object = {}): Refusal => ({ machine: chart(config, implementations), at: "registration" });
const atGo = (actions: unknown, implementations: object = { actors: { child, work } }): Refusal => ({
  machine: chart({ context: {}, on: { go: { actions } } }, implementations),
  at: "event",
});

const endless = setup({}).createMachine({
  id: "endless",
  version: "1",
  initial: "a",
  states: { a: { on: { go: "b" } }, b: { always: "c" }, c: { always: "b" } },
});

export const refusals: { readonly [row: string]: Refusal } = {
  "no id": { machine: createMachine({ version: "1" }), at: "registration" },
  "no version": { machine: createMachine({ id: "m" }), at: "registration" },
  "a context that JSON cannot carry": registration({ context: { since: new Date(0) } }),
  "inline logic in an invoke": registration({ invoke: { id: "x", src: work } }),
  "inline logic in spawnChild": registration({ entry: spawnChild(work as never, { id: "x" }) }),
  "inline logic in spawn()": atGo(assign(({ spawn }) => ({ ref: spawn(work as never, { id: "x" } as never) }))),
  "an unknown source": registration({ invoke: { id: "x", src: "chlid" } }, { actors: { child } }),
  "a callback": registration({}, { actors: { tick: fromCallback(() => {}) } }),
  "an observable": registration({}, { actors: { ticks: fromObservable(() => never) } }),
  "an event observable": registration({}, { actors: { ticks: fromEventObservable(() => never) } }),
  "a reducer": registration({}, { actors: { sum: fromTransition((state: number) => state + 1, 0) } }),
  onSnapshot: registration({ invoke: { id: "x", src: "child", onSnapshot: {} } }, { actors: { child } }),
  syncSnapshot: registration({ entry: spawnChild("child", { id: "x", syncSnapshot: true } as never) }, { actors: { child } }),
  "spawnChild without an id": registration({ entry: spawnChild("child" as never) }, { actors: { child } }),
  "spawn() without an id": atGo(assign(({ spawn }) => ({ ref: spawn("child" as never) }))),
  "a second child of a running one's name": {
    machine: chart(
      { context: {}, invoke: { id: "x", src: "child" }, on: { go: { actions: spawnChild("child", { id: "x" } as never) } } },
      { actors: { child } },
    ),
    at: "event",
  },
  "a system id that another actor of the tree has": {
    machine: chart(
      { context: {}, invoke: { id: "x", src: "child", systemId: "s" }, on: { go: { actions: spawnChild("child", { id: "y", systemId: "s" } as never) } } },
      { actors: { child } },
    ),
    at: "event",
  },
  "a custom action": registration({ entry: "beep" }, { actions: { beep: () => {} } }),
  "an inline action": registration({ entry: () => {} }),
  "an action without an implementation": registration({ entry: "bepe" }, { actions: {} }),
  "a guard without an implementation": registration(
    { on: { go: { guard: and(["isOpne"]) as never, target: ".a" } }, initial: "a", states: { a: {} } },
    { guards: { isOpen: () => true } },
  ),
  "a delay without an implementation": registration({ after: { patinece: {} } }, { delays: { patience: 10 } }),
  "a delay that is no time": registration({ entry: raise({ type: "x" }, { delay: Number.NaN }) }),
  "a delay function that gives no time": atGo(raise({ type: "x" }, { delay: () => undefined as never })),
  "`*` where an invoked actor's end may reach it": registration({ invoke: { id: "x", src: "work", onDone: {} }, on: { "*": {} } }, { actors: { work } }),
  "send() of a reference": atGo(enqueueActions(({ self }) => self.send({ type: "x" }))),
  "getSnapshot() of a child": {
    machine: chart(
      {
        context: ({ spawn }: { spawn: (src: string, options: object) => unknown }) => ({ ref: spawn("child", { id: "x" }) }),
        on: { go: { actions: assign(({ context }) => ({ at: (context["ref"] as { getSnapshot(): unknown }).getSnapshot() })) } },
      },
      { actors: { child } },
    ),
    at: "event",
  },
  "sending to nothing": atGo(sendTo("nobody" as never, { type: "x" } as never)),
  "a value that JSON cannot carry": atGo(assign({ at: () => new Date(0) })),
  "a reference to a promise in a message": {
    machine: chart(
      {
        context: ({ spawn }: { spawn: (src: string, options: object) => unknown }) => ({ ref: spawn("work", { id: "p" }) }),
        on: {
          go: {
            actions: sendTo(
              ({ self }) => self,
              ({ context }) => ({ type: "x", ref: (context as { ref: unknown }).ref }),
            ),
          },
        },
      },
      { actors: { work } },
    ),
    at: "event",
  },
  "an endless loop": { machine: endless, at: "event" },
};

/** XState's own live actors on a simulated clock, their promises and effects in the test's hands: the oracle. */
import {
  createActor,
  fromPromise,
  SimulatedClock,
  type AnyActorLogic,
  type AnyActorRef,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
} from "xstate";
import { markOf } from "../../machines/define.ts";
import { isMachineLogic, plainError } from "../../src/runtime/step.ts";
import { traces, type Subject } from "./machines/subject.ts";
import { plain, sourceOf, type Deed, type SeenActor, type World } from "./observed.ts";

interface Started {
  readonly self: AnyActorRef;
  readonly deed: Deed;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class LiveWorld implements World {
  private readonly clock = new SimulatedClock();
  private readonly root: AnyActorRef & { start(): unknown; stop(): unknown };
  private readonly started: Started[] = [];
  private done: Deed[] = [];
  private readonly sources = new WeakMap<object, unknown>();
  /** The machines came where the runtime does otherwise, on purpose (docs/decisions/0006). */
  hasParted = false;

  constructor(subject: Subject) {
    const machine = this.provided(subject.machine);
    this.root = createActor(machine, {
      id: "root",
      input: subject.input as never, // each machine has an input of its own
      clock: this.clock,
      logger: (...args: unknown[]) => void this.done.push({ kind: "log", label: args.length === 2 ? String(args[0]) : null, value: plain(args.at(-1)) }),
      inspect: (told) => {
        if (told.type === "@xstate.event" && told.sourceRef) this.sources.set(told.event, told.sourceRef);
        if (told.type === "@xstate.event" && told.event.type === "xstate.init") this.lookForNameless(told.actorRef as AnyActorRef);
        if (told.type === "@xstate.microstep") this.lookForLate(told.actorRef as AnyActorRef, told.event);
        if (told.type !== "@xstate.actor") return;
        const { actorRef } = told;
        if ("on" in actorRef)
          (actorRef as AnyActorRef).on(
            "*",
            (event: AnyEventObject) => void this.done.push({ kind: "emitted", path: pathOf(actorRef as AnyActorRef), event: plain(event) }),
          );
      },
    });
    // An actor that errs with nobody listening would end the process.
    this.root.subscribe({ error: () => {} });
  }

  async start(): Promise<void> {
    await this.doing(() => this.root.start());
  }

  async send(path: string, event: AnyEventObject): Promise<void> {
    await this.doing(() => this.at(path)?.send(event));
  }

  async advance(ms: number): Promise<void> {
    await this.doing(() => this.clock.increment(ms));
  }

  async settle(nth: number, outcome: { readonly output: unknown } | { readonly error: string }): Promise<void> {
    const started = this.started[nth];
    await this.doing(() => ("error" in outcome ? started?.reject(new Error(outcome.error)) : started?.resolve(outcome.output)));
  }

  async tree(): Promise<readonly SeenActor[]> {
    return [...seen(this.root)];
  }

  async timers(): Promise<readonly number[]> {
    const { timeouts } = this.clock as unknown as { readonly timeouts: ReadonlyMap<number, { readonly start: number; readonly timeout: number }> }; // the clock shows them to nobody
    return [...timeouts.values()].map(({ start, timeout }) => start + timeout - this.clock.now()).toSorted((a, b) => a - b);
  }

  deeds(): readonly Deed[] {
    const { done } = this;
    this.done = [];
    return done;
  }

  async close(): Promise<void> {
    this.root.stop();
  }

  /** Sync work, and what its promises bring after it. */
  private async doing(work: () => void): Promise<void> {
    const before = traces.note;
    traces.note = (name, params) => void this.done.push({ kind: "volatile", name, params: plain(params) });
    try {
      const first = this.started.length;
      work();
      await new Promise((resolve) => setImmediate(resolve));
      // The runtime never begins what is given up before it is committed.
      const lost = new Set(this.started.slice(first).filter(({ self }) => self.getSnapshot().status !== "active"));
      for (const one of lost) this.started.splice(this.started.indexOf(one), 1);
      this.done = this.done.filter((deed) => ![...lost].some((one) => one.deed === deed));
    } finally {
      traces.note = before;
    }
  }

  /** A child that ended in its first transition has lost its system id before its parent could ask for it. */
  private lookForNameless(ref: AnyActorRef): void {
    if ("systemId" in ref && ref.systemId !== undefined && ref.getSnapshot().status !== "active") this.hasParted = true;
  }

  /** The end of a child that its parent had stopped. */
  private lookForLate(ref: AnyActorRef, event: AnyEventObject): void {
    if (!/^xstate\.(done|error)\.actor\./.test(event.type)) return;
    // In a microstep the actor still shows the snapshot from before the event.
    const child: unknown = childrenOf(ref)[String(event["actorId"])];
    if (child !== this.sources.get(event)) this.hasParted = true;
  }

  private at(path: string): AnyActorRef | undefined {
    return path.split("/").reduce<AnyActorRef | undefined>((ref, key) => (key === "" ? ref : childrenOf(ref)[key]), this.root);
  }

  /** The machine with promises, effects and child machines, at any depth, that leave their deeds here. */
  private provided(machine: AnyStateMachine): AnyStateMachine {
    const actors = Object.entries(machine.implementations.actors).map(([src, logic]): [string, AnyActorLogic] => [
      src,
      isMachineLogic(logic) ? this.provided(logic) : this.promise(sourceOf(src, logic)),
    ]);
    const actions = Object.entries(machine.implementations.actions).flatMap(([name, action]) => {
      const mark = markOf(action);
      if (mark?.kind !== "effect") return [];
      return [
        [
          name,
          ({ self }: { self: AnyActorRef }, params: unknown) =>
            void this.done.push({ kind: "effect", path: pathOf(self), type: mark.type, params: plain(params) ?? null }),
        ],
      ];
    });
    return machine.provide({ actors: Object.fromEntries(actors), actions: Object.fromEntries(actions) }) as AnyStateMachine; // the same machine with other implementations
  }

  private promise(source: string): AnyActorLogic {
    return fromPromise(
      ({ input, self }) =>
        new Promise((resolve, reject) => {
          const deed: Deed = { kind: "promise", path: pathOf(self), source, input: plain(input) ?? null };
          this.started.push({ self, deed, resolve, reject });
          this.done.push(deed);
        }),
    ) as AnyActorLogic; // a promise of any input
  }
}

const childrenOf = (ref: AnyActorRef | undefined): { readonly [key: string]: AnyActorRef } => ref?.getSnapshot()?.children ?? {};

function pathOf(ref: AnyActorRef): string {
  return ref._parent ? `${pathOf(ref._parent)}/${ref.id}` : "";
}

function* seen(ref: AnyActorRef, path = ""): Generator<SeenActor> {
  const snapshot = ref.getSnapshot() as AnyMachineSnapshot;
  const children = childrenOf(ref);
  const { status, output, error } = snapshot;
  const told = {
    ...(output === undefined ? {} : { output: plain(output) }),
    ...(error === undefined ? {} : { error: plainError(error).message }),
  };
  // A machine that failed to start has no state.
  const state = "value" in snapshot ? { value: plain(snapshot.value), context: plain(snapshot.context) } : {};
  yield { path, machine: machineOf(ref), status, ...state, ...told, children: Object.keys(children).toSorted() };
  for (const [key, child] of Object.entries(children))
    if (isMachineLogic((child as { logic?: unknown }).logic) && wasStarted(child)) yield* seen(child, `${path}/${key}`);
}

/** A child that was made and given up in one step keeps the snapshot of an active one. */
const wasStarted = (ref: AnyActorRef): boolean => ref.getSnapshot().status !== "active" || ("_processingStatus" in ref && ref._processingStatus === 1);

const machineOf = (ref: AnyActorRef): string => ("logic" in ref && isMachineLogic(ref.logic) ? ref.logic.id : "");

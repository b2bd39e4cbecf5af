/** With stepScope, stepRecords and stepDelays the only place that knows XState's internals: one pure step of one machine, as our own data.
 *  `(hydrated snapshot, event) -> (next snapshot, records)`; nothing runs inside it. XState 6 comes in by
 *  changing these files.
 *  Each cast stands where XState's public types do not show what its pure functions take and give.
 *  Children are stubs here: a child machine never runs in its parent's step, a promise never starts. */
import type { AnyActorLogic, AnyActorRef, AnyMachineSnapshot, AnyStateMachine, EventObject, Snapshot } from "xstate";
import { pawlMark, type DurableTask } from "../../machines/define.ts";
import { PawlError, sentenceOf } from "../errors.ts";
import { readBack } from "../json.ts";
import { becomeStub, linkOf, withRefs, type ChildLink } from "./refs.ts";
import { inLiveOrder, toRecords, type StepRecord } from "./stepRecords.ts";
import { NeedsNames, noId, scopeBehind, StepScope, type SystemNames } from "./stepScope.ts";
import { withCheckedDelays, checkedDelay, finiteDelay } from "./stepDelays.ts";
import { childrenOf, linksOf, plainError, snapshotText, stubsOf, type Hydrated, type PersistedText, type SnapshotParts } from "./stepSnapshot.ts";

/** A snapshot of a machine in this process, with the scope its actor references belong to. */
export interface OwnHydrated extends Hydrated {
  readonly snapshot: AnyMachineSnapshot;
  readonly scope: StepScope;
}

export interface StepResult {
  /** False: the machine has no transition for the event; nothing else of the result is new. */
  readonly changed: boolean;
  readonly next: Hydrated;
  readonly status: "active" | "done" | "error";
  readonly output: unknown;
  /** Only with status `error`. */
  readonly error: unknown;
  /** In document order. */
  readonly asked: readonly StepRecord[];
  /** In the order in which a live actor carries them out, if no child ends in its first transition. */
  readonly records: readonly StepRecord[];
}

/** Steps of one machine. Made once for a definition and shared by all its actors. `key` is the name that an actor's parent knows it by, `null` for a root.
 *  A promise of a step: its machine is in another process, and it is known later. */
export interface Stepper {
  /** `input` and events are data: references to actors stand in them as `RefData`. @throws NeedsNames */
  init(actor: string, parent: string | null, input: unknown, key?: string | null, names?: SystemNames): StepResult | Promise<StepResult>;
  /** @throws what the machine throws, and NeedsNames */
  step(from: Hydrated, event: EventObject, names?: SystemNames): StepResult | Promise<StepResult>;
  /** @throws restoreRefused when the snapshot does not fit the machine. */
  hydrate(actor: string, parent: string | null, json: string, key?: string | null): Hydrated;
  /** The persisted snapshot. Call after the runtime has written the links. @throws invalidValue */
  persist(from: Hydrated): PersistedText;
  /** The links of the children that the snapshot knows. */
  links(from: Hydrated): readonly ChildLink[];
  /** The same with the names that the machine knows them by. */
  children(from: Hydrated): readonly { readonly key: string; readonly link: ChildLink }[];
  /** What a config's value or function gives for this snapshot and event: the input of an invoke. */
  evaluate(mapper: unknown, from: Hydrated, event: EventObject): unknown;
  /** Milliseconds of a delay as a config writes it: a number, or a name. */
  delay(delay: number | string, from: Hydrated, event: EventObject): number;
}

export interface OwnResult extends StepResult {
  readonly next: OwnHydrated;
}

/** A stepper of a machine in this process: its steps are there at once. */
export interface OwnStepper extends Stepper {
  init(actor: string, parent: string | null, input: unknown, key?: string | null, names?: SystemNames): OwnResult;
  hydrate(actor: string, parent: string | null, json: string, key?: string | null): OwnHydrated;
  /** `watch` gets the event as the machine will see it, and gives it one that tells what is read of it. */
  step(from: Hydrated, event: EventObject, names?: SystemNames, watch?: (event: EventObject) => EventObject): OwnResult;
  /** Everything that is stored of it, before it is text. */
  parts(from: Hydrated): SnapshotParts;
}

/** Names of promise, machine and other children by the `src` that machines name them with. */
export const childLogic = (machine: AnyStateMachine, src: string): AnyActorLogic | undefined =>
  (Object.hasOwn(machine.implementations.actors, src) ? machine.implementations.actors[src] : undefined) as AnyActorLogic | undefined; // typed as a union with ProvidedActor configs, which setup() never stores

/** The function behind `fromPromise(...)`. It gets `input` and `signal`; `self`, `system` and `emit` do not exist outside a live actor, and say so. */
export function promiseCreator(
  machine: AnyStateMachine,
  src: string,
): ((args: { readonly input: unknown; readonly signal: AbortSignal; readonly [pawlMark]: DurableTask }) => Promise<unknown>) | undefined {
  const logic = childLogic(machine, src);
  if (!logic || isMachineLogic(logic)) return undefined;
  const creator: unknown = logic.config;
  if (typeof creator !== "function") return undefined;
  const absent = (name: string): never => {
    throw new PawlError(
      "invalidMachine",
      `The promise "${src}" of machine "${machine.id}" uses "${name}", which a durable promise does not have. Return what you want to say, or send it from the machine.`,
      { subject: machine.id },
    );
  };
  return async ({ input, signal, [pawlMark]: task }) =>
    creator({
      input,
      signal,
      [pawlMark]: task,
      get self() {
        return absent("self");
      },
      get system() {
        return absent("system");
      },
      get emit() {
        return absent("emit");
      },
    });
}

/** True for a logic that is a state machine (a durable child actor) rather than a promise or an effect. */
export function isMachineLogic(logic: unknown): logic is AnyStateMachine {
  return typeof logic === "object" && logic !== null && "root" in logic && "states" in logic && "implementations" in logic;
}

/** Microsteps in one step when the machine sets no bound of its own: an endless loop of `always` or raised events must not hang the runtime. */
const maxIterations = 1000;

/** What a stepper made itself: nobody else's snapshot is ever given to it. */
const own = (from: Hydrated): OwnHydrated => from as OwnHydrated; // see above

export function createStepper(machine: AnyStateMachine): OwnStepper {
  const stubFor = (src: string): AnyActorLogic => {
    const place = (scope: { readonly self: AnyActorRef }, link: ChildLink): ChildLink => {
      becomeStub(scope.self, link);
      return link;
    };
    const stub = {
      config: { src },
      transition: (state: Snapshot<unknown>) => state,
      getInitialSnapshot: (scope: { readonly self: AnyActorRef; readonly system: unknown }, input: unknown) => {
        const owner = scopeBehind(scope.system);
        const link = place(scope, { status: "active" });
        owner?.spawned.push({ key: scope.self.id, src, input, link, stub: scope.self, systemId: systemIdOf(scope.self), at: owner.actions.length });
        return link;
      },
      restoreSnapshot: (state: ChildLink, scope: { readonly self: AnyActorRef }) => place(scope, state),
      getPersistedSnapshot: (state: Snapshot<unknown>) => state,
      start() {},
    };
    return stub as unknown as AnyActorLogic; // a link is all the snapshot a stub has: XState asks for more in its types than it uses
  };
  const delays = Object.fromEntries(Object.entries(machine.implementations.delays).map(([name, delay]) => [name, checkedDelay(machine.id, name, delay)]));
  const pure = withCheckedDelays(
    machine.provide({
      delays: delays as never,
      actors: Object.fromEntries(Object.keys(machine.implementations.actors).map((src) => [src, stubFor(src)])),
    }) as AnyStateMachine,
  );
  if (!Number.isFinite(pure.options?.maxIterations ?? Infinity)) pure.options = { ...pure.options, maxIterations };

  const run = (scope: StepScope, before: AnyMachineSnapshot | null, names: SystemNames | undefined, compute: () => AnyMachineSnapshot): OwnResult => {
    scope.begin(before, names);
    const snapshot = compute();
    // The first transition gives a snapshot with an error where others throw.
    if (scope.needsNames) throw new NeedsNames(scope.id);
    const changed = snapshot !== before || scope.actions.length > 0;
    const isBroken = before === null && snapshot.status === "error";
    const asked = changed && !isBroken ? toRecords({ actions: scope.actions, spawned: scope.spawned, before, after: snapshot, self: scope.self, noId }) : [];
    const status = snapshot.status === "done" || snapshot.status === "error" ? snapshot.status : "active";
    return {
      changed,
      next: { snapshot, scope },
      status,
      output: snapshot.output,
      error: snapshot.error,
      asked,
      records: inLiveOrder(asked, before === null ? snapshot : null),
    };
  };

  return {
    init(actor, parent, input, key = null, names) {
      const scope = new StepScope(actor, parent, key);
      scope.begin(null, names);
      const held = withRefs(input, (ref) => scope.refTo(ref));
      return run(scope, null, names, () => pure.getInitialSnapshot(scope as never, held as never) as AnyMachineSnapshot);
    },
    step(given, event, names, watch = (held) => held) {
      const from = own(given);
      // Trap: XState moves finished snapshots too.
      if (from.snapshot.status !== "active")
        return {
          changed: false,
          next: from,
          status: from.snapshot.status === "done" ? "done" : "error",
          output: from.snapshot.output,
          error: from.snapshot.error,
          asked: [],
          records: [],
        };
      const { scope } = from;
      scope.before = from.snapshot;
      const held = watch(withRefs(event, (ref) => scope.refTo(ref)));
      return run(scope, from.snapshot, names, () => pure.transition(from.snapshot, held, scope as never) as AnyMachineSnapshot);
    },
    hydrate(actor, parent, json, key = null) {
      const scope = new StepScope(actor, parent, key);
      const persisted = readBack<{ context?: unknown; children?: Record<string, { src?: unknown; snapshot?: ChildLink }> }>(json);
      for (const [name, child] of Object.entries(persisted.children ?? {})) {
        // Trap: XState drops a child whose source is unknown without a word, and its parent waits for ever.
        if (typeof child.src !== "string" || !childLogic(machine, child.src))
          throw new PawlError(
            "restoreRefused",
            `Actor "${actor}": its child "${name}" comes from "${String(child.src)}", which machine "${machine.id}" no longer has (it has: ${Object.keys(machine.implementations.actors).join(", ") || "none"}). Give that name back, or register a new version of the machine and keep the old one.`,
            { subject: actor },
          );
      }
      // XState puts the children in place of their references by itself, and drops any other.
      if (json.includes("xstate$$type")) {
        const own = new Set(Object.values(persisted.children ?? {}).map((child) => child.snapshot?.actor));
        persisted.context = withRefs(persisted.context, (ref) => (own.has(ref.actor) ? ref : scope.refTo(ref)));
      }
      try {
        return { snapshot: pure.restoreSnapshot(persisted as never, scope as never) as AnyMachineSnapshot, scope };
      } catch (error) {
        throw new PawlError(
          "restoreRefused",
          `Actor "${actor}": its stored state does not fit machine "${machine.id}": ${sentenceOf(error)} Give the state back, or register a new version of the machine and keep the old one.`,
          { subject: actor, cause: error },
        );
      }
    },
    parts,
    persist: (from) => snapshotText(own(from).scope.id, parts(from)),
    links: linksOf,
    children: childrenOf,
    evaluate: (mapper, from, event) => (typeof mapper === "function" ? mapper({ context: from.snapshot.context, event, self: own(from).scope.self }) : mapper),
    delay(delay, from, event) {
      if (typeof delay === "number") return delay;
      const named: unknown = pure.implementations.delays[delay];
      return finiteDelay(
        machine.id,
        typeof named === "function"
          ? named({ context: from.snapshot.context, event, self: own(from).scope.self, system: own(from).scope.system }, undefined)
          : named,
      );
    },
  };
}

const systemIdOf = (child: AnyActorRef): string | null => ("systemId" in child && typeof child.systemId === "string" ? child.systemId : null);

const parts = (from: Hydrated): SnapshotParts => {
  const { value, context, status, output, error, historyValue } = own(from).snapshot;
  const children = stubsOf(from.snapshot).map(([key, child]) => ({ key, src: child.src, systemId: systemIdOf(child), link: linkOf(child) }));
  return { value, context, status, output, error, children, historyValue: historyData(historyValue) };
};

const historyData = (historyValue: AnyMachineSnapshot["historyValue"]): object =>
  Object.fromEntries(Object.entries(historyValue).map(([id, nodes]) => [id, nodes.map((node) => ({ id: node.id }))]));

export type { ChildLink } from "./refs.ts";
export { inLiveOrder, linksOf, NeedsNames, plainError };
export type { Hydrated, PersistedText } from "./stepSnapshot.ts";
export type { SystemNames } from "./stepScope.ts";
export type { Address, SpawnRecord, StepRecord } from "./stepRecords.ts";

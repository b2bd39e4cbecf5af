/** The only file that knows XState's internals: one pure step of one machine, as our own data.
 *  `(hydrated snapshot, event) -> (next snapshot, records)`; nothing runs inside it. XState 6 comes in by changing this file.
 *  Each cast stands where XState's public types do not show what its pure functions take and give.
 *  Children are stubs here: a child machine never runs in its parent's step, a promise never starts. */
import { createEmptyActor, type AnyActorLogic, type AnyActorRef, type AnyMachineSnapshot, type AnyStateMachine, type EventObject, type Snapshot } from "xstate";
import { pawlMark, type DurableTask } from "../../machines/define.ts";
import { PawlError, messageOf } from "../errors.ts";
import { jsonText } from "../json.ts";

/** Where a sent event goes, in terms of the sender. */
export type Address = { readonly kind: "self" | "parent" } | { readonly kind: "child"; readonly key: string; readonly link: ChildLink };

/** What a transition asked for, in document order: it must be applied strictly in this order. */
export type StepRecord =
  | { readonly kind: "spawn"; readonly key: string; readonly src: string; readonly input: unknown; readonly systemId: string | null; readonly link: ChildLink }
  | { readonly kind: "stop"; readonly key: string; readonly link: ChildLink | null }
  | { readonly kind: "timer"; readonly key: string | null; readonly delayMs: number; readonly to: Address; readonly event: EventObject }
  | { readonly kind: "cancelTimer"; readonly key: string }
  | { readonly kind: "send"; readonly to: Address; readonly event: EventObject }
  | { readonly kind: "emit"; readonly event: EventObject }
  | { readonly kind: "action"; readonly type: string; readonly params: unknown; readonly implementation: object | null; readonly exec: (() => void) | null };

/** The stub that stands for a child in its parent's snapshot. The runtime writes what it made of the child: an actor id or an effect key. */
export interface ChildLink {
  readonly status: "active";
  actor?: string;
  effect?: string;
}

/** A snapshot in memory, with the scope its actor references belong to. Immutable but for the links of its children. */
export interface Hydrated {
  readonly snapshot: AnyMachineSnapshot;
  readonly scope: Scope;
}

export interface StepResult {
  /** False: the machine has no transition for the event; nothing else of the result is new. */
  readonly changed: boolean;
  readonly next: Hydrated;
  readonly status: "active" | "done" | "error";
  readonly output: unknown;
  /** Only with status `error`. */
  readonly error: unknown;
  readonly records: readonly StepRecord[];
}

interface ExecutedAction {
  readonly type: string;
  readonly params: unknown;
  readonly info: { readonly self: AnyActorRef };
  readonly exec?: ((info: unknown, params: unknown) => void) | undefined;
}

interface Scope {
  readonly self: AnyActorRef;
  readonly id: string;
  readonly sessionId: string;
  readonly system: AnyActorRef["system"];
  logger(): void;
  defer(): void;
  stopChild(): void;
  emit(): void;
  actionExecutor(action: ExecutedAction): void;
}

/** Steps of one machine. Made once for a definition and shared by all its actors. */
export interface Stepper {
  init(actor: string, parent: string | null, input: unknown): StepResult;
  step(from: Hydrated, event: EventObject): StepResult;
  /** @throws restoreRefused when the snapshot does not fit the machine. */
  hydrate(actor: string, parent: string | null, json: string): Hydrated;
  /** The persisted snapshot. Call after the runtime has written the links. */
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

/** JSON texts of a snapshot and of its parts. */
export interface PersistedText {
  readonly snapshot: string;
  readonly value: string;
  readonly context: string;
}

/** Names of promise, machine and other children by the `src` that machines name them with. */
export const childLogic = (machine: AnyStateMachine, src: string): AnyActorLogic | undefined => (Object.hasOwn(machine.implementations.actors, src) ? machine.implementations.actors[src] : undefined) as AnyActorLogic | undefined; // typed as a union with ProvidedActor configs, which setup() never stores

/** The function behind `fromPromise(...)`. It gets `input` and `signal`; `self`, `system` and `emit` do not exist outside a live actor, and say so. */
export function promiseCreator(machine: AnyStateMachine, src: string): ((args: { readonly input: unknown; readonly signal: AbortSignal; readonly [pawlMark]: DurableTask }) => Promise<unknown>) | undefined {
  const logic = childLogic(machine, src);
  if (!logic || isMachineLogic(logic)) return undefined;
  const creator: unknown = logic.config;
  if (typeof creator !== "function") return undefined;
  const absent = (name: string): never => {
    throw new PawlError("invalidMachine", `The promise "${src}" of machine "${machine.id}" uses "${name}", which a durable promise does not have. Return what you want to say, or send it from the machine.`, { subject: machine.id });
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

export function createStepper(machine: AnyStateMachine): Stepper {
  // One step at a time: what the stubs and the scope see is collected here and taken out by the step that runs.
  let spawned: { key: string; src: string; input: unknown; link: ChildLink }[] = [];
  let actions: ExecutedAction[] = [];

  const stubFor = (src: string): AnyActorLogic => {
    const stub = {
      config: { src },
      transition: (state: Snapshot<unknown>) => state,
      getInitialSnapshot: (scope: { self: { id: string } }, input: unknown) => {
        const link: ChildLink = { status: "active" };
        spawned.push({ key: scope.self.id, src, input, link });
        return link;
      },
      getPersistedSnapshot: (state: Snapshot<unknown>) => state,
      restoreSnapshot: (state: Snapshot<unknown>) => state,
      start() {},
    };
    return stub as unknown as AnyActorLogic; // a link is all the snapshot a stub has: XState asks for more in its types than it uses
  };
  const delays = Object.fromEntries(Object.entries(machine.implementations.delays).map(([name, delay]) => [name, checkedDelay(machine.id, name, delay)]));
  const pure = machine.provide({ delays: delays as never, actors: Object.fromEntries(Object.keys(machine.implementations.actors).map((src) => [src, stubFor(src)])) }) as AnyStateMachine;

  const scopeOf = (actor: string, parent: string | null): Scope => {
    const self = createEmptyActor() as Scope["self"] & { id: string }; // the parent link and the id are XState's own fields, not in its public type
    self.id = actor;
    if (parent !== null) self._parent = { pawlParent: true, id: parent } as never;
    const nothing = (): void => {};
    return { self, id: actor, sessionId: actor, system: self.system, logger: nothing, defer: nothing, stopChild: nothing, emit: nothing, actionExecutor: (action) => void actions.push(action) };
  };

  const run = (scope: Scope, before: AnyMachineSnapshot | null, compute: () => AnyMachineSnapshot): StepResult => {
    spawned = [];
    actions = [];
    const snapshot = compute();
    const changed = snapshot !== before || actions.length > 0;
    const records = changed ? toRecords(actions, spawned, snapshot) : [];
    const status = snapshot.status === "done" || snapshot.status === "error" ? snapshot.status : "active";
    return { changed, next: { snapshot, scope }, status, output: snapshot.output, error: snapshot.error, records };
  };

  return {
    init(actor, parent, input) {
      const scope = scopeOf(actor, parent);
      return run(scope, null, () => pure.getInitialSnapshot(scope as never, input as never) as AnyMachineSnapshot);
    },
    step(from, event) {
      // Trap: XState moves finished snapshots too.
      if (from.snapshot.status !== "active") return { changed: false, next: from, status: from.snapshot.status === "done" ? "done" : "error", output: from.snapshot.output, error: from.snapshot.error, records: [] };
      return run(from.scope, from.snapshot, () => pure.transition(from.snapshot, event, from.scope as never) as AnyMachineSnapshot);
    },
    hydrate(actor, parent, json) {
      const scope = scopeOf(actor, parent);
      const persisted: { children?: Record<string, { src?: unknown }> } = JSON.parse(json);
      for (const [key, child] of Object.entries(persisted.children ?? {})) {
        // Trap: XState drops a child whose source is unknown without a word, and its parent waits for ever.
        if (typeof child.src !== "string" || !childLogic(machine, child.src)) throw new PawlError("restoreRefused", `Actor "${actor}": its child "${key}" comes from "${String(child.src)}", which machine "${machine.id}" no longer has (it has: ${Object.keys(machine.implementations.actors).join(", ") || "none"}). Give that name back, or register a new version of the machine and keep the old one.`, { subject: actor });
      }
      spawned = [];
      try {
        return { snapshot: pure.restoreSnapshot(persisted as never, scope as never) as AnyMachineSnapshot, scope };
      } catch (error) {
        throw new PawlError("restoreRefused", `Actor "${actor}": its stored state does not fit machine "${machine.id}": ${messageOf(error)}. Give the state back, or register a new version of the machine and keep the old one.`, { subject: actor, cause: error });
      }
    },
    persist(from) {
      const persisted = pure.getPersistedSnapshot(from.snapshot) as unknown as Record<string, unknown>; // one JSON shape for all machines, facts of XState's format
      const { value, context, error, ...rest } = persisted;
      const valueText = jsonText(value ?? null, `state of actor "${from.scope.id}"`);
      const contextText = jsonText(context ?? null, `context of actor "${from.scope.id}"`);
      // An Error would become {} in JSON.
      const restText = jsonText(error === undefined ? rest : { ...rest, error: plainError(error) }, `snapshot of actor "${from.scope.id}"`);
      return { snapshot: `{"value":${valueText},"context":${contextText},${restText.slice(1)}`, value: valueText, context: contextText };
    },
    links: linksOf,
    children: childrenOf,
    evaluate: (mapper, from, event) => (typeof mapper === "function" ? mapper({ context: from.snapshot.context, event, self: from.scope.self }) : mapper),
    delay(delay, from, event) {
      if (typeof delay === "number") return delay;
      const named: unknown = pure.implementations.delays[delay];
      return finiteDelay(Number(typeof named === "function" ? named({ context: from.snapshot.context, event, self: from.scope.self, system: from.scope.system }, undefined) : named), from.snapshot);
    },
  };
}

const childrenOf = (from: Hydrated): { key: string; link: ChildLink }[] =>
  Object.entries(from.snapshot.children as Record<string, AnyActorRef | undefined>).flatMap(([key, child]) => (child ? [{ key, link: child.getSnapshot() as ChildLink }] : []));

/** The links of the children that a snapshot knows, whatever its machine. */
export const linksOf = (from: Hydrated): readonly ChildLink[] => childrenOf(from).map(({ link }) => link);

/** An error as data, without its stack. */
export function plainError(error: unknown): { readonly reason: string; readonly message: string } {
  const reason = typeof error === "object" && error !== null && "reason" in error && typeof error.reason === "string" ? error.reason : "effectFailed";
  const message = typeof error === "object" && error !== null && "message" in error && typeof error.message === "string" ? error.message : String(error);
  return { reason, message };
}

/** Trap: a named delay that gives a string or nothing fires at once inside the macrostep. */
function checkedDelay(machineId: string, name: string, delay: unknown): number | ((args: never, params: never) => number) {
  const check = (value: unknown): number => {
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0) throw new PawlError("invalidMachine", `Machine "${machineId}": delay "${name}" is ${String(value)}; a delay is a finite number of milliseconds, 0 or more.`, { subject: machineId });
    return value;
  };
  return typeof delay === "function" ? (args, params) => check(delay(args, params)) : check(delay);
}

function toRecords(actions: readonly ExecutedAction[], spawned: readonly { key: string; src: string; input: unknown; link: ChildLink }[], snapshot: AnyMachineSnapshot): readonly StepRecord[] {
  const records: StepRecord[] = [];
  const unseen = [...spawned];
  for (const action of actions) {
    const params = action.params as Record<string, unknown>; // the shapes below are XState's, listed in its built-in actions
    switch (action.type) {
      case "xstate.spawnChild": {
        const key = params["id"];
        if (typeof key !== "string" || key === "undefined") throw new PawlError("invalidMachine", `Machine "${snapshot.machine.id}": spawnChild needs an explicit id, else a second child would take the place of the first.`, { subject: snapshot.machine.id });
        const at = unseen.findIndex((child) => child.key === key);
        const child = unseen[at];
        if (!child) break;
        unseen.splice(at, 1);
        records.push({ kind: "spawn", key, src: child.src, input: child.input, systemId: typeof params["systemId"] === "string" ? params["systemId"] : null, link: child.link });
        break;
      }
      case "xstate.stopChild": {
        const actor = action.params as (AnyActorRef & { getSnapshot(): ChildLink }) | undefined; // undefined: the child was unknown
        if (actor) records.push({ kind: "stop", key: actor.id, link: actor.getSnapshot() });
        break;
      }
      case "xstate.raise":
        // Without a delay XState has consumed it already.
        if (typeof params["delay"] === "number") records.push({ kind: "timer", key: typeof params["id"] === "string" ? params["id"] : null, delayMs: finiteDelay(params["delay"], snapshot), to: { kind: "self" }, event: params["event"] as EventObject });
        break;
      case "xstate.cancel":
        records.push({ kind: "cancelTimer", key: String(params["sendId"]) });
        break;
      case "xstate.sendTo": {
        const to = addressOf(params["to"], action.info.self);
        const event = params["event"] as EventObject;
        if (typeof params["delay"] === "number") records.push({ kind: "timer", key: typeof params["id"] === "string" ? params["id"] : null, delayMs: finiteDelay(params["delay"], snapshot), to, event });
        else records.push({ kind: "send", to, event });
        break;
      }
      case "xstate.emit":
        records.push({ kind: "emit", event: params["event"] as EventObject });
        break;
      case "xstate.log":
        break;
      default: {
        const { exec, info } = action;
        records.push({ kind: "action", type: action.type, params: action.params, implementation: exec ?? null, exec: exec ? () => exec(info, action.params) : null });
      }
    }
  }
  // spawn() inside assign gives no action: the child is seen only by its stub.
  for (const child of unseen) if (Object.hasOwn(snapshot.children, child.key)) records.push({ kind: "spawn", key: child.key, src: child.src, input: child.input, systemId: null, link: child.link });
  return records;
}

function finiteDelay(delay: number, snapshot: AnyMachineSnapshot): number {
  if (Number.isFinite(delay) && delay >= 0) return delay;
  throw new PawlError("invalidMachine", `Machine "${snapshot.machine.id}": a delay is ${delay}; a delay is a finite number of milliseconds, 0 or more.`, { subject: snapshot.machine.id });
}

function addressOf(to: unknown, self: AnyActorRef): Address {
  if (to === self) return { kind: "self" };
  if (typeof to === "object" && to !== null) {
    if ("pawlParent" in to) return { kind: "parent" };
    if ("id" in to && typeof to.id === "string" && "getSnapshot" in to) return { kind: "child", key: to.id, link: (to as AnyActorRef).getSnapshot() };
  }
  throw new PawlError("invalidMachine", `Actor "${self.id}" sent an event to nothing that can be found: sendTo needs a child, the parent, or itself.`, { subject: self.id });
}

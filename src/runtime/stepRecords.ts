/** From XState's list of actions to our own records: what a transition asked for, and the order in which live actors carry it out.
 *  Each cast stands where an action's params are known by its type only, as XState's built-in actions make them. */
import type { AnyActorRef, AnyMachineSnapshot, EventObject } from "xstate";
import type { EffectOptions } from "../../machines/define.ts";
import { PawlError } from "../errors.ts";
import { linkOf, RemoteRef, type ChildLink, type SelfRef } from "./refs.ts";
import { finiteDelay } from "./stepDelays.ts";
import type { SeenSnapshot } from "./stepSnapshot.ts";

/** Where a sent event goes. */
export type Address =
  | { readonly kind: "self" | "parent" }
  | { readonly kind: "child"; readonly key: string; readonly link: ChildLink }
  | { readonly kind: "actor"; readonly id: string };

/** What a transition asked for. It must be applied strictly in order. Inputs, params and events may hold references to actors. */
export type StepRecord =
  | {
      readonly kind: "spawn";
      readonly key: string;
      readonly src: string;
      readonly input: unknown;
      readonly systemId: string | null;
      readonly link: ChildLink;
      /** An earlier child of this name that was not stopped. */
      readonly replaces?: ChildLink;
      /** What it is, where its parent's machine is not here to say so. */
      readonly as?: SpawnAs;
    }
  | { readonly kind: "stop"; readonly key: string; readonly link: ChildLink | null }
  | { readonly kind: "timer"; readonly key: string | null; readonly delayMs: number; readonly to: Address; readonly event: EventObject }
  | { readonly kind: "cancelTimer"; readonly key: string }
  | { readonly kind: "send"; readonly to: Address; readonly event: EventObject }
  | { readonly kind: "emit"; readonly event: EventObject }
  | { readonly kind: "log"; readonly label: string | null; readonly value: unknown }
  | { readonly kind: "action"; readonly type: string; readonly params: unknown; readonly implementation: object | null; readonly exec: (() => void) | null };

/** A child by what becomes of it: a durable actor (`isOwn`: of a machine that its parent names itself), or an effect. */
export type SpawnAs =
  | { readonly kind: "actor"; readonly machineId: string; readonly version: string | null; readonly isOwn: boolean; readonly visit: string | undefined }
  | { readonly kind: "effect"; readonly type: string; readonly options: EffectOptions<unknown> };

export type SpawnRecord = Extract<StepRecord, { readonly kind: "spawn" }>;

export interface ExecutedAction {
  readonly type: string;
  readonly params: unknown;
  readonly info: { readonly context: unknown; readonly event: unknown };
  readonly exec?: ((info: unknown, params: unknown) => void) | undefined;
}

/** A child that XState made in a step. `at`: how many actions there were before it. */
export interface SpawnedChild {
  readonly key: string;
  readonly src: string;
  readonly input: unknown;
  readonly link: ChildLink;
  readonly stub: AnyActorRef;
  readonly systemId: string | null;
  readonly at: number;
}

export interface StepTrace {
  readonly actions: readonly ExecutedAction[];
  readonly spawned: readonly SpawnedChild[];
  /** Null for the first transition. */
  readonly before: AnyMachineSnapshot | null;
  readonly after: AnyMachineSnapshot;
  readonly self: SelfRef;
  /** The id that XState gave to a child that has none. */
  readonly noId: string;
}

/** In document order. @throws invalidMachine for what a durable machine may not ask for, and could not be seen before */
export function toRecords(trace: StepTrace): readonly StepRecord[] {
  const { actions, after, self } = trace;
  const hasSpawned = trace.spawned.length > 0 || after.children !== trace.before?.children;
  const spawns = hasSpawned || actions.some(({ type }) => type === "xstate.stopChild" || type === "xstate.spawnChild") ? new Spawns(trace) : null;
  const records: StepRecord[] = [];
  let index = 0;
  for (const action of actions) {
    if (spawns?.areLeft) records.push(...spawns.before(index));
    index += 1;
    const record = spawns?.takes(action) ? spawns.take(action) : recordOf(action, after, self);
    if (record) records.push(record);
  }
  if (!spawns) return records;
  records.push(...spawns.before(Infinity));
  return records.filter((record) => record.kind !== "spawn" || !spawns.isOver(record.link));
}

/**
 * The order in which a live actor carries out what it asked for. `starting`: its snapshot after its first transition, null for a later one.
 * `isActive`: whether a child is still active after its own first transition; every one when left out.
 */
export function inLiveOrder(
  records: readonly StepRecord[],
  starting: Pick<SeenSnapshot, "status" | "children"> | null,
  isActive: (child: ChildLink) => boolean = () => true,
): readonly StepRecord[] {
  return starting === null ? actionsFirst(records) : childrenFirst(records, starting, isActive);
}

const isAction = ({ kind }: StepRecord): boolean => kind === "action" || kind === "log";

/** A live actor runs custom actions while it makes its transition, and carries out everything else after it. */
function actionsFirst(records: readonly StepRecord[]): readonly StepRecord[] {
  if (!records.some(isAction)) return records;
  const first = records.filter(isAction);
  return first.length === records.length ? records : [...first, ...records.filter((record) => !isAction(record))];
}

/** A live actor that starts first starts the children it has then, in the order of its snapshot; what ended at once is told in its place. */
function childrenFirst(
  records: readonly StepRecord[],
  after: Pick<SeenSnapshot, "status" | "children">,
  isActive: (child: ChildLink) => boolean,
): readonly StepRecord[] {
  const inOrder = actionsFirst(records);
  if (after.status !== "active" || !records.some(({ kind }) => kind === "spawn")) return inOrder;
  const keys = Object.keys(after.children);
  const place = (record: StepRecord): number => (record.kind === "spawn" && isActive(record.link) ? keys.indexOf(record.key) : Infinity);
  return inOrder.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

interface SpawnParams {
  readonly actorRef: AnyActorRef | undefined;
  readonly src: unknown;
}

/** The children that one step made and stopped. */
class Spawns {
  private readonly trace: StepTrace;
  private readonly waiting: SpawnedChild[];
  /** Children that took or left a name in this step. */
  private readonly renamed = new Map<string, ChildLink | undefined>();
  private readonly made = new Set<ChildLink>();
  private readonly over = new Set<ChildLink>();

  constructor(trace: StepTrace) {
    this.trace = trace;
    this.waiting = [...trace.spawned];
    this.checkInline();
  }

  get areLeft(): boolean {
    return this.waiting.length > 0;
  }

  /** `spawn()` in an assign gives no action: those made before the action at `index` have their place here. */
  before(index: number): readonly StepRecord[] {
    const first = this.waiting.findIndex((child) => child.at > index || this.hasAction(child));
    return this.waiting.splice(0, first < 0 ? this.waiting.length : first).map((child) => this.record(child));
  }

  takes({ type }: ExecutedAction): boolean {
    return type === "xstate.spawnChild" || type === "xstate.stopChild";
  }

  take({ type, params }: ExecutedAction): StepRecord | null {
    return type === "xstate.spawnChild" ? this.spawn(params as SpawnParams) : this.stop(params);
  }

  private spawn({ actorRef, src }: SpawnParams): StepRecord {
    if (typeof src !== "string")
      throw this.refuse(
        `a child is spawned from inline logic`,
        "Give the logic a name in setup({ actors }) and spawn it by that name: a stored machine must find it again.",
      );
    const at = this.waiting.findIndex((child) => child.stub === actorRef);
    const [child] = at < 0 ? [] : this.waiting.splice(at, 1);
    if (!child) throw this.refuse(`a child is spawned from "${src}", which is not among its actors`, "Add it to setup({ actors }).");
    return this.record(child);
  }

  private stop(stub: unknown): StepRecord | null {
    if (stub === undefined) return null;
    const link = linkOf(stub);
    if (!link) throw this.refuse("it stops an actor that is not its child", "Send that actor an event that ends it.");
    const { id } = stub as AnyActorRef;
    if (this.named(id) === link) this.renamed.set(id, undefined);
    // A live child that is stopped in the step that made it is never started.
    if (this.made.has(link)) {
      this.over.add(link);
      return null;
    }
    return { kind: "stop", key: id, link };
  }

  isOver(link: ChildLink): boolean {
    return this.over.has(link);
  }

  private named(key: string): ChildLink | undefined {
    return this.renamed.has(key) ? this.renamed.get(key) : linkOf(this.trace.before?.children[key]);
  }

  private hasAction({ at, stub }: SpawnedChild): boolean {
    const action = this.trace.actions[at];
    return action?.type === "xstate.spawnChild" && (action.params as SpawnParams).actorRef === stub;
  }

  private record(child: SpawnedChild): StepRecord {
    const { key, src, input, link, systemId } = child;
    if (key === this.trace.noId || key === "undefined")
      throw this.refuse(
        `a child is spawned from "${src}" without an id`,
        "Give it one, spawn(src, { id }): a stored machine finds its children by their ids, and two without one would take each other's place.",
      );
    const replaces = this.named(key);
    this.renamed.set(key, link);
    this.made.add(link);
    return { kind: "spawn", key, src, input, systemId, link, ...(replaces ? { replaces } : {}) };
  }

  /** `spawn(logic)` in an assign runs through no stub. */
  private checkInline(): void {
    for (const [key, child] of Object.entries(this.trace.after.children)) {
      if (child && !linkOf(child))
        throw this.refuse(
          `the child "${key}" is spawned from inline logic`,
          "Give the logic a name in setup({ actors }) and spawn it by that name: a stored machine must find it again.",
        );
    }
  }

  private refuse(problem: string, mend: string): PawlError {
    const { id } = this.trace.after.machine;
    return new PawlError("invalidMachine", `Machine "${id}": ${problem}. ${mend}`, { subject: id });
  }
}

function recordOf(action: ExecutedAction, snapshot: AnyMachineSnapshot, self: SelfRef): StepRecord | null {
  const { id: machine } = snapshot.machine;
  const params = action.params as {
    readonly id?: unknown;
    readonly delay?: unknown;
    readonly event: EventObject;
    readonly to: unknown;
    readonly sendId: unknown;
    readonly label?: unknown;
    readonly value: unknown;
  };
  switch (action.type) {
    case "xstate.raise":
      // Without a delay XState has consumed it already.
      return params.delay === undefined
        ? null
        : {
            kind: "timer",
            key: typeof params.id === "string" ? params.id : null,
            delayMs: finiteDelay(machine, params.delay),
            to: { kind: "self" },
            event: params.event,
          };
    case "xstate.cancel":
      return { kind: "cancelTimer", key: String(params.sendId) };
    case "xstate.sendTo": {
      const to = addressOf(params.to, self);
      if (params.delay === undefined) return { kind: "send", to, event: escalated(params.event, self) };
      return { kind: "timer", key: typeof params.id === "string" ? params.id : null, delayMs: finiteDelay(machine, params.delay), to, event: params.event };
    }
    case "xstate.emit":
      return { kind: "emit", event: params.event };
    case "xstate.log":
      return { kind: "log", label: typeof params.label === "string" ? params.label : null, value: params.value };
    default: {
      const { exec, info } = action;
      return {
        kind: "action",
        type: action.type,
        params: action.params,
        implementation: exec ?? null,
        exec: exec ? () => exec({ ...info, context: copyOf(info.context), event: copyOf(info.event) }, action.params) : null,
      };
    }
  }
}

/** What runs after the commit must not reach into what was committed. */
const copyOf = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** An event of this type is how a machine tells another that it failed, as if its own promise or child had. */
function escalated(event: EventObject, self: SelfRef): EventObject {
  if (event.type !== "xstate.error") return event;
  return { type: `xstate.error.actor.${self.id}`, error: "data" in event ? event.data : undefined, actorId: self.id } as EventObject; // an error event has these fields besides
}

function addressOf(to: unknown, self: SelfRef): Address {
  if (to === self) return { kind: "self" };
  if (to === self._parent && to !== undefined) return { kind: "parent" };
  if (to instanceof RemoteRef) return { kind: "actor", id: to.actor };
  const link = linkOf(to);
  if (link) return { kind: "child", key: (to as AnyActorRef).id, link };
  throw new PawlError(
    "invalidMachine",
    `Actor "${self.id}" sent an event to nothing that can be found: sendTo needs a child, the parent, itself, or a reference to another actor.`,
    { subject: self.id },
  );
}

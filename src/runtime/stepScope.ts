/** What an actor's machine sees of the world during a step, and where XState puts what it asks for. Made anew each time an actor is restored,
 *  so it is cheap: no part of it is an XState actor. A cast stands where XState's types ask for one. */
import type { AnyActorRef, AnyMachineSnapshot } from "xstate";
import type { RefData } from "../../machines/actorRef.ts";
import { linkOf, RemoteRef, SelfRef, type ChildLink } from "./refs.ts";
import type { ExecutedAction, SpawnedChild } from "./stepRecords.ts";

/** Ids of the active actors of a tree by their system ids. */
export type SystemNames = ReadonlyMap<string, string>;

/** A machine asked for an actor by its system id, and the step was not given the names: take it again with them. */
export class NeedsNames extends Error {
  override readonly name = "NeedsNames";
}

/** What stands for the id of a child that was given none. */
export const noId = "(no id)";

/** XState's actor scope. */
export class StepScope {
  readonly id: string;
  readonly sessionId: string;
  readonly self: SelfRef;
  readonly system: System;
  /** XState replaces it while it collects the actions of a microstep. */
  actionExecutor: (action: ExecutedAction) => void;
  actions: ExecutedAction[] = [];
  spawned: SpawnedChild[] = [];
  /** The snapshot before the step that runs. */
  before: AnyMachineSnapshot | null = null;
  names: SystemNames | undefined;
  needsNames = false;
  private readonly remote = new Map<string, RemoteRef>();

  /** `key`: the name that the actor's parent knows it by. */
  constructor(actor: string, parent: string | null, key: string | null) {
    this.id = actor;
    this.sessionId = actor;
    this.system = new System(this);
    const above = parent === null ? undefined : this.refTo({ xstate$$type: 1, id: nameIn(parent), actor: parent });
    this.self = new SelfRef(key ?? actor, actor, this.system, above, this);
    this.actionExecutor = (action) => void this.actions.push(action);
  }

  /** Begins a step. */
  begin(before: AnyMachineSnapshot | null, names: SystemNames | undefined): void {
    this.before = before;
    this.names = names;
    this.needsNames = false;
    this.actions = [];
    this.spawned = [];
    this.system.begin();
  }

  logger(): void {}
  defer(): void {}
  stopChild(): void {}
  emit(): void {}

  /** The reference to an actor as this machine holds it: its own child, its parent and itself are what they always were. */
  refTo({ id, actor }: RefData): unknown {
    if (actor === this.id) return this.self;
    if (this.before) for (const child of Object.values(this.before.children)) if (linkOf(child)?.actor === actor) return child;
    const known = this.remote.get(actor);
    if (known) return known;
    const ref = new RemoteRef(id, actor);
    this.remote.set(actor, ref);
    return ref;
  }

  isStopped(stub: AnyActorRef): boolean {
    return this.actions.some((action) => action.type === "xstate.stopChild" && action.params === stub);
  }

  stopped(): readonly ChildLink[] {
    return this.actions.flatMap((action) => (action.type === "xstate.stopChild" ? (linkOf(action.params) ?? []) : []));
  }
}

/** XState's actor system as far as a step needs it. Its own would keep a system id for ever: what frees one is never executed here. */
class System {
  readonly #scope: StepScope;
  /** System ids given in the step that runs. */
  #given: Map<string, AnyActorRef> | undefined;

  constructor(scope: StepScope) {
    this.#scope = scope;
  }

  static scopeOf(system: unknown): StepScope | undefined {
    return system instanceof System ? system.#scope : undefined;
  }

  begin(): void {
    this.#given = undefined;
  }

  get(systemId: string): unknown {
    const scope = this.#scope;
    const given = this.#given?.get(systemId);
    // A live actor that starts frees the system ids of what it stopped only when it runs.
    if (given && (scope.before === null || !scope.isStopped(given))) return given;
    const actor = this.#names().get(systemId);
    const isGone = scope.stopped().some((link) => link.actor !== undefined && (actor === link.actor || actor?.startsWith(`${link.actor}/`)));
    return actor === undefined || isGone ? undefined : scope.refTo({ xstate$$type: 1, id: nameIn(actor), actor });
  }

  getAll(): object {
    const systemIds = new Set([...this.#names().keys(), ...(this.#given?.keys() ?? [])]);
    return Object.fromEntries([...systemIds].map((systemId) => [systemId, this.get(systemId)]).filter(([, ref]) => ref !== undefined));
  }

  inspect(): { unsubscribe(): void } {
    return { unsubscribe() {} };
  }

  _set(systemId: string, stub: AnyActorRef): void {
    const other = this.#given?.get(systemId);
    if (other && other !== stub && (this.#scope.before === null || !this.#scope.isStopped(other)))
      throw new Error(`Actor with system ID '${systemId}' already exists.`);
    (this.#given ??= new Map()).set(systemId, stub);
  }

  _bookId(): string {
    return noId;
  }

  _register(): void {}
  _unregister(): void {}
  _sendInspectionEvent(): void {}
  _logger(): void {}

  #names(): SystemNames {
    const { names } = this.#scope;
    if (names) return names;
    this.#scope.needsNames = true;
    throw new NeedsNames(this.#scope.id);
  }
}

/** The scope that an actor system belongs to: XState hands a new child's logic the system only. */
export const scopeBehind = (system: unknown): StepScope | undefined => System.scopeOf(system);

/** The name that an actor's parent knows it by, without the number that a second one of that name has behind it. */
const nameIn = (actor: string): string => actor.slice(actor.lastIndexOf("/") + 1).replace(/\.\d+$/, "");

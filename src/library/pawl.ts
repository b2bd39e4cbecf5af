/** What an open Pawl can do. */
import type { AnyStateMachine } from "xstate";
import type { Page, PageRequest } from "../../persistence/store.ts";
import type { Fault, Receipt, SendOptions, WaitBounds } from "../runtime/runtime.ts";
import type { ActorFilter, ActorSnapshot, EffectFacts, EffectFilter, EventOf, PawlChange, Ref, SnapshotOf, StartArguments, Target } from "./types.ts";

/**
 * Durable actors of these machines, in this process. What a call answers is on disk before it answers. Every method rejects with a `PawlError`
 * whose `code` says what happened; after a full disk or a failed flush all of them reject until the directory is opened again.
 */
export interface Pawl<Ms extends AnyStateMachine> {
  /**
   * Starts a root actor; its first state, children, timers and effects are stored with it. The same id, or event id, with the same input again
   * gives the same actor. @throws keyReused for an id that is taken by another start, invalidValue, unknownMachine, what the machine's first step throws
   */
  start<M extends Ms>(machine: M, ...options: StartArguments<M>): Promise<Ref<M>>;
  /**
   * Sends an event; it is applied once, however often it is sent under one `eventId`. The receipt says `applied`, `duplicate` (with the first
   * answer), `ignored` (the state has no transition for it) or `refused` (`stale`, `keyReused`, or the status of an actor that has ended).
   * @throws unknownActor, invalidInput, invalidValue, restoreRefused, what the machine's guards and assigns throw; nothing is stored then
   */
  send<T extends Target>(target: T, event: EventOf<T>, options?: SendOptions): Promise<Receipt>;
  /** Names a stored actor, so that what is sent to it and read of it has its machine's types. Nothing is looked up. */
  actor<M extends Ms>(machine: M, id: string): Ref<M>;
  /** The last committed snapshot; null when there is no such actor. @throws invalidInput when it runs on another machine than its ref says */
  get<T extends Target>(target: T): Promise<SnapshotOf<T> | null>;
  /** Actors by creation time and id; 50 a page unless `limit` (at most 500) says otherwise. */
  query<M extends Ms = Ms>(filter?: ActorFilter<M>, page?: PageRequest): Promise<Page<ActorSnapshot<M>>>;
  /**
   * The first snapshot of which `predicate` is true, the present one included. Without bounds it waits 30 s.
   * @throws timedOut and aborted, naming the state; refused when the actor ended or faulted otherwise; unknownActor
   */
  waitFor<T extends Target>(target: T, predicate: (snapshot: SnapshotOf<T>) => boolean, bounds?: WaitBounds): Promise<SnapshotOf<T>>;
  /** Tells what changes, after its commit and in order. `actor`: that one alone; `root`: its whole tree. Returns the way to stop it. */
  subscribe<M extends AnyStateMachine = Ms>(
    filter: { readonly actor?: Ref<M> | string; readonly root?: Target },
    listener: (change: PawlChange<M>) => void,
  ): () => void;
  /** Stops a root actor and its children; timers go, effects are dropped, and a begun `once` one stays listed as ambiguous. @throws unknownActor; refused for a child */
  stop(target: Target): Promise<Receipt>;
  /** Why an actor is faulted; null when it is not. */
  fault(target: Target): Promise<Fault | null>;
  /** Delivers again what a faulted actor could not take, once its machine is mended. */
  retryFault(target: Target): Promise<Receipt>;
  /** Effects by creation time and key, paged as `query`. */
  effects(filter?: EffectFilter, page?: PageRequest): Promise<Page<EffectFacts>>;
  /** A person says that an ambiguous effect happened, and with what result. @throws unknownEffect; refused in any other state */
  confirmEffect(key: string, output: unknown): Promise<EffectFacts>;
  /** A person says that an ambiguous effect may be done (again). @throws unknownEffect; refused in any other state */
  retryEffect(key: string): Promise<EffectFacts>;
  /** Asks the effect's own `observe` once more. @throws unknownEffect; refused when it has none, or is not ambiguous */
  observeEffect(key: string): Promise<EffectFacts>;
  /** Lets the effects of this tree run, where `adopt: "none"` keeps them waiting. */
  adopt(target: Target): Promise<void>;
  /** Resolves when nothing is queued, no effect runs and no due timer is being fired. @throws timedOut, aborted */
  settled(bounds?: WaitBounds): Promise<void>;
  /** Changes that `inspect` was too slow for. */
  readonly inspectDropped: number;
  /** Stops effects (they go on when it is opened again), waits for the last commit, gives the directory free. Idempotent. */
  close(): Promise<void>;
}

/** The library's words, typed by the machine: what goes in, what comes out. A cast of `openPawl` never reaches its user. */
import type { AnyStateMachine, ContextFrom, EmittedFrom, EventFrom, InputFrom, OutputFrom, SnapshotFrom, StateValueFrom } from "xstate";
import type { ActorStatus, EffectRecord, EffectState } from "../../persistence/store.ts";

/** Names a durable actor together with its machine, for the compiler's sake. Plain data: make one for a stored id with `pawl.actor(machine, id)`. */
export interface Ref<M extends AnyStateMachine = AnyStateMachine> {
  readonly id: string;
  readonly machine: M;
}

/** Where an id is enough; what comes back is then not typed by a machine. */
export type Target = Ref | string;

interface SnapshotFacts<M extends AnyStateMachine> {
  readonly id: string;
  /** Machine id and version that the actor runs on. */
  readonly machine: string;
  readonly version: string;
  /** How many events it has taken, its start included. */
  readonly revision: number;
  readonly value: SnapshotFrom<M>["value"];
  readonly context: ContextFrom<M>;
  readonly parent: string | null;
  readonly root: string;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** XState's own: whether the state value is, or lies in, this one. */
  matches(value: StateValueFrom<M>): boolean;
  /** XState's own: whether a state of this tag is active. */
  hasTag(tag: TagFrom<M>): boolean;
}

/** Reason and message of what went wrong, without stack. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

/**
 * An actor's last committed snapshot. `faulted`: its machine threw at an event of Pawl's own (a timer, a result); it stands still, the event is
 * kept, and `pawl.retryFault` delivers it again.
 */
export type ActorSnapshot<M extends AnyStateMachine = AnyStateMachine> = SnapshotFacts<M> &
  (
    | { readonly status: "active" | "stopped"; readonly output: undefined; readonly error: undefined }
    | { readonly status: "done"; readonly output: OutputFrom<M>; readonly error: undefined }
    | { readonly status: "error" | "faulted"; readonly output: undefined; readonly error: Failure }
  );

export type TagFrom<M extends AnyStateMachine> = SnapshotFrom<M> extends { hasTag: (tag: infer T) => boolean } ? T : never;

interface StartBase {
  /** The actor's id, up to 512 characters. With an id, the same start again gives the same actor; made up when left out. */
  readonly id?: string;
  /** A repeated start with this id and the same input gives the same actor. */
  readonly eventId?: string;
}

/** `input` must be there when the machine asks for one. */
export type StartArguments<M extends AnyStateMachine> =
  undefined extends InputFrom<M> ? [options?: StartBase & { readonly input?: InputFrom<M> }] : [options: StartBase & { readonly input: InputFrom<M> }];

/** An event for an actor named by its id alone: checked when it arrives. */
export interface AnyEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type EventOf<T extends Target> = T extends Ref<infer M> ? EventFrom<M> : AnyEvent;
export type SnapshotOf<T extends Target> = T extends Ref<infer M> ? ActorSnapshot<M> : ActorSnapshot;

export interface ActorFilter<M extends AnyStateMachine> {
  readonly machine?: M;
  readonly status?: readonly ActorStatus[];
  readonly parent?: Target;
  readonly root?: Target;
}

/** What changed, told after its commit and in commit order. */
export type PawlChange<M extends AnyStateMachine = AnyStateMachine> =
  | { readonly kind: "snapshot"; readonly snapshot: ActorSnapshot<M>; readonly event: AnyEvent & { readonly id: string }; readonly at: number }
  | { readonly kind: "emitted"; readonly actor: string; readonly event: EmittedFrom<M>; readonly at: number }
  | { readonly kind: "effect"; readonly effect: EffectFacts; readonly at: number }
  /** What the machine's `log` action said. Not stored. */
  | { readonly kind: "log"; readonly actor: string; readonly label: string | null; readonly value: unknown; readonly at: number }
  /** A line that an effect reported. Not stored. */
  | { readonly kind: "line"; readonly effect: string; readonly text: string; readonly at: number };

export interface EffectFilter {
  readonly key?: string;
  readonly actor?: Target;
  readonly root?: Target;
  readonly state?: readonly EffectState[];
}

/** How an effect stands, without its input and output. */
export type EffectFacts = Pick<
  EffectRecord,
  | "key"
  | "actor"
  | "root"
  | "invokeId"
  | "type"
  | "idempotencyKey"
  | "state"
  | "attempt"
  | "interruptions"
  | "once"
  | "error"
  | "createdAt"
  | "updatedAt"
  | "ambiguousSince"
>;

export function effectFacts(record: EffectRecord): EffectFacts {
  const { key, actor, root, invokeId, type, idempotencyKey, state, attempt, interruptions, once, error, createdAt, updatedAt, ambiguousSince } = record;
  return { key, actor, root, invokeId, type, idempotencyKey, state, attempt, interruptions, once, error, createdAt, updatedAt, ambiguousSince };
}

export const idOf = (target: Target): string => (typeof target === "string" ? target : target.id);

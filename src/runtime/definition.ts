/** What the runtime knows of a machine: the machine itself, its identity, and the pure functions that go with it. */
import type { AnyStateMachine } from "xstate";
import type { ActorRecord, RowWrite } from "../../persistence/store.ts";
import type { Execution } from "./attempt.ts";
import type { Stepper } from "./step.ts";
import type { SeenSnapshot } from "./stepSnapshot.ts";

/** An actor's snapshot as readers see it. */
export interface ActorView {
  readonly record: ActorRecord;
  readonly value: unknown;
  readonly context: unknown;
  /** Present when `record.status` is `done`. */
  readonly output: unknown;
  readonly error: unknown;
}

/** An event with its envelope. `at` is the time it counts for. */
export interface AppliedEvent {
  readonly type: string;
  readonly at: number;
  readonly id: string;
  readonly [key: string]: unknown;
}

/** A schema of any library that keeps to Standard Schema (zod, valibot, arktype). It is asked for a verdict only; what it would turn the value into is not used. */
export interface ContextSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaVerdict | Promise<SchemaVerdict>;
  };
}

type SchemaVerdict = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A stored snapshot as a migration sees it: plain JSON, of the version it was saved with. */
export interface PersistedActor {
  readonly status: string;
  /** As XState writes a state: a name, or an object of names by compound or parallel state. */
  readonly value: unknown;
  readonly context: unknown;
  /** By the name that the machine knows them by; renaming a key renames the child, whose own actor or effect goes on. */
  readonly children: { readonly [key: string]: PersistedChild };
  /** Ids of the remembered states, by the id of the history state. */
  readonly historyValue: { readonly [id: string]: readonly { readonly id: string }[] };
  readonly [more: string]: unknown;
}

export interface PersistedChild {
  /** The name in `setup({ actors })`. */
  readonly src: string;
  /** Pawl's link to the child's own row. */
  readonly snapshot: unknown;
  readonly systemId?: string | undefined;
  readonly syncSnapshot?: boolean | undefined;
}

/**
 * Takes the stored actors of one version to the next. `migrate` is a pure function of the snapshot: no clock, no randomness, nothing outside.
 * Timers and effects are carried by the runtime.
 */
export interface Migration {
  readonly from: string;
  readonly to: string;
  readonly migrate: (persisted: PersistedActor) => PersistedActor;
}

export interface Definition {
  readonly id: string;
  readonly version: string;
  /** SHA-256 (hex) over the machine's config, without what changes no behaviour; of its version alone where that decides (`identity`). */
  readonly digest: string;
  /** Of a machine that is stepped elsewhere: one without states, which names it. */
  readonly machine: AnyStateMachine;
  /** Steps it in another process, or wherever its code is. Absent: here. */
  readonly stepper?: Stepper;
  /** Executes its promises where its code is, by the name that the machine has for them. Absent: here. */
  readonly promise?: (src: string) => Execution;
  /** What a stored context must be; looked at before a stored actor moves. */
  readonly context?: ContextSchema;
  /** From earlier versions, step by step, forward to this one. Not needed for versions that stay registered: their actors run on them. */
  readonly migrations?: readonly Migration[];
  /** Checks an event from outside; returns it parsed, or throws `invalidInput` with the path. Absent: any event with a known type. */
  readonly parseEvent?: (event: unknown) => { readonly type: string; readonly [key: string]: unknown };
  /** Index rows of a snapshot, in the same commit. */
  readonly project?: (view: ActorView) => readonly RowWrite[];
  /** The answer to an event that reaches the finished actor. Absent: refused with its status. */
  readonly whenFinished?: (view: ActorView, event: AppliedEvent) => { readonly code: string; readonly reply?: unknown };
  /** Index rows and answers aside, an event that the state has no transition for is: `ignored` (default) or `refused`. */
  readonly unhandled?: "ignored" | "refused";
}

/** Finds definitions. `find` may load a graph's data first. Undefined: not registered. */
export interface DefinitionRegistry {
  find(machineId: string, version: string): Definition | undefined | Promise<Definition | undefined>;
  /** The version that new actors of this machine get. */
  latest(machineId: string): Definition | undefined;
  /** Registered `id@version`, for messages. */
  names(): readonly string[];
  /** The newest definitions that bring migrations. Absent: none do. */
  migrating?(): readonly Definition[];
}

export const viewOf = (record: ActorRecord, snapshot: SeenSnapshot): ActorView => ({
  record,
  value: snapshot.value,
  context: snapshot.context,
  output: snapshot.output,
  error: snapshot.error,
});

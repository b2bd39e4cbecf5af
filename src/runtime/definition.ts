/** What the runtime knows of a machine: the machine itself, its identity, and the pure functions that go with it. */
import type { AnyStateMachine } from "xstate";
import type { ActorRecord, RowWrite } from "../../persistence/store.ts";

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

export interface Definition {
  readonly id: string;
  readonly version: string;
  /** SHA-256 (hex) over the machine's config. */
  readonly digest: string;
  readonly machine: AnyStateMachine;
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
}

/** The seam between the runtime and storage: what one decided step writes (`Commit`), and what a store must do (`Store`).
 *  Plain data only: persistence never knows a machine, the runtime never knows SQL. One conformance suite tests every store. */

/** A value as JSON text, in the row when it is small, else as the hash of a content-addressed blob (SHA-256, lower-case hex). */
export type StoredValue = { readonly json: string } | { readonly blob: string; readonly bytes: number };

/** UTF-8 bytes above which a value is kept as a blob. */
export const inlineLimitBytes = 4096;

export type ActorStatus = "active" | "done" | "error" | "stopped" | "faulted";

/** One durable actor: one row, one revision. */
export interface ActorRecord {
  readonly id: string;
  /** 1 after the actor's first transition; each applied event raises it by one. */
  readonly revision: number;
  readonly machineId: string;
  readonly machineVersion: string;
  /** Digest of the machine's definition as registered when this snapshot was written. */
  readonly definitionDigest: string;
  readonly status: ActorStatus;
  /** JSON text of the persisted snapshot; children are stubs. */
  readonly snapshot: string;
  /** Actor id of the parent, null for a root. */
  readonly parent: string | null;
  /** The name the parent knows this child by; null for a root. */
  readonly childKey: string | null;
  /** XState's system id, unique among the active actors of one root. */
  readonly systemId: string | null;
  /** Actor id of the root of this tree (its own id for a root). */
  readonly root: string;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One applied event. `seq` is given by the store, ascending over the whole database. */
export interface JournalEntry {
  readonly actor: string;
  readonly revision: number;
  readonly eventId: string;
  readonly type: string;
  /** The event without its envelope; null when it is only its type. A node's output is not repeated here: its effect row holds it. */
  readonly payload: StoredValue | null;
  readonly at: number;
  /** What caused it: an entry of the same commit by its index, an earlier one by its seq, or nothing (from outside). */
  readonly cause: { readonly index: number } | { readonly seq: number } | null;
  readonly machineVersion: string;
  readonly definitionDigest: string;
  /** JSON text of the state value after the event. */
  readonly stateValue: string;
  /** SHA-256 (hex) of the context's JSON text after the event. */
  readonly contextHash: string;
  /** A full snapshot as a base for replay: at revision 1, then at every hundredth. */
  readonly snapshot: string | null;
}

export interface JournalRow extends Omit<JournalEntry, "cause"> {
  readonly seq: number;
  readonly causeSeq: number | null;
}

/** A durable timer; `key` is unique in its actor (XState's send id). */
export interface TimerRecord {
  readonly actor: string;
  readonly key: string;
  /** Epoch ms, absolute. */
  readonly dueAt: number;
  /** The actor that gets the event when it fires; the timer's own actor unless a delayed `sendTo` named another. */
  readonly to: string;
  /** JSON text of the event. */
  readonly event: string;
  /** Revision of the actor that armed it: with the key it makes the fired event's id. */
  readonly revision: number;
}

/** The states of effectMachine (SPEC 6). `planned` and `attempting` are open. */
export type EffectState = "planned" | "attempting" | "confirmed" | "failed" | "ambiguous" | "dropped";

export interface EffectError {
  /** A closed reason (SPEC 5), or the author's own code. */
  readonly reason: string;
  readonly message: string;
}

/** Operating-system process group of a running attempt. `startToken` tells it from a later process with the same number. */
export interface ProcessRecord {
  readonly pgid: number;
  readonly startToken: string;
}

/** Work outside the database that a transition asked for. The row is effectMachine's flat snapshot. */
export interface EffectRecord {
  /** `<actor>@<revision>:<n>`. */
  readonly key: string;
  readonly actor: string;
  readonly root: string;
  /** Name the actor knows it by (invoke id); null for an effect action, whose result nobody awaits. */
  readonly invokeId: string | null;
  /** What executes it: an executor's name. */
  readonly type: string;
  /** The visit it works for, `<graph actor>/<node>.<n>`; null for effects of other actors. Unique. */
  readonly visit: string | null;
  /** What outside systems get to recognise a repetition: the visit, else the key. */
  readonly idempotencyKey: string;
  readonly state: EffectState;
  /** 1 at planning; rises when an interrupted or retried execution runs again. */
  readonly attempt: number;
  /** How many attempts ended because their process was lost (not by a graceful stop). */
  readonly interruptions: number;
  readonly once: boolean;
  /** JSON text of the policy: retry, timeout (src/runtime/effects.ts). */
  readonly policy: string;
  readonly input: StoredValue;
  /** SHA-256 (hex) of type and input: a key reused with another request is an error. */
  readonly fingerprint: string;
  /** The accepted result; what callbacks read as a node's output. */
  readonly output: StoredValue | null;
  readonly error: EffectError | null;
  readonly process: ProcessRecord | null;
  /** Set while the attempt has surely not begun: it begins at or after this time (epoch ms). Null: it may have begun. */
  readonly notBefore: number | null;
  /** Epoch ms of planning, and of the latest change. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Epoch ms since when it is ambiguous; null otherwise. */
  readonly ambiguousSince: number | null;
}

/** Writes one effect row: only when it is as expected (null: it must not exist), else the whole commit conflicts.
 *  An update writes how the effect stands; what was asked for (type to input, fingerprint, createdAt) stays as it was planned. */
export interface EffectWrite {
  readonly expect: { readonly state: EffectState; readonly attempt: number } | null;
  readonly record: EffectRecord;
}

/** What an event from outside was answered with; kept so that a repeated id gets the same answer. */
export interface InboxRecord {
  readonly actor: string;
  readonly eventId: string;
  /** SHA-256 (hex) of the event's type and payload. */
  readonly fingerprint: string;
  /** JSON text of the receipt. */
  readonly receipt: string;
  /** The event itself, kept for the audit when it was refused; null when it was applied (the journal has it). */
  readonly event: StoredValue | null;
  readonly at: number;
}

export type RunState =
  | "queued"
  | "starting"
  | "running"
  | "pausing"
  | "paused"
  | "held"
  | "waiting"
  | "ambiguous"
  | "blocked"
  | "completed"
  | "failed"
  | "timedOut"
  | "cancelled";

/** Index row of a run, a projection of runMachine's snapshot. */
export interface RunRow {
  readonly id: string;
  readonly workflow: string;
  /** Digest of the workflow's stored source closure. */
  readonly sourceDigest: string;
  readonly graphDigest: string;
  readonly state: RunState;
  /** Origin session; null without one. Holds the reservation while `reserves` is true. */
  readonly session: string | null;
  readonly reserves: boolean;
  /** Closed reason (SPEC 5) of an outcome that is not `completed`, or why it is blocked. */
  readonly reason: string | null;
  readonly input: StoredValue;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | null;
}

export type DecisionState = "open" | "accepted" | "defaulted" | "cancelled" | "expired";

/** Index row of a human decision, a projection of decisionMachine's snapshot. */
export interface DecisionRow {
  readonly id: string;
  readonly run: string;
  readonly node: string;
  readonly visit: string;
  readonly state: DecisionState;
  /** Short code a person types; unique among the open ones. */
  readonly code: string;
  readonly title: string;
  readonly audience: string;
  /** Epoch ms of the deadline of the default or of the expiry; null without one. */
  readonly deadlineAt: number | null;
  readonly defaultChoice: string | null;
  readonly choice: string | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
}

/** What a step published last under a type and key of its run (SPEC 14). */
export interface UpdateRow {
  /** `<run>/<type>/<key>`. */
  readonly id: string;
  readonly run: string;
  readonly type: string;
  readonly key: string;
  /** The visit that published it. */
  readonly visit: string;
  /** 1, and one more each time it is replaced. */
  readonly revision: number;
  /** JSON text, at most 64 KiB. */
  readonly data: string;
  /** JSON text of what a rate is computed from; null without one. */
  readonly basis: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One projection row, or an update; replaces the row with the same id. */
export type RowWrite =
  | { readonly table: "runs"; readonly row: RunRow }
  | { readonly table: "decisions"; readonly row: DecisionRow }
  | { readonly table: "updates"; readonly row: UpdateRow };

export interface BlobWrite {
  /** SHA-256, lower-case hex, of `bytes`. */
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Everything one dispatch writes: all of it or nothing. */
export interface Commit {
  /** Id of the event that was dispatched. */
  readonly eventId: string;
  /** Epoch ms; the store keeps the highest ever committed. */
  readonly at: number;
  /** The revision each written actor must have now; 0: it must not exist. */
  readonly expects: { readonly [actor: string]: number };
  readonly actors: readonly ActorRecord[];
  readonly journal: readonly JournalEntry[];
  /** Reduced to the last word for each actor and key; a clear of a timer that is gone is no error. */
  readonly timers: readonly ({ readonly op: "set"; readonly timer: TimerRecord } | { readonly op: "clear"; readonly actor: string; readonly key: string })[];
  /** Timers that must still be there (a timer that fires names its own row), else the commit conflicts. */
  readonly requiresTimers: readonly { readonly actor: string; readonly key: string; readonly revision: number }[];
  readonly effects: readonly EffectWrite[];
  readonly inbox: readonly InboxRecord[];
  readonly rows: readonly RowWrite[];
  readonly blobs: readonly BlobWrite[];
}

/** `conflict`: another state than expected, nothing of this commit was written; `constraint`: it would break a stored rule,
 *  named as the constraint or unique index in sql/ is (`one_reservation_per_session`). */
export type CommitResult =
  | { readonly status: "committed"; readonly seqs: readonly number[] }
  | { readonly status: "conflict"; readonly thing: string }
  | { readonly status: "constraint"; readonly rule: string; readonly message: string };

/** A page of rows, ordered by created time and id; `cursor` is null where no further page is. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor: string | null;
}

export interface PageRequest {
  /** 1 to 500; 50 when left out. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** The first page is the last one in time, and each further one stands before it; within a page the order stays. */
  readonly newest?: boolean | undefined;
}

/** The projections that can be asked for. */
export interface Projections {
  runs: { filter: { id?: string; state?: readonly RunState[]; workflow?: string; session?: string }; row: RunRow };
  decisions: { filter: { id?: string; run?: string; state?: readonly DecisionState[]; code?: string }; row: DecisionRow };
  effects: { filter: { key?: string; actor?: string; root?: string; visit?: string; state?: readonly EffectState[] }; row: EffectRecord };
  updates: { filter: { id?: string; run?: string }; row: UpdateRow };
  actors: { filter: { root?: string; parent?: string; machineId?: string; status?: readonly ActorStatus[] }; row: ActorRecord };
}

export type Projection = keyof Projections;

/** Storage of one state directory. Methods that read see the last commit. */
export interface Store {
  load(ids: readonly string[]): Promise<readonly ActorRecord[]>;
  /** One transaction; each entry stands or falls alone. Throws `storageFull` and other environment errors with nothing written. */
  commit(commits: readonly Commit[]): Promise<readonly CommitResult[]>;
  /** Timers with `dueAt <= until`, by due time, then actor and key. */
  due(until: number, limit: number): Promise<readonly TimerRecord[]>;
  /** Due time of the earliest timer. */
  nextDue(): Promise<number | null>;
  timers(actor: string): Promise<readonly TimerRecord[]>;
  /** Effects in `planned` or `attempting`, after `cursor` in key order. */
  openEffects(limit: number, cursor?: string): Promise<readonly EffectRecord[]>;
  effects(keys: readonly string[]): Promise<readonly EffectRecord[]>;
  /** The effect rows of these visits (any order; missing ones are left out). */
  visits(visits: readonly string[]): Promise<readonly EffectRecord[]>;
  /** Active direct children of an actor. */
  children(actor: string): Promise<readonly ActorRecord[]>;
  inbox(actor: string, eventId: string): Promise<InboxRecord | null>;
  blob(hash: string): Promise<Uint8Array | null>;
  journal(actor: string, fromRevision: number, limit: number): Promise<readonly JournalRow[]>;
  query<P extends Projection>(projection: P, filter: Projections[P]["filter"], page?: PageRequest): Promise<Page<Projections[P]["row"]>>;
  /** The highest `at` ever committed; 0 when empty. */
  lastAt(): Promise<number>;
  close(): Promise<void>;
}

/** The runtime's face: start, send, read, recover. Everything durable goes through `dispatch.ts`. */
import type { EffectRecord, ProcessRecord, Store } from "../../persistence/store.ts";
import type { PawlError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import type { ActorView, DefinitionRegistry } from "./definition.ts";
import type { Executors } from "./executor.ts";
import type { FaultHook } from "./faultPoints.ts";

export interface RuntimeOptions {
  readonly store: Store;
  readonly definitions: DefinitionRegistry;
  /** By effect type. An author's invoked promise runs itself and needs none. */
  readonly executors: Executors;
  readonly clock?: Clock;
  /** Ends what is left of a lost attempt's process group before its row moves. */
  readonly endProcess?: (process: ProcessRecord) => Promise<void>;
  /** The store refused a commit for good (disk full …): nothing is lost, nothing more is accepted until it is opened again. */
  readonly onHalted?: (error: PawlError) => void;
  /** Effects that run at once at most; 256 when left out. The others wait their turn, oldest first. */
  readonly effectConcurrency?: number;
  /** Gives numbers from 0 up to 1 that spread retries; `Math.random` unless a test wants the same each time. */
  readonly random?: () => number;
  /** Moments at which a test ends the process or this runtime. */
  readonly faults?: FaultHook;
  /** Awaited once, before the first stored actor is migrated to a newer version of its machine: the time to back up. What it throws stops that. */
  readonly beforeMigration?: () => Promise<void>;
  /** An error nobody awaits (a listener, a volatile action). */
  readonly onError?: (error: unknown) => void;
}

/** The answer to an event, durable before anybody sees it. `revision` is the actor's after it. */
export interface Receipt {
  readonly status: "applied" | "duplicate" | "ignored" | "refused";
  readonly actor: string;
  readonly revision: number;
  readonly code?: string;
  /** What the machine emitted as `pawl.reply` while applying the event, or its answer when finished. */
  readonly reply?: unknown;
}

export interface SendOptions {
  /** Repeats with the same id get the same answer. Made up when left out. */
  readonly eventId?: string;
  /** Refused as `stale` when the actor has another. */
  readonly expectedRevision?: number;
}

/** One committed change, for views; told after the commit, in order. */
export type Change =
  | {
      readonly kind: "actor";
      readonly view: ActorView;
      readonly event: { readonly type: string; readonly id: string; readonly [field: string]: unknown };
      readonly at: number;
    }
  | { readonly kind: "effect"; readonly record: EffectRecord; readonly at: number }
  | {
      readonly kind: "emitted";
      readonly actor: string;
      readonly root: string;
      readonly event: { readonly type: string; readonly [key: string]: unknown };
      readonly at: number;
    }
  /** What a machine wrote with XState's `log`. */
  | { readonly kind: "log"; readonly actor: string; readonly root: string; readonly label: string | null; readonly value: unknown; readonly at: number }
  | {
      readonly kind: "line";
      readonly effect: string;
      readonly actor: string;
      readonly visit: string | null;
      readonly root: string;
      readonly text: string;
      readonly at: number;
    };

/** An event of Pawl's own at which an actor's machine threw, and those that came since. */
export interface Fault {
  readonly message: string;
  /** Oldest first; the first is the one that it threw at. */
  readonly events: readonly { readonly type: string; readonly [field: string]: unknown }[];
}

/** What ends a waiting before its time. */
export interface WaitBounds {
  /** Milliseconds; no limit when left out. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Runtime {
  /** Starts a root actor under this id; `blobs` are committed with it, found by their SHA-256. */
  start(
    machineId: string,
    options: {
      readonly id: string;
      /** The newest when left out. */ readonly version?: string;
      readonly input: unknown;
      readonly eventId?: string;
      readonly blobs?: readonly Uint8Array[];
    },
  ): Promise<Receipt>;
  send(actor: string, event: { readonly type: string; readonly [key: string]: unknown }, options?: SendOptions): Promise<Receipt>;
  /** As `send`, to the actor that `find` gives: the event takes its place in the order of events, and its time, before that is looked up. What `find` throws is the sender's. */
  sendFound(
    eventId: string,
    find: () => Promise<{ readonly actor: string; readonly event: { readonly type: string; readonly [key: string]: unknown } }>,
  ): Promise<Receipt>;
  /** The actor's last committed snapshot; null when there is none. */
  view(actor: string): Promise<ActorView | null>;
  /** The same as memory holds it: nothing of it may be changed, and actors in its context are references. */
  peek(actor: string): Promise<ActorView | null>;
  /** Settles an ambiguous effect by a person's word. `code` of a refusal: unknownEffect, refused (with the state). */
  confirmEffect(key: string, output: { readonly output: unknown; readonly value?: unknown }): Promise<EffectRecord>;
  retryEffect(key: string): Promise<EffectRecord>;
  /** Looks once more whether an ambiguous effect happened, by its own `observe`; it stays ambiguous when that cannot be told. @throws unknownEffect, refused */
  observeEffect(key: string): Promise<EffectRecord>;
  /** Arms the timers of all actors (what fell due meanwhile fires now). Call once after opening. Effects are planned but run only for adopted roots. */
  recover(): Promise<void>;
  /** Executes the effects of this actor tree from now on, those that an earlier owner left open included. Idempotent. */
  adopt(root: string): Promise<void>;
  /** The same for every tree, those that start later included. Open effects are taken up in the background (`settled`). Idempotent. */
  adoptAll(): Promise<void>;
  /** The opposite: stops this tree's effects (`shutdown`), which go on when it is adopted again. */
  release(root: string): Promise<void>;
  subscribe(listener: (change: Change) => void): () => void;
  /**
   * Stops a root actor and all below it: status `stopped`, effects dropped (begun `once` ones are ambiguous), timers cleared. Needs no machine.
   * `ignored`, with its status as `code`, for one that has ended. @throws unknownActor; refused for a child
   */
  stop(actor: string): Promise<Receipt>;
  /** Why an actor is faulted, and what it has not taken; null when it is not. */
  fault(actor: string): Promise<Fault | null>;
  /** Delivers again the event that faulted this actor, and what was kept since. `refused` with `faulted` when its machine throws again. @throws unknownActor, restoreRefused */
  retryFault(actor: string): Promise<Receipt>;
  /** Resolves when nothing is queued, no effect runs and no due timer is being fired (later timers may be pending). @throws timedOut, aborted */
  settled(bounds?: WaitBounds): Promise<void>;
  /** Stops effects (`shutdown`), waits for the last commit. The store stays open. */
  close(): Promise<void>;
}

/** One step as data: what is asked of whoever has the machine, and what is answered. JSON text goes over; functions, links and references stay
 *  where they are: delays and policies are numbers by then, and a child is named by its place. */
import type { RetryPolicy } from "../../machines/define.ts";

export interface StepRequest {
  readonly actor: string;
  readonly parent: string | null;
  /** The name that its parent knows it by. */
  readonly key: string | null;
  /** Actors of its tree by system id; null until its machine asks for one. */
  readonly names: readonly (readonly [string, string])[] | null;
  /** The stored snapshot; null: the first transition. */
  readonly from: string | null;
  /** JSON text: the event, or `{ input }` for the first transition. */
  readonly given: string;
}

export type StepAnswer =
  /** The machine looked for an actor by its system id: ask again with the names. */
  | { readonly kind: "needsNames" }
  /** It has no transition for the event. */
  | { readonly kind: "unchanged" }
  /** `json`: a `StepBody`. `usesTime`: the event's `at` was read, so that another time may give another step. */
  | { readonly kind: "stepped"; readonly usesTime: boolean; readonly json: string };

/** A child: `kept:<key>` for one that the snapshot before the step has, `new:<n>` for the one that spawn record `n` asks for, `over:<key>` for one
 *  that was stopped in the step that made it and is never started. */
export type ChildName = string;

/** Before a child's name where a reference stands for it. No text that JSON may carry here holds it. */
export const childMark = "\0";

export type WireAddress =
  | { readonly kind: "self" | "parent" }
  | { readonly kind: "child"; readonly key: string; readonly child: ChildName }
  | { readonly kind: "actor"; readonly id: string };

/** An effect's options, for the input that it has. */
export interface WireOptions {
  readonly once: boolean;
  readonly retry: RetryPolicy | null;
  readonly timeoutMs: number | null;
  readonly maxInterrupted: number | null;
  readonly heartbeatMs?: number;
  readonly visit?: string;
}

/** What becomes of a spawned child. */
export type WireChild =
  | { readonly kind: "machine"; readonly id: string; readonly version: string | null; readonly visit?: string }
  | { readonly kind: "fromInput"; readonly id: string; readonly version: string; readonly visit?: string }
  | { readonly kind: "effect"; readonly type: string; readonly options: WireOptions };

interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type WireRecord =
  | {
      readonly kind: "spawn";
      readonly key: string;
      readonly src: string;
      readonly input?: unknown;
      readonly systemId: string | null;
      readonly child: ChildName;
      readonly replaces?: ChildName;
      readonly as: WireChild;
    }
  | { readonly kind: "stop"; readonly key: string; readonly child: ChildName | null }
  | { readonly kind: "timer"; readonly key: string | null; readonly delayMs: number; readonly to: WireAddress; readonly event: WireEvent }
  | { readonly kind: "cancelTimer"; readonly key: string }
  | { readonly kind: "send"; readonly to: WireAddress; readonly event: WireEvent }
  | { readonly kind: "emit"; readonly event: WireEvent }
  | { readonly kind: "log"; readonly label: string | null; readonly value?: unknown }
  | { readonly kind: "effect"; readonly action: string; readonly type: string; readonly options: WireOptions; readonly params?: unknown }
  /** A volatile action: whoever answered holds it under this name for a while. */
  | { readonly kind: "volatile"; readonly action: string; readonly name: string };

/** A child that the snapshot after the step has. */
export interface WireRef {
  readonly key: string;
  readonly child: ChildName;
  readonly src: string;
  readonly systemId: string | null;
}

/** The snapshot after the step, and what it asked for in document order. */
export interface StepBody {
  readonly status: "active" | "done" | "error";
  readonly value: unknown;
  readonly context: unknown;
  readonly output?: unknown;
  readonly error?: { readonly reason: string; readonly message: string };
  readonly children: readonly WireRef[];
  readonly historyValue: object;
  readonly asked: readonly WireRecord[];
}

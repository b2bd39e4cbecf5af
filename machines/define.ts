/** What machines and nodes are made with: named effects, children that come from data, and the marks the runtime reads.
 *  A machine only names outside work; the runtime executes it after commit and sends the result back as an event. */
import { fromPromise, type ActorLogic, type AnyActorLogic, type AnyEventObject, type PromiseActorLogic, type Snapshot } from "xstate";

/** How an effect may run again; see SPEC 6. Times in ms. */
export interface RetryPolicy {
  /** All tries together, first one included: 1 to 100. */
  readonly maxAttempts: number;
  readonly initialMs: number;
  readonly factor?: number;
  readonly maxMs?: number;
}

export interface EffectOptions<I> {
  /** At most once: after the call began, anything but a result or `NotApplied` is ambiguous. */
  readonly once?: boolean | ((input: I) => boolean);
  readonly retry?: RetryPolicy | ((input: I) => RetryPolicy | null);
  /** Wall-clock limit of one attempt in ms; null or absent: none. */
  readonly timeoutMs?: number | null | ((input: I) => number | null);
  /** How often an interrupted execution may run again: attempts in all; absent: no bound. */
  readonly maxInterrupted?: number;
  /** Last part of the visit's id (`propose.7`): what the effect's idempotency key and a child actor's id are made of. */
  readonly visit?: (input: I) => string;
}

/** The key under which logic carries its marks. A registered symbol: two copies of the package agree on it. */
export const pawlMark: unique symbol = Symbol.for("pawl.mark");

export type PawlMark =
  | { readonly kind: "effect"; readonly type: string; readonly options: EffectOptions<never> }
  | { readonly kind: "machineFromInput"; readonly machineId: string; readonly version: (input: never) => string; readonly visit?: (input: never) => string }
  | { readonly kind: "child"; readonly visit: (input: never) => string }
  | { readonly kind: "volatile"; readonly visit?: undefined };

/** The mark of an actor logic, if it carries one. */
export function markOf(logic: unknown): PawlMark | undefined {
  if ((typeof logic !== "object" && typeof logic !== "function") || logic === null || !(pawlMark in logic)) return undefined;
  return logic[pawlMark] as PawlMark; // only `mark` below writes this key
}

function mark<L extends object>(logic: L, value: PawlMark): L {
  return Object.defineProperty(logic, pawlMark, { value, enumerable: false });
}

/**
 * Names an effect: invoke it like a promise; `type` says which executor runs it.
 * The logic itself is never run: outside Pawl it throws and says so.
 */
export function effect<O, I>(type: string, options: EffectOptions<I> = {}): PromiseActorLogic<O, I> {
  const logic = fromPromise<O, I & {}>(() => Promise.reject(new Error(`"${type}" names an effect: the Pawl runtime executes it after commit; to run this machine elsewhere, provide({ actors }) an implementation`)));
  return mark(logic as unknown as PromiseActorLogic<O, I>, { kind: "effect", type, options });
}

/** Names an effect that an action asks for and whose result nobody awaits; its input is the action's params. */
export function effectAction<P>(type: string, options: EffectOptions<P> = {}): (args: unknown, params: P) => void {
  const action = (): void => {
    throw new Error(`"${type}" names an effect: the Pawl runtime executes it after commit; to run this machine elsewhere, provide({ actions }) an implementation`);
  };
  return mark(action, { kind: "effect", type, options });
}

/**
 * Declares that an action may be lost: it is run once, best effort, after the commit of the transition that asked for it, and never again.
 * It gets copies of context and event; it cannot send, and what it throws is only reported. Marks and returns the action itself.
 */
export function volatileAction<A extends (args: never, params: never) => void>(action: A): A {
  return mark(action, { kind: "volatile" });
}

/** Makes an author's promise logic carry a policy: `durable(fromPromise(...), { once: true })`. */
export function durable<O, I>(logic: PromiseActorLogic<O, I>, options: EffectOptions<I>): PromiseActorLogic<O, I> {
  return mark({ ...logic }, { kind: "effect", type: "", options });
}

/**
 * A child machine that is known only by its input at run time, as a run's graph is by its digest.
 * The registry resolves `machineId` with `version(input)`.
 */
export function machineFromInput<O, I>(machineId: string, version: (input: I) => string, visit?: (input: I) => string): ActorLogic<Snapshot<O>, AnyEventObject, I> {
  const logic = fromPromise<O, I & {}>(() => Promise.reject(new Error(`"${machineId}" is a machine that the Pawl runtime looks up by its input`)));
  return mark(logic as unknown as ActorLogic<Snapshot<O>, AnyEventObject, I>, { kind: "machineFromInput", machineId, version, ...(visit ? { visit } : {}) });
}

/** Gives a child machine visit ids of its own (`approve.3`), as nodes of a graph need. Marks and returns the logic itself. */
export function visited<L extends AnyActorLogic, I>(logic: L, visit: (input: I) => string): L {
  return mark(logic, { kind: "child", visit });
}

/** A failure that must not be tried again. `reason` is shown and stored: no secrets. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
  readonly code: string;
  constructor(message: string, code = "effectFailed") {
    super(message);
    this.code = code;
  }
}

/** A failure that may pass: tried again under the effect's retry policy, not before `retryAfterMs`. */
export class RetryableError extends Error {
  override readonly name = "RetryableError";
  readonly retryAfterMs: number | undefined;
  constructor(message: string, options: { retryAfterMs?: number } = {}) {
    super(message);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Declares that the outside effect surely did not happen: a `once` effect that throws it fails instead of being ambiguous. */
export class NotApplied extends Error {
  override readonly name = "NotApplied";
}

/** Input of every effect and child machine that a graph state invokes. Everything else an executor needs stands in the graph actor's context, which does not change while the visit is open. */
export interface NodeInput {
  readonly run: string;
  readonly node: string;
  /** Last part of the visit's id: `propose.7`. */
  readonly visit: string;
  readonly once: boolean;
}

/** Output of every effect and child machine that a graph state invokes. `value` is absent for effects: their row holds it. */
export interface NodeOutput {
  readonly case: string;
  readonly value?: unknown;
}

/** What a child machine ends with in place of `NodeOutput` when its visit failed. Reasons `nodeTimedOut` and `decisionExpired` take the `timedOut` route. */
export interface NodeFailure {
  readonly failed: { readonly reason: string; readonly message: string };
}

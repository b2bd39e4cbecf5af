/** What machines and nodes are made with: named effects, children that come from data, and the marks the runtime reads.
 *  A machine only names outside work; the runtime executes it after commit and sends the result back as an event. */
import { fromPromise, type AnyActorLogic, type PromiseActorLogic } from "xstate";
import { checkStaticOptions } from "./policy.ts";

export { NotApplied } from "./notApplied.ts";

/** How a failed effect is tried again: the waits grow by `factor` from `initialMs` to `maxMs`, each shortened by up to half by chance;
 *  a provider's own wait (`RetryableError`'s `retryAfterMs`) is taken as it is. Times in ms. */
export interface RetryPolicy {
  /** All tries together, first one included: 1 to 100. */
  readonly maxAttempts: number;
  readonly initialMs: number;
  /** 2 when left out; at least 1. */
  readonly factor?: number;
  /** 60,000 when left out. */
  readonly maxMs?: number;
}

export interface EffectOptions<I> {
  /** At most once: after the call began, anything but a result or `NotApplied` is ambiguous. */
  readonly once?: boolean | ((input: I) => boolean);
  readonly retry?: RetryPolicy | ((input: I) => RetryPolicy | null);
  /** Wall-clock limit of one attempt in ms; null or absent: none. */
  readonly timeoutMs?: number | null | ((input: I) => number | null);
  /** An attempt that gives no sign of life (`heartbeat()`, `report()`) for this long, in ms, counts as interrupted; absent: none is asked for. */
  readonly heartbeatMs?: number;
  /** At how many interruptions it fails as `workerCrashed`; absent: no bound, but 3 with `heartbeatMs`. */
  readonly maxInterrupted?: number;
  /** Last part of the visit's id (`propose.7`): what the effect's idempotency key and a child actor's id are made of. */
  readonly visit?: (input: I) => string;
}

/** The key under which logic carries its marks. A registered symbol: two copies of the package agree on it. */
export const pawlMark: unique symbol = Symbol.for("pawl.mark");

export type PawlMark =
  | { readonly kind: "effect"; readonly type: string; readonly options: DurableOptions<unknown, never> }
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
  checkStaticOptions(options, `Effect "${type}"`);
  const logic = fromPromise<O, I & {}>(() =>
    Promise.reject(
      new Error(`"${type}" names an effect: the Pawl runtime executes it after commit; to run this machine elsewhere, provide({ actors }) an implementation`),
    ),
  );
  return mark(logic as unknown as PromiseActorLogic<O, I>, { kind: "effect", type, options }); // as in durable()
}

/** Names an effect that an action asks for and whose result nobody awaits; its input is the action's params. */
export function effectAction<P>(type: string, options: EffectOptions<P> = {}): (args: unknown, params: P) => void {
  checkStaticOptions(options, `Effect "${type}"`);
  const action = (): void => {
    throw new Error(
      `"${type}" names an effect: the Pawl runtime executes it after commit; to run this machine elsewhere, provide({ actions }) an implementation`,
    );
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

/** What became of an earlier attempt, as the outside shows it; null when that cannot be told. `happened: false` says that it surely did not, and will not any more. */
export type Observation<O> = { readonly happened: true; readonly output: O } | { readonly happened: false } | null;

/** What a durable promise knows of its attempt besides its input. */
export interface DurableTask {
  /** The same over all attempts: hand it to outside systems. */
  readonly idempotencyKey: string;
  /** 1, and one more for each time an interrupted or failed execution runs again. */
  readonly attempt: number;
  /** Aborted by cancel, timeout, silence and shutdown. */
  readonly signal: AbortSignal;
  /** A sign of life; see `heartbeatMs`. */
  heartbeat(): void;
  /** A line for whoever watches, not stored; a sign of life too. */
  report(line: string): void;
}

export interface DurableOptions<O, I> extends EffectOptions<I> {
  /** Asks the outside whether an earlier attempt happened, before another is made. With `once` it is what spares a person the question. */
  readonly observe?: (args: { readonly input: I } & Pick<DurableTask, "idempotencyKey" | "attempt" | "signal">) => Promise<Observation<O>>;
}

/**
 * An author's promise with a policy: `durable(fromPromise(…), { once: true })`, or with a function that is told key and attempt too:
 * `durable(async ({ input, idempotencyKey, signal }) => …, { retry: { maxAttempts: 5, initialMs: 1_000 } })`. In plain XState it runs as a promise.
 * @throws invalidMachine for a policy that cannot be kept, naming the setting
 */
export function durable<O, I>(
  work: PromiseActorLogic<O, I> | ((args: { readonly input: I } & DurableTask) => Promise<O>),
  options: DurableOptions<O, I> = {},
): PromiseActorLogic<O, I> {
  checkStaticOptions(options, "A durable promise");
  const logic = typeof work === "function" ? fromPromise<O, I & {}>((args) => work({ input: args.input, ...taskOf(args) })) : work;
  return mark({ ...(logic as PromiseActorLogic<O, I>) }, { kind: "effect", type: "", options }); // fromPromise asks for an input that is not null or undefined, though it takes one
}

/** Where the runtime puts the task among the arguments of a promise. */
function taskOf(args: { readonly signal: AbortSignal; readonly self: { readonly sessionId: string } }): DurableTask {
  if (pawlMark in args) return args[pawlMark] as DurableTask; // only the runtime writes this key
  const nothing = (): void => {};
  return { idempotencyKey: args.self.sessionId, attempt: 1, signal: args.signal, heartbeat: nothing, report: nothing };
}

/**
 * A child machine that is known only by its input at run time, as a run's graph is by its digest.
 * The registry resolves `machineId` with `version(input)`.
 */
export function machineFromInput<O, I>(machineId: string, version: (input: I) => string, visit?: (input: I) => string): PromiseActorLogic<O, I> {
  const logic = fromPromise<O, I & {}>(() => Promise.reject(new Error(`"${machineId}" is a machine that the Pawl runtime looks up by its input`)));
  return mark(logic as unknown as PromiseActorLogic<O, I>, { kind: "machineFromInput", machineId, version, ...(visit ? { visit } : {}) });
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
  /** Of a child machine, in place of a value: last part of the visit of its own effect whose row holds it (`check.2`). */
  readonly kept?: string;
  /** Of an included workflow, in place of a value: id of the visit that gave it. */
  readonly from?: string;
}

/** What a child machine ends with in place of `NodeOutput` when its visit failed. Reasons `nodeTimedOut` and `decisionExpired` take the `timedOut` route. */
export interface NodeFailure {
  readonly failed: { readonly reason: string; readonly message: string };
}

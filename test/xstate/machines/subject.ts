/** What a test machine brings to the walks: itself, the machines it starts, the events worth sending, and how its promises may end. */
import { fromPromise, type AnyEventObject, type AnyStateMachine, type NonReducibleUnknown, type PromiseActorLogic } from "xstate";
import { effectAction, volatileAction } from "../../../machines/define.ts";

export type Outcome = { readonly output: unknown } | { readonly error: string };

export interface Subject {
  readonly machine: AnyStateMachine;
  /** Child machines, at any depth. */
  readonly children?: readonly AnyStateMachine[];
  readonly input?: unknown;
  /** Events with payloads, by the id of the machine that they are for. */
  readonly events: { readonly [machineId: string]: readonly AnyEventObject[] };
  /** By the source of a promise, or the type of an effect. */
  readonly outcomes?: { readonly [source: string]: readonly Outcome[] };
}

/** A promise that the test settles: in a live actor and in the runtime alike it is replaced by one in the test's hands. */
export const awaited = <O, I extends NonReducibleUnknown = NonReducibleUnknown>(): PromiseActorLogic<O, I> => fromPromise<O, I>(() => new Promise(() => {}));

/** Outside work whose order is compared. */
export const does = <P = undefined>(type: string): ((args: unknown, params: P) => void) => effectAction<P>(type);

/** Where volatile actions leave their traces; a test that compares them puts its own here. */
export const traces: { note: (name: string, params: unknown) => void } = { note: () => {} };

/** An action that may be lost: it leaves a trace. */
export const traced = <P = undefined>(name: string): ((args: unknown, params: P) => void) =>
  volatileAction((_args: unknown, params: P) => traces.note(name, params));

/** Waiting for an actor: it ends with a snapshot, with the actor's own end, or with the bounds. */
import type { AnyStateMachine } from "xstate";
import { PawlError } from "../errors.ts";
import { withinBounds } from "../runtime/bounds.ts";
import type { Clock } from "../runtime/clock.ts";
import type { WaitBounds } from "../runtime/runtime.ts";
import type { ActorSnapshot } from "./types.ts";

/** A waiting to which nobody gave an end has this one. */
const defaultLimitMs = 30_000;

export interface Watched<M extends AnyStateMachine> {
  readonly id: string;
  get(): Promise<ActorSnapshot<M> | null>;
  watch(seen: (snapshot: ActorSnapshot<M>) => void): () => void;
}

/** @throws unknownActor; refused when the actor can no longer get there; timedOut and aborted, naming the state it is in */
export async function waitFor<M extends AnyStateMachine>(
  actor: Watched<M>,
  predicate: (snapshot: ActorSnapshot<M>) => boolean,
  bounds: WaitBounds,
  clock: Clock,
): Promise<ActorSnapshot<M>> {
  const { id } = actor;
  const found = Promise.withResolvers<ActorSnapshot<M>>();
  let last: ActorSnapshot<M> | null = null;
  const see = (snapshot: ActorSnapshot<M>): void => {
    // What was read at the beginning may come after a change that was told meanwhile.
    if (last !== null && snapshot.revision < last.revision) return;
    last = snapshot;
    try {
      if (predicate(snapshot)) found.resolve(snapshot);
      else if (snapshot.status !== "active")
        found.reject(
          new PawlError(
            "refused",
            `Actor "${id}" is ${snapshot.status} in state ${JSON.stringify(snapshot.value)}${reasonOf(snapshot)} and will not become what is waited for.`,
            { subject: id },
          ),
        );
    } catch (error) {
      found.reject(error);
    }
  };
  const stop = actor.watch(see);
  // Awaited below; a rejection before that must not count as unhandled.
  found.promise.catch(() => undefined);
  try {
    const first = await actor.get();
    if (!first) throw new PawlError("unknownActor", `There is no actor "${id}" to wait for.`, { subject: id });
    see(first);
    const limits = bounds.timeoutMs === undefined && bounds.signal === undefined ? { timeoutMs: defaultLimitMs } : bounds;
    return await withinBounds(
      found.promise,
      limits,
      () => `Actor "${id}" did not become what is waited for (it is in state ${JSON.stringify((last ?? first).value)})`,
      clock,
    );
  } finally {
    stop();
  }
}

const reasonOf = (snapshot: ActorSnapshot): string => (snapshot.error === undefined ? "" : ` (${snapshot.error.message})`);

/** References to durable actors as data: what machines are given to send to actors outside their own tree. */
import type { AnyActorRef } from "xstate";

/** XState's own mark of a reference in a snapshot. */
export const refMarker = "xstate$$type";

/** A reference as JSON. `id` is the name its parent knows it by, as XState writes it; `actor` is the id of the durable actor. */
export interface RefData {
  readonly [refMarker]: 1;
  readonly id: string;
  readonly actor: string;
}

/**
 * A reference to the durable actor of this id, to be put into an input or an event: the machine that gets it can `sendTo` it and keep it in its
 * context. Whether the actor exists is seen when something is sent; nobody hears what is sent to one that does not.
 */
export function actorRef<T extends AnyActorRef = AnyActorRef>(id: string): T {
  const data: RefData = { [refMarker]: 1, id, actor: id };
  return data as unknown as T; // data here, a reference in the machine: the runtime puts one in its place
}

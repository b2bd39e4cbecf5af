/** Dispatches that wait for a step that is taken in another process. They are set aside, so that the commits of all others go on, and are computed
 *  anew when the answer is there. Those that wait for one actor keep their order: each waits in that actor's lane, and only the first of a lane asks. */
import { systemClock } from "./clock.ts";

/** The dispatch that throws it needs a step that is not known yet; `step` is null when another one is before it. */
export class SetAside extends Error {
  readonly actor: string;
  readonly step: Promise<unknown> | null;
  constructor(actor: string, step: Promise<unknown> | null) {
    super(`A step of actor "${actor}" is not known yet.`);
    this.actor = actor;
    this.step = step;
  }
}

/** What a dispatch remembers from one try to the next. */
export interface Place {
  /** The actor in whose lane it waits, or which it is the first to wait for. */
  lane: string | null;
  /** How often it was set aside for its first, second, … step of this kind. */
  readonly asides: number[];
}

/** How often it is set aside for one step: what moves while it is (the committed time, the tree) might do so for ever. */
const asidesForOne = 2;
/** A dispatch of more such steps than this is not computed from its beginning for each of them. */
const asidesInAll = 32;
/** How long the group waits for a step of a process that has just answered. */
const inPlaceMs = 200;

export class Lanes<T extends { readonly place: Place }> {
  private readonly lanes = new Map<string, T[]>();

  /** How many wait, or are tried again. */
  get size(): number {
    let size = 0;
    for (const lane of this.lanes.values()) size += lane.length;
    return size;
  }

  /** Everything that waits. */
  all(): readonly T[] {
    return [...this.lanes.values()].flat();
  }

  /** What one try of a dispatch may do. */
  turn(one: T): Turn {
    return new Turn(one.place, (actor) => {
      const first = this.lanes.get(actor)?.[0];
      return first !== undefined && first !== one;
    });
  }

  /** Holds one lane at most, the first that it needs: so nobody waits for who waits for him. */
  enter(one: T, actor: string): void {
    if (one.place.lane !== null) return;
    one.place.lane = actor;
    const lane = this.lanes.get(actor);
    if (lane) lane.push(one);
    else this.lanes.set(actor, [one]);
  }

  /** Gives the one that is first now, if it was not before. */
  leave(one: T): T | undefined {
    const { lane: name } = one.place;
    const lane = name === null ? undefined : this.lanes.get(name);
    if (name === null || !lane) return undefined;
    const index = lane.indexOf(one);
    if (index >= 0) lane.splice(index, 1);
    one.place.lane = null;
    if (lane.length === 0) this.lanes.delete(name);
    return index === 0 ? lane[0] : undefined;
  }
}

/** One try of one dispatch. */
export class Turn {
  private readonly place: Place;
  private readonly isTaken: (actor: string) => boolean;
  private ordinal = -1;

  constructor(place: Place, isTaken: (actor: string) => boolean) {
    this.place = place;
    this.isTaken = isTaken;
  }

  /** Call before a step that is taken elsewhere. @throws SetAside while an earlier dispatch waits for this actor */
  begin(actor: string): void {
    this.ordinal += 1;
    if (this.place.lane === null && this.isTaken(actor)) throw new SetAside(actor, null);
  }

  /** @throws SetAside; what the step throws */
  async known<S>(actor: string, step: Promise<S>): Promise<S> {
    const { asides } = this.place;
    const before = asides[this.ordinal] ?? 0;
    asides[this.ordinal] = before + 1;
    if (before >= asidesForOne || this.ordinal >= asidesInAll) {
      const answer = await soon(step);
      if (answer) return answer.value;
    }
    throw new SetAside(actor, step);
  }
}

/** Null when it takes longer than the group waits. */
async function soon<S>(step: Promise<S>): Promise<{ readonly value: S } | null> {
  let stop: () => void = () => undefined;
  const late = new Promise<null>((resolve) => {
    stop = systemClock.schedule(systemClock.now() + inPlaceMs, () => resolve(null));
  });
  try {
    return await Promise.race([step.then((value) => ({ value })), late]);
  } finally {
    stop();
  }
}

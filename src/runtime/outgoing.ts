/** What leaves an actor: data that JSON carries unchanged, with references to actors as data. What another actor gets is what is stored. */
import { jsonText, readBack } from "../json.ts";
import { refsInMessages } from "./refs.ts";

export interface EventObjectLike {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** An event as the machine sees it: with the id and the time of its envelope, unless it has fields of these names itself. */
export interface Enveloped extends EventObjectLike {
  readonly id: unknown;
  readonly at: unknown;
}

/** What leaves an actor in one step, which took `taken`, and was made of `given`. */
export class Outgoing {
  private readonly actor: string;
  private readonly given: EventObjectLike;
  private readonly taken: EventObjectLike;

  constructor(actor: string, given: EventObjectLike, taken: EventObjectLike) {
    this.actor = actor;
    this.given = given;
    this.taken = taken;
  }

  /** JSON text of an event for others. An event that is sent on leaves its envelope behind. @throws invalidValue */
  text(event: EventObjectLike, what = `event "${event.type}" sent`): string {
    return jsonText(this.withoutEnvelope(event), `${what} by actor "${this.actor}"`, refsInMessages);
  }

  event(event: EventObjectLike, what?: string): EventObjectLike {
    return readBack(this.text(event, what));
  }

  private withoutEnvelope(event: EventObjectLike): EventObjectLike {
    const { given, taken } = this;
    const isEnvelopes = (key: "id" | "at"): boolean => key in event && !(key in given) && event[key] === taken[key];
    if (!isEnvelopes("id")) return event;
    const { id: _id, ...rest } = event;
    if (!isEnvelopes("at")) return { ...rest, type: event.type };
    const { at: _at, ...bare } = rest;
    return { ...bare, type: event.type };
  }
}

/** An input or an output as data. `undefined` stays what it is. @throws invalidValue */
export const dataOf = (value: unknown, what: string): unknown => (value === undefined ? undefined : readBack(jsonText(value, what, refsInMessages)));

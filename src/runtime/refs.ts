/** References to actors: what a machine holds of an actor that is not in its memory, and the data it is stored and sent as.
 *  The data has XState's own form, `{xstate$$type: 1, id}`, and names the durable actor besides. */
import { refMarker, type RefData } from "../../machines/actorRef.ts";
import { PawlError } from "../errors.ts";
import type { ObjectCheck } from "../json.ts";

/** A child in its parent's snapshot: the runtime writes what it made of it, an actor id or an effect key. */
export interface ChildLink {
  readonly status: "active";
  actor?: string;
  effect?: string;
}

/** Stubs of children, and what they stand for. XState's own objects: there is no field of theirs to keep it in. */
const links = new WeakMap<object, ChildLink>();

export const linkOf = (stub: unknown): ChildLink | undefined => (typeof stub === "object" && stub !== null ? links.get(stub) : undefined);

/** Another actor, by its durable id. Can be sent to (`sendTo(ref, event)`), kept in a context and passed on; nothing else of it is here. */
export class RemoteRef {
  readonly id: string;
  readonly actor: string;
  constructor(id: string, actor: string) {
    this.id = id;
    this.actor = actor;
  }
  get sessionId(): string {
    return this.actor;
  }
  get ref(): this {
    return this;
  }
  toJSON(): RefData {
    return { [refMarker]: 1, id: this.id, actor: this.actor };
  }
}

/** What a machine knows as `self`. `_parent` is XState's name for the target of sendParent. */
export class SelfRef {
  readonly id: string;
  readonly sessionId: string;
  readonly actor: string;
  readonly system: object;
  readonly _parent: unknown;
  readonly #scope: { readonly before: unknown };
  constructor(id: string, actor: string, system: object, parent: unknown, scope: { readonly before: unknown }) {
    this.id = id;
    this.sessionId = actor;
    this.actor = actor;
    this.system = system;
    this._parent = parent;
    this.#scope = scope;
  }
  get ref(): this {
    return this;
  }
  /** The snapshot before the step that runs. */
  getSnapshot(): unknown {
    return this.#scope.before;
  }
  toJSON(): RefData {
    return { [refMarker]: 1, id: this.id, actor: this.actor };
  }
}

const absent = (name: string, instead: string) =>
  function (this: { readonly id: string }): never {
    throw new PawlError(
      "invalidMachine",
      `A machine called ${name}() of the actor "${this.id}", which a durable machine does not have in its memory. ${instead}`,
      { subject: this.id },
    );
  };

/** What a live actor would answer and a durable one cannot: silence here would be a wrong answer. */
const absences = {
  send: absent("send", "Use sendTo(ref, event), or raise(event) for the machine itself: these are committed with the transition."),
  getSnapshot: absent("getSnapshot", "Let that actor send what is needed, or end with it as its output."),
  getPersistedSnapshot: absent("getPersistedSnapshot", "Let that actor send what is needed, or end with it as its output."),
  subscribe: absent("subscribe", "Let that actor send what is needed with sendTo or sendParent."),
  on: absent("on", "Let that actor send what is needed with sendTo or sendParent; emitted events go to subscribers outside."),
  select: absent("select", "Let that actor send what is needed with sendTo or sendParent."),
  start: absent("start", "The runtime starts it when the transition is committed."),
  stop: absent("stop", "Use stopChild(ref) for a child, or let the machine reach a final state."),
};
const { getSnapshot: _ownToSelf, ...absencesOfSelf } = absences;
Object.assign(RemoteRef.prototype, absences);
Object.assign(SelfRef.prototype, absencesOfSelf);

/** A child in a snapshot whose machine is in another process. */
export class ChildRef {
  readonly id: string;
  readonly src: string;
  readonly systemId: string | null;
  constructor(id: string, src: string, systemId: string | null, link: ChildLink) {
    this.id = id;
    this.src = src;
    this.systemId = systemId;
    becomeStub(this, link);
  }
}

/** Makes XState's actor object the stub of a child. */
export function becomeStub(stub: object, link: ChildLink): void {
  links.set(stub, link);
  Object.assign(stub, absences, { toJSON: stubToJson });
}

function stubToJson(this: { readonly id: string }): object {
  const actor = links.get(this)?.actor;
  return { [refMarker]: 1, id: this.id, ...(actor === undefined ? {} : { actor }) };
}

/** The durable actor behind a reference; undefined for a child that is none (a promise, or not started). */
const actorBehind = (ref: object): string | undefined => (ref instanceof RemoteRef || ref instanceof SelfRef ? ref.actor : links.get(ref)?.actor);

const isRef = (value: object): boolean => value instanceof RemoteRef || value instanceof SelfRef || links.has(value);

/** In a snapshot: every reference is data. */
export const refsInContext: ObjectCheck = (value) => (isRef(value) ? null : undefined);

/** In what others get: only a reference that leads to a durable actor. */
export const refsInMessages: ObjectCheck = (value) => {
  if (!isRef(value)) return undefined;
  return actorBehind(value) === undefined ? "a reference to a child that is no durable actor (a promise, or not started yet)" : null;
};

const isRefData = (value: object): value is RefData =>
  refMarker in value && value[refMarker] === 1 && "actor" in value && typeof value.actor === "string" && "id" in value && typeof value.id === "string";

/** The same value with references in place of their data; the value itself when it holds none. */
export function withRefs<T>(value: T, refOf: (data: RefData) => unknown): T {
  return replaced(value, refOf) as T; // a reference takes the place of its own data only
}

function replaced(value: unknown, refOf: (data: RefData) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isRefData(value)) return refOf(value);
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let i = 0; i < value.length; i += 1) {
      const item: unknown = value[i];
      const next = replaced(item, refOf);
      if (next !== item) (copy ??= value.slice())[i] = next;
    }
    return copy ?? value;
  }
  let copy: { [key: string]: unknown } | undefined;
  for (const [key, item] of Object.entries(value)) {
    const next = replaced(item, refOf);
    if (next !== item) (copy ??= { ...value })[key] = next;
  }
  return copy ?? value;
}

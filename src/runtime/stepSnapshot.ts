/** An actor's snapshot as the runtime sees it, whoever steps it, and the text that it is stored as. */
import type { AnyActorRef } from "xstate";
import { messageOf } from "../errors.ts";
import { jsonText } from "../json.ts";
import { linkOf, refsInContext, type ChildLink } from "./refs.ts";

/** What everybody may know of a snapshot in memory. */
export interface SeenSnapshot {
  readonly status: string;
  readonly value: unknown;
  readonly context: unknown;
  readonly output: unknown;
  readonly error: unknown;
  /** Stubs of children, in the order in which they came. */
  readonly children: object;
}

/** A snapshot in memory, as its stepper made it. Immutable but for the links of its children. */
export interface Hydrated {
  readonly snapshot: SeenSnapshot;
}

/** JSON texts of a snapshot and of its parts. */
export interface PersistedText {
  readonly snapshot: string;
  readonly value: string;
  readonly context: string;
}

/** A child as its parent's snapshot is stored with it. */
export interface StoredChild {
  readonly key: string;
  readonly src: unknown;
  readonly systemId: string | null;
  readonly link: ChildLink | undefined;
}

/** Everything that is stored of a snapshot. */
export interface SnapshotParts extends Omit<SeenSnapshot, "children"> {
  readonly children: readonly StoredChild[];
  /** Ids of the remembered states, by the id of the history state. */
  readonly historyValue: object;
}

/** XState's own form, with the link in place of each child's snapshot. @throws invalidValue */
export function snapshotText(actor: string, { value, context, status, output, error, children, historyValue }: SnapshotParts): PersistedText {
  const valueText = jsonText(value, `state of actor "${actor}"`);
  const contextText = jsonText(context ?? null, `context of actor "${actor}"`, refsInContext);
  const rest = {
    status,
    ...(output === undefined ? {} : { output }),
    // An Error would become {} in JSON.
    ...(error === undefined ? {} : { error: plainError(error) }),
    children: Object.fromEntries(children.map(({ key, src, systemId, link }) => [key, { snapshot: link, src, ...(systemId === null ? {} : { systemId }) }])),
    historyValue,
  };
  const restText = jsonText(rest, `snapshot of actor "${actor}"`, refsInContext);
  return { snapshot: `{"value":${valueText},"context":${contextText},${restText.slice(1)}`, value: valueText, context: contextText };
}

/** The stubs that a snapshot holds, by the names that its machine knows them by. */
export const stubsOf = ({ children }: Pick<SeenSnapshot, "children">): [string, AnyActorRef][] =>
  Object.entries(children as Record<string, AnyActorRef | undefined>).flatMap(([key, child]) => (child ? [[key, child]] : [])); // a machine snapshot's children, which XState types loosely

export const childrenOf = (from: Hydrated): { key: string; link: ChildLink }[] =>
  stubsOf(from.snapshot).flatMap(([key, child]) => {
    const link = linkOf(child);
    return link ? [{ key, link }] : [];
  });

/** The links of the children that a snapshot knows, whatever its machine. */
export const linksOf = (from: Hydrated): readonly ChildLink[] => childrenOf(from).map(({ link }) => link);

/** An error as data, without its stack. */
export function plainError(error: unknown): { readonly reason: string; readonly message: string } {
  const reason = typeof error === "object" && error !== null && "reason" in error && typeof error.reason === "string" ? error.reason : "effectFailed";
  const message: unknown = typeof error === "object" && error !== null && "message" in error && typeof error.message === "string" ? error.message : error;
  return { reason, message: messageOf(message) };
}

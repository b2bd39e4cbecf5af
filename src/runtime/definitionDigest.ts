/** A machine's definition as a digest: what tells that a stored actor was saved by this machine and not by a changed one.
 *  It covers what an actor's way depends on (states, transitions, names, delays, sources) and leaves out what only people read.
 *  The inside of a named function cannot be covered: text of code differs between a source and what was built of it. */
import type { AnyStateMachine } from "xstate";
import { sha256Hex } from "../digest.ts";

/** SHA-256 (hex) over a machine's config, functions by their names and by what XState's own actions and guards carry. */
export function definitionDigest(machine: AnyStateMachine): string {
  // Numbers among the named delays are part of the chart, as if they stood in it.
  const delays = Object.entries(machine.implementations.delays).filter(([, delay]) => typeof delay === "number");
  return sha256Hex(JSON.stringify([stateOf(machine.config), delays.toSorted(([a], [b]) => (a < b ? -1 : 1))]));
}

/** The digest of a machine whose version alone decides. */
export const versionDigest = (id: string, version: string, identity: string): string => sha256Hex(`pawl.definition\n${id}\n${version}\n${identity}`);

/** Read by people and tools, never by a transition; `types` and `schemas` are for the compiler. */
const cosmetic: readonly string[] = ["description", "meta", "types", "schemas"];

type Shape = (value: unknown) => unknown;

const eachOf =
  (shape: Shape): Shape =>
  (value) =>
    isRecord(value) ? Object.entries(value).map(([key, item]) => [key, shape(item)]) : plain(value);
const oneOrMany =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) ? value.map(shape) : shape(value);

function without(shapes: { readonly [key: string]: Shape }): Shape {
  return (value) => {
    if (!isRecord(value)) return plain(value);
    return Object.entries(value).flatMap(([key, item]) => (cosmetic.includes(key) || item === undefined ? [] : [[key, (shapes[key] ?? plain)(item)]]));
  };
}

const transitions: Shape = oneOrMany(without({}));
const invokes: Shape = oneOrMany(without({ onDone: transitions, onError: transitions, onSnapshot: transitions }));
const stateOf: Shape = without({
  initial: transitions,
  states: eachOf((state) => stateOf(state)),
  on: eachOf(transitions),
  after: eachOf(transitions),
  always: transitions,
  onDone: transitions,
  invoke: invokes,
});

/** How XState's own actions and guards work inside: not what the author wrote, and free to change with XState. */
const workings: readonly string[] = ["resolve", "execute", "check"];

/** Any other value as JSON; a function is its name and the settings it carries (`raise` its event and delay, `and` its guards). */
function plain(value: unknown): unknown {
  if (typeof value === "function")
    return ["function", value.name, ...Object.entries(value).flatMap(([key, item]) => (workings.includes(key) ? [] : [[key, plain(item)]]))];
  if (Array.isArray(value)) return value.map(plain);
  if (isRecord(value)) return Object.entries(value).map(([key, item]) => [key, plain(item)]);
  return typeof value === "object" && value !== null ? value.constructor.name : value;
}

/** Plain objects only: what a library made (a machine, a schema) holds itself in circles. */
function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

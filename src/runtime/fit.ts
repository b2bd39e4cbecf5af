/** Whether a stored snapshot fits a machine, before anything moves. XState itself says little: it enters the initial state of a region
 *  it does not find, drops a child whose source is gone, forgets a history state, and never looks at the context. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { closestNames } from "../text/closest.ts";
import type { ContextSchema, Definition, PersistedActor } from "./definition.ts";
import { childLogic, isMachineLogic } from "./step.ts";
import { markOf } from "../../machines/define.ts";

/** What a snapshot is in, as far as it fits, and why it does not. */
export interface Fit {
  /** Every active state node, parents before children. */
  readonly active: readonly AnyStateNode[];
  /** One sentence without its full stop for each thing that does not fit; empty when all does. */
  readonly problems: readonly string[];
}

/** Compares the state, the children, the history and the context of a stored snapshot with the machine. */
export function fitOf({ machine, context }: Pick<Definition, "machine" | "context">, persisted: PersistedActor): Fit {
  const active: AnyStateNode[] = [];
  const problems = [
    ...stateProblems(machine.root, persisted.value, active),
    ...childProblems(machine, persisted.children),
    ...historyProblems(machine, persisted.historyValue),
    ...(context === undefined ? [] : contextProblems(context, persisted.context)),
  ];
  return { active, problems };
}

/** A stored snapshot's JSON; what an early or foreign row lacks reads as empty, and is then found not to fit. */
export function readPersisted(json: string): PersistedActor {
  const { status, value, context, children, historyValue, ...rest }: Partial<PersistedActor> = JSON.parse(json);
  return { ...rest, status: status ?? "active", value: value ?? {}, context: context ?? {}, children: children ?? {}, historyValue: historyValue ?? {} };
}

/** A state as people name it: its path below the machine. */
export const stateName = (node: AnyStateNode): string => (node.path.length === 0 ? `machine "${node.machine.id}"` : `state "${node.path.join(".")}"`);

/** ` Closest: x, y` or what there is, to be put behind a statement. */
export function closest(wrong: string, names: readonly string[]): string {
  const near = closestNames(wrong, names);
  if (near.length > 0) return `; closest: ${near.map(quoted).join(", ")}`;
  if (names.length === 0) return "";
  return `; there are: ${names.slice(0, 12).map(quoted).join(", ")}${names.length > 12 ? ` and ${names.length - 12} more` : ""}`;
}

const quoted = (name: string): string => `"${name}"`;

function stateProblems(node: AnyStateNode, value: unknown, active: AnyStateNode[]): readonly string[] {
  active.push(node);
  const keys = statesOf(node);
  if (keys.length === 0)
    return isEmptyObject(value) ? [] : [`${stateName(node)} has no states inside any more, and the actor is in ${quoted(keysOf(value).join(", "))} of it`];
  if (node.type === "parallel") return regionProblems(node, value, active);
  if (typeof value === "string") {
    const child = childOf(node, value);
    if (child === undefined) return [gone(node, value)];
    if (statesOf(child).length === 0) {
      active.push(child);
      return [];
    }
    active.push(child);
    return [
      `${stateName(child)} had no states inside and now is ${child.type === "parallel" ? "parallel" : "one"} with ${keysQuoted(child)}: which of them the actor is in is not stored`,
    ];
  }
  const [key, ...more] = keysOf(value);
  if (key === undefined) return [`which state of ${stateName(node)} the actor is in is not stored; it has: ${keysQuoted(node)}`];
  if (more.length > 0) return [`${stateName(node)} was parallel and is not any more: the actor is in ${quoted([key, ...more].join(", "))} of it at once`];
  const child = childOf(node, key);
  return child === undefined ? [gone(node, key)] : stateProblems(child, insideOf(value, key), active);
}

function regionProblems(node: AnyStateNode, value: unknown, active: AnyStateNode[]): readonly string[] {
  const regions = statesOf(node);
  if (typeof value === "string") return [`${stateName(node)} is parallel now, and the actor is in ${quoted(value)} of it only`];
  const stored = keysOf(value);
  return [
    ...stored.filter((key) => childOf(node, key) === undefined).map((key) => gone(node, key)),
    ...regions.flatMap((key) => {
      const region = childOf(node, key);
      if (region === undefined) return [];
      if (!stored.includes(key)) return [`${stateName(region)} is a new region of ${stateName(node)}: where the actor stands in it is not stored`];
      return stateProblems(region, insideOf(value, key), active);
    }),
  ];
}

function gone(node: AnyStateNode, key: string): string {
  const moved = [...everyNode(node.machine.root)].filter((other) => other.key === key && other.path.length > 0).map((other) => other.path.join("."));
  const where = moved.length > 0 ? `; a state of that name is at ${moved.map(quoted).join(", ")}` : closest(key, statesOf(node));
  return `state "${[...node.path, key].join(".")}" is gone${where}`;
}

function childProblems(machine: AnyStateMachine, children: PersistedActor["children"]): readonly string[] {
  const sources = Object.keys(machine.implementations.actors);
  return Object.entries(children).flatMap(([key, child]) => {
    const logic = typeof child.src === "string" ? childLogic(machine, child.src) : undefined;
    if (logic === undefined)
      return [`child "${key}" comes from "${String(child.src)}", which is not among the machine's actors any more${closest(String(child.src), sources)}`];
    const isActor = isMachineLogic(logic) || markOf(logic)?.kind === "machineFromInput";
    const link = child.snapshot;
    const was =
      typeof link === "object" && link !== null && "actor" in link
        ? "a machine"
        : typeof link === "object" && link !== null && "effect" in link
          ? "a promise or an effect"
          : null;
    if (was === null || isActor === (was === "a machine")) return [];
    return [`child "${key}" runs as ${was}, but "${child.src}" is ${isActor ? "a machine" : "a promise or an effect"} now`];
  });
}

function historyProblems(machine: AnyStateMachine, historyValue: PersistedActor["historyValue"]): readonly string[] {
  const nodes = new Map([...everyNode(machine.root)].map((node) => [node.id, node]));
  const ids = [...nodes.keys()];
  return Object.entries(historyValue).flatMap(([id, remembered]) => {
    if (nodes.get(id)?.type !== "history")
      return [
        `history state "${id}" is gone, and what it remembers would be lost${closest(
          id,
          ids.filter((other) => nodes.get(other)?.type === "history"),
        )}`,
      ];
    return remembered
      .filter((state) => !nodes.has(state.id))
      .map((state) => `state "${state.id}", which history state "${id}" remembers, is gone${closest(state.id, ids)}`);
  });
}

function contextProblems(schema: ContextSchema, context: unknown): readonly string[] {
  const verdict = schema["~standard"].validate(context);
  if (verdict instanceof Promise)
    return [`its context cannot be checked: the schema (${schema["~standard"].vendor}) answers later. Give one that answers at once`];
  return (verdict.issues ?? []).map(
    ({ message, path = [] }) =>
      `context does not fit its schema at "${path.map((step) => String(typeof step === "object" ? step.key : step)).join(".") || "(root)"}": ${message}`,
  );
}

export function* everyNode(node: AnyStateNode): Generator<AnyStateNode> {
  yield node;
  for (const key of Object.keys(node.states)) {
    const child = nodeAt(node, key);
    if (child) yield* everyNode(child);
  }
}

/** History states are no places to be in. */
const statesOf = (node: AnyStateNode): readonly string[] => Object.keys(node.states).filter((key) => nodeAt(node, key)?.type !== "history");

const childOf = (node: AnyStateNode, key: string): AnyStateNode | undefined => (statesOf(node).includes(key) ? nodeAt(node, key) : undefined);

const nodeAt = (node: AnyStateNode, key: string): AnyStateNode | undefined => node.states[key] as AnyStateNode | undefined; // the map's values are state nodes; XState types them loosely

const keysQuoted = (node: AnyStateNode): string => statesOf(node).map(quoted).join(", ");

const keysOf = (value: unknown): readonly string[] =>
  typeof value === "string" ? [value] : typeof value === "object" && value !== null ? Object.keys(value) : [];

const isEmptyObject = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;

const insideOf = (value: unknown, key: string): unknown => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined);

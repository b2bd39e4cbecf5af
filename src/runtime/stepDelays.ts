/** Delays, checked where XState does not: one that gives a text or nothing would fire at once, inside the macrostep.
 *  A cast stands where XState types its own action objects as opaque functions. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { PawlError } from "../errors.ts";

type DelayFunction = (args: never, params: never) => number;

const isDelay = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

const wrongDelay = (machineId: string, which: string, value: unknown): PawlError =>
  new PawlError("invalidMachine", `Machine "${machineId}": ${which} is ${String(value)}; a delay is a finite number of milliseconds, 0 or more.`, {
    subject: machineId,
  });

export function finiteDelay(machineId: string, delay: unknown): number {
  if (!isDelay(delay)) throw wrongDelay(machineId, "a delay", delay);
  return delay;
}

/** A delay of `setup({ delays })`, as a number or a function that gives one or throws. @throws invalidMachine */
export function checkedDelay(machineId: string, name: string, delay: unknown): number | DelayFunction {
  const check = (value: unknown): number => {
    if (!isDelay(value)) throw wrongDelay(machineId, `delay "${name}"`, value);
    return value;
  };
  return typeof delay === "function" ? (args, params) => check(delay(args, params)) : check(delay);
}

/** Puts a check around each delay that is written as a function where it is used. Changes this machine only, which must be nobody else's. */
export function withCheckedDelays(machine: AnyStateMachine): AnyStateMachine {
  const checked = (action: unknown): unknown => {
    if (typeof action !== "function" || !("delay" in action) || typeof action.delay !== "function") return action;
    const type = "type" in action ? String(action.type) : "";
    return Object.assign(() => {}, action, { delay: checkedDelay(machine.id, `of a ${type.replace("xstate.", "")}`, action.delay) });
  };
  const all = <T>(actions: T): T => (Array.isArray(actions) ? actions.map(checked) : actions) as T;
  for (const node of nodesOf(machine.root)) {
    node.entry = all(node.entry);
    node.exit = all(node.exit);
    for (const transition of [...[...node.transitions.values()].flat(), ...(node.always ?? [])])
      Object.assign(transition, { actions: all(transition.actions) });
    if (node.initial) Object.assign(node.initial, { actions: all(node.initial.actions) });
  }
  machine.implementations.actions = Object.fromEntries(
    Object.entries(machine.implementations.actions).map(([name, action]) => [name, checked(action)]),
  ) as typeof machine.implementations.actions;
  return machine;
}

function* nodesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node;
  for (const child of Object.values(node.states)) yield* nodesOf(child as AnyStateNode); // the map's values are state nodes; XState types them loosely
}

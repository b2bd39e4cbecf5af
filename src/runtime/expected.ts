/** What must stand beside an actor for each state that it is in: its `after` timers, its invoked children. A changed machine has others than
 *  the ones that were stored, and XState says nothing: a timer that is not there never fires, a child that is not there is waited for for ever. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import type { TimerRecord } from "../../persistence/store.ts";
import type { PersistedActor } from "./definition.ts";
import { everyNode, stateName } from "./fit.ts";

export interface ExpectedTimer {
  readonly node: AnyStateNode;
  /** XState's send id, which is the event's type too. */
  readonly key: string;
  /** As written: milliseconds, or the name of a delay. */
  readonly delay: number | string;
  /** Whether its firing surely leaves the state: then it cannot have fired. */
  readonly leaves: boolean;
}

export interface ExpectedInvoke {
  readonly node: AnyStateNode;
  readonly key: string;
  readonly src: string;
  readonly systemId: string | null;
  /** A value, or a function of context and event. */
  readonly input: unknown;
}

/** What does not match. `timers` and `invokes` are missing; the rest stands there without a state that has it. */
export interface Gaps {
  readonly timers: readonly ExpectedTimer[];
  readonly invokes: readonly ExpectedInvoke[];
  /** Stored `after` timers of no active state. */
  readonly strayTimers: readonly TimerRecord[];
  /** Stored children that no active state invokes and that nothing can have spawned. */
  readonly strayChildren: readonly string[];
}

export const expectedTimers = (active: readonly AnyStateNode[]): readonly ExpectedTimer[] =>
  active.flatMap((node) => {
    const timers = new Map<string, ExpectedTimer>();
    for (const { eventType, delay, guard, target } of node.after) {
      if (typeof delay === "function") continue;
      const leaves = (guard === undefined && target !== undefined) || (timers.get(eventType)?.leaves ?? false);
      timers.set(eventType, { node, key: eventType, delay, leaves });
    }
    return [...timers.values()];
  });

export const expectedInvokes = (active: readonly AnyStateNode[]): readonly ExpectedInvoke[] =>
  active.flatMap((node) =>
    node.invoke.flatMap(({ id, src, systemId, input }): ExpectedInvoke[] =>
      typeof src === "string" ? [{ node, key: id, src, systemId: systemId ?? null, input }] : [],
    ),
  );

/** Compares what the active states ask for with what is stored. A timer of an active state may be missing rightly: it fired, and nothing took it. */
export function gapsOf(machine: AnyStateMachine, active: readonly AnyStateNode[], children: PersistedActor["children"], timers: readonly TimerRecord[]): Gaps {
  const wantedTimers = expectedTimers(active);
  const wantedInvokes = expectedInvokes(active);
  const spawns = maySpawn(machine);
  return {
    timers: wantedTimers.filter(({ key }) => !timers.some((timer) => timer.key === key)),
    invokes: wantedInvokes.filter(({ key }) => !Object.hasOwn(children, key)),
    strayTimers: timers.filter(({ key }) => key.startsWith(afterPrefix) && !wantedTimers.some((timer) => timer.key === key)),
    strayChildren: Object.keys(children).filter((key) => !wantedInvokes.some((invoke) => invoke.key === key) && (!spawns || invokesSomewhere(machine, key))),
  };
}

/** Each gap as a sentence without its full stop. */
export function gapTexts({ timers, invokes, strayTimers, strayChildren }: Gaps): readonly string[] {
  return [
    ...invokes.map(({ node, key, src }) => `${stateName(node)} invokes "${key}" ("${src}"), and no such child is running`),
    ...strayChildren.map((key) => `child "${key}" is running, and no state that the actor is in invokes it`),
    ...timers.map(({ node, delay }) => `${stateName(node)} waits for its delay "${delay}", and no such timer is armed`),
    ...strayTimers.map(({ key }) => `timer "${key}" is armed, and no state that the actor is in waits for it`),
  ];
}

const afterPrefix = "xstate.after.";

/** Whether a stored timer was armed for this delay, in whatever state. */
export const isOfDelay = (key: string, delay: number | string): boolean => key.startsWith(`${afterPrefix}${delay}.`);

const invokesSomewhere = (machine: AnyStateMachine, key: string): boolean => expectedInvokes([...everyNode(machine.root)]).some((invoke) => invoke.key === key);

/** Whether any action that a machine uses can start a child: then a child of an unknown name may be a spawned one. */
function maySpawn(machine: AnyStateMachine): boolean {
  const named: { readonly [type: string]: unknown } = machine.implementations.actions;
  const spawns = (action: unknown): boolean => {
    if (typeof action === "function") return "type" in action && (action.type === "xstate.spawnChild" || action.type === "xstate.enqueueActions");
    const type = typeof action === "object" && action !== null && "type" in action ? action.type : action;
    return typeof type === "string" && typeof named[type] === "function" && spawns(named[type]);
  };
  return [...everyNode(machine.root)].some((node) =>
    [...node.entry, ...node.exit, ...[...node.transitions.values(), node.always ?? []].flat().flatMap(({ actions }) => actions), ...node.initial.actions].some(
      spawns,
    ),
  );
}

/** The machines of an open Pawl: those that were given, the child machines that they name, and whether everything they ask for can be done. */
import type { AnyStateMachine } from "xstate";
import { markOf } from "../../machines/define.ts";
import { PawlError } from "../errors.ts";
import type { Definition } from "../runtime/definition.ts";
import type { Executors } from "../runtime/executor.ts";
import { defineMachine, type DefinitionExtras } from "../runtime/registry.ts";
import { isMachineLogic } from "../runtime/step.ts";

/** A machine, or one with what goes with it: a schema of its context, migrations, a check of its events. */
export type MachineEntry = AnyStateMachine | ({ readonly machine: AnyStateMachine } & DefinitionExtras);

export type MachineOf<E> = E extends AnyStateMachine ? E : E extends { readonly machine: infer M extends AnyStateMachine } ? M : never;

/**
 * Definitions of all machines, the newest of an id last: child machines that are not given themselves stand first, so that a given version is the one
 * that new actors get.
 * @throws invalidMachine naming what a durable machine may not have
 */
export function definitionsOf(entries: readonly MachineEntry[]): readonly Definition[] {
  const given = entries.map((entry) => {
    if (isMachineLogic(entry)) return defineMachine(entry);
    const { machine, ...extras } = entry;
    return defineMachine(machine, extras);
  });
  const known = new Set(given.map((definition) => definition.machine));
  const named = new Set(given.map(nameOf));
  const children: Definition[] = [];
  const visit = (machine: AnyStateMachine): void => {
    for (const child of Object.values(machine.implementations.actors)) {
      if (!isMachineLogic(child) || known.has(child)) continue;
      known.add(child);
      const definition = defineMachine(child);
      // One that was given under this name carries more than the bare child does.
      if (!named.has(nameOf(definition))) children.push(definition);
      named.add(nameOf(definition));
      visit(child);
    }
  };
  for (const { machine } of given) visit(machine);
  return [...children, ...given];
}

const nameOf = ({ id, version }: Definition): string => `${id}@${version}`;

/** @throws invalidMachine for an effect that nobody executes, naming machine, effect and mend */
export function checkExecutors(definitions: readonly Definition[], executors: Executors): void {
  for (const { id, machine } of definitions) {
    for (const named of [...Object.values(machine.implementations.actors), ...Object.values(machine.implementations.actions)]) {
      const mark = markOf(named);
      if (mark?.kind !== "effect" || mark.type === "" || Object.hasOwn(executors, mark.type)) continue;
      const close = Object.keys(executors);
      throw new PawlError(
        "invalidMachine",
        `Machine "${id}" names the effect "${mark.type}", and nothing executes it. Give openPawl executors: { ${JSON.stringify(mark.type)}: async (task) => … }${close.length === 0 ? "" : ` beside ${close.map((name) => `"${name}"`).join(", ")}`}, or remove it from the machine.`,
        { subject: id, path: `executors.${mark.type}` },
      );
    }
  }
}

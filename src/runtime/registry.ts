/** Registering machines: their identity, the digest of their definition, and finding them again by what is stored. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { PawlError } from "../errors.ts";
import type { Definition, DefinitionRegistry } from "./definition.ts";
import { definitionDigest, versionDigest } from "./definitionDigest.ts";
import { childLogic, isMachineLogic, promiseCreator } from "./step.ts";
import { markOf } from "../../machines/define.ts";

/** What goes with a machine besides itself. */
export type DefinitionExtras = Omit<Definition, "id" | "version" | "digest" | "machine"> & {
  /** For machines whose version alone decides whether a stored actor fits: a text to make the digest of, in place of the config. Whoever gives it changes the version with the chart. */
  readonly identity?: string;
};

/** A machine as the runtime knows it. `version` comes from the machine's config. @throws invalidMachine naming what a durable machine may not have */
export function defineMachine(machine: AnyStateMachine, { identity, ...extras }: DefinitionExtras = {}): Definition {
  const { version } = machine.config;
  if (typeof version !== "string" || version === "") throw new PawlError("invalidMachine", `Machine "${machine.id}" has no version. Give createMachine a "version": stored actors name it, so that a changed machine is never taken for the old one.`, { subject: machine.id });
  checkChildren(machine);
  return { ...extras, id: machine.id, version, digest: identity === undefined ? definitionDigest(machine) : versionDigest(machine.id, version, identity), machine };
}

/** Machines of a fixed list, and those that are made from stored data by version. */
export function createRegistry(definitions: readonly Definition[], fromData: { readonly [machineId: string]: (version: string) => Promise<Definition | undefined> } = {}): DefinitionRegistry {
  const byName = new Map<string, Definition>();
  const newest = new Map<string, Definition>();
  for (const definition of definitions) {
    const name = nameOf(definition.id, definition.version);
    const other = byName.get(name);
    if (other && other.digest !== definition.digest) throw new PawlError("invalidMachine", `Two different machines are registered as "${name}". Give one of them another version.`, { subject: name });
    byName.set(name, definition);
    newest.set(definition.id, definition);
  }
  const made = new Map<string, Definition>();
  return {
    find(machineId, version) {
      const name = nameOf(machineId, version);
      const known = byName.get(name) ?? made.get(name);
      const make = Object.hasOwn(fromData, machineId) ? fromData[machineId] : undefined;
      if (known || !make) return known;
      return make(version).then((definition) => {
        if (definition) made.set(name, definition);
        while (made.size > madeLimit) made.delete([...made.keys()][0] ?? name);
        return definition;
      });
    },
    latest: (machineId) => newest.get(machineId),
    names: () => [...byName.keys()],
    migrating: () => [...newest.values()].filter(({ migrations = [] }) => migrations.length > 0),
  };
}

/** Definitions made from data that are kept ready. */
const madeLimit = 256;

const nameOf = (id: string, version: string): string => `${id}@${version}`;

function* nodesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node;
  for (const child of Object.values(node.states)) yield* nodesOf(child as AnyStateNode); // the map's values are state nodes; XState types them loosely
}

/** Children come from named sources that are machines, promises or named effects: what the runtime can make durable. */
function checkChildren(machine: AnyStateMachine): void {
  const wrong = (problem: string, mend: string): never => {
    throw new PawlError("invalidMachine", `Machine "${machine.id}": ${problem}. ${mend}`, { subject: machine.id });
  };
  for (const node of nodesOf(machine.root)) {
    for (const invoke of node.invoke) {
      if (typeof invoke.src !== "string" || invoke.src.startsWith("xstate.invoke.")) return wrong(`state "${node.id}" invokes inline logic`, "Give it a name in setup({ actors }) and invoke it by that name: a stored run must find it again.");
      const logic = childLogic(machine, invoke.src);
      if (!logic) wrong(`state "${node.id}" invokes "${invoke.src}", which is not among its actors`, "Add it to setup({ actors }).");
      if (!isMachineLogic(logic) && !markOf(logic) && !promiseCreator(machine, invoke.src)) wrong(`state "${node.id}" invokes "${invoke.src}", which is neither a machine nor a promise`, "Use fromPromise, a machine, or effect().");
    }
  }
}

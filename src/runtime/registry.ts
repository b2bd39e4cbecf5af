/** Registering machines: their identity, the digest of their definition, and finding them again by what is stored. */
import type { AnyStateMachine } from "xstate";
import { PawlError } from "../errors.ts";
import { checkAuthorRules, type AuthorRuleOptions } from "./authorRules.ts";
import type { Definition, DefinitionRegistry } from "./definition.ts";
import { definitionDigest, versionDigest } from "./definitionDigest.ts";

/** What goes with a machine besides itself. */
export type DefinitionExtras = Omit<Definition, "id" | "version" | "digest" | "machine"> &
  AuthorRuleOptions & {
    /** For machines whose version alone decides whether a stored actor fits: a text to make the digest of, in place of the config. Whoever gives it changes the version with the chart. */
    readonly identity?: string;
  };

/** A machine as the runtime knows it. `version` comes from the machine's config. @throws invalidMachine naming what a durable machine may not have */
export function defineMachine(machine: AnyStateMachine, { identity, volatileActions, ...extras }: DefinitionExtras = {}): Definition {
  checkAuthorRules(machine, volatileActions === undefined ? {} : { volatileActions });
  const version = machine.config.version ?? "";
  return {
    ...extras,
    id: machine.id,
    version,
    digest: identity === undefined ? definitionDigest(machine) : versionDigest(machine.id, version, identity),
    machine,
  };
}

/** Machines of a fixed list, and those that are made from stored data by version. */
export function createRegistry(
  definitions: readonly Definition[],
  fromData: { readonly [machineId: string]: (version: string) => Promise<Definition | undefined> } = {},
): DefinitionRegistry {
  const byName = new Map<string, Definition>();
  const newest = new Map<string, Definition>();
  for (const definition of definitions) {
    const name = nameOf(definition.id, definition.version);
    const other = byName.get(name);
    if (other && other.digest !== definition.digest)
      throw new PawlError("invalidMachine", `Two different machines are registered as "${name}". Give one of them another version.`, { subject: name });
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

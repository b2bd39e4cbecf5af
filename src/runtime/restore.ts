/** Finds the definition that a stored actor needs, and refuses by name before anything moves. */
import type { ActorRecord } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { Definition, DefinitionRegistry } from "./definition.ts";
import { createStepper, type Stepper } from "./step.ts";

export interface Definitions {
  readonly stepper: (definition: Definition) => Stepper;
  readonly definitionOf: (record: ActorRecord) => Definition | Promise<Definition>;
  readonly findDefinition: (machineId: string, version: string | null) => Definition | undefined | Promise<Definition | undefined>;
}

export function createDefinitions(registry: DefinitionRegistry): Definitions {
  const steppers = new WeakMap<Definition, Stepper>();
  const refuse = (record: ActorRecord): never => {
    throw new PawlError("restoreRefused", `Actor "${record.id}" runs on machine "${record.machineId}" version ${record.machineVersion}, which is not registered. Registered: ${registry.names().join(", ") || "none"}. Register that version, or a newer one with a migration; nothing was changed.`, { subject: record.id });
  };
  const matching = (definition: Definition | undefined, record: ActorRecord): Definition => {
    if (!definition) return refuse(record);
    if (definition.digest !== record.definitionDigest) throw new PawlError("restoreRefused", `Actor "${record.id}": machine "${record.machineId}" version ${record.machineVersion} is registered with another definition than the one this actor was saved with. Give the changed machine a new version and keep the old one registered; nothing was changed.`, { subject: record.id });
    return definition;
  };
  return {
    stepper(definition) {
      const known = steppers.get(definition);
      if (known) return known;
      const stepper = createStepper(definition.machine);
      steppers.set(definition, stepper);
      return stepper;
    },
    definitionOf(record) {
      const found = registry.find(record.machineId, record.machineVersion);
      return found instanceof Promise ? found.then((definition) => matching(definition, record)) : matching(found, record);
    },
    findDefinition: (machineId, version) => (version === null ? registry.latest(machineId) : registry.find(machineId, version)),
  };
}

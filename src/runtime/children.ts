/** What becomes of a child that a machine asks for: a durable actor, or an effect. A cast to `never` stands where a mark has forgotten its logic's
 *  input type. */
import { markOf, type EffectOptions } from "../../machines/define.ts";
import { PawlError } from "../errors.ts";
import type { Definition } from "./definition.ts";
import { childLogic, isMachineLogic, type SpawnRecord } from "./step.ts";
import type { SpawnAs } from "./stepRecords.ts";

export interface ChildActor {
  readonly definition: Definition;
  /** The last part of its id, when it has visits like a node of a graph. */
  readonly visit: string | undefined;
}

export type FindDefinition = (machineId: string, version: string | null) => Promise<Definition | undefined> | Definition | undefined;

/** Null for a child that is an effect. @throws unknownMachine */
export async function childActor(find: FindDefinition, parent: string, definition: Definition, asked: SpawnRecord): Promise<ChildActor | null> {
  const as = asked.as ?? whatIs(definition, asked);
  if (as.kind === "effect") return null;
  const { machineId, version, isOwn, visit } = as;
  // The very version that the parent was written with, while it is there: two versions of a family may stand side by side.
  const child = (await find(machineId, version)) ?? (isOwn ? await find(machineId, null) : undefined);
  if (!child)
    throw new PawlError(
      "unknownMachine",
      `Actor "${parent}" starts "${asked.key}" from machine "${machineId}"${version === null ? "" : ` version ${version}`}, which is not registered. Register it beside "${definition.id}".`,
      { subject: parent },
    );
  return { definition: child, visit };
}

function whatIs(definition: Definition, { src, input }: SpawnRecord): SpawnAs {
  const logic = childLogic(definition.machine, src);
  const mark = markOf(logic);
  const visit = mark && mark.kind !== "effect" ? mark.visit?.(input as never) : undefined;
  if (mark?.kind === "machineFromInput") return { kind: "actor", machineId: mark.machineId, version: mark.version(input as never), isOwn: false, visit };
  if (isMachineLogic(logic)) return { kind: "actor", machineId: logic.id, version: logic.config.version ?? null, isOwn: true, visit };
  return { kind: "effect", ...childEffect(definition, src) };
}

/** The type and the options of the effect that a promise or a named effect becomes. */
export function childEffect({ machine }: Pick<Definition, "machine">, src: string): Omit<Extract<SpawnAs, { kind: "effect" }>, "kind"> {
  const mark = markOf(childLogic(machine, src));
  if (mark?.kind !== "effect") return { type: `promise:${src}`, options: {} };
  return { type: mark.type === "" ? `promise:${src}` : mark.type, options: mark.options as EffectOptions<unknown> };
}

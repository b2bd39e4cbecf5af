/** What becomes of a child that a machine asks for: a durable actor, or an effect. A cast to `never` stands where a mark has forgotten its logic's
 *  input type. */
import { markOf, type EffectOptions } from "../../machines/define.ts";
import { PawlError } from "../errors.ts";
import type { Definition } from "./definition.ts";
import { childLogic, isMachineLogic, type SpawnRecord } from "./step.ts";

export interface ChildActor {
  readonly definition: Definition;
  /** The last part of its id, when it has visits like a node of a graph. */
  readonly visit: string | undefined;
}

export type FindDefinition = (machineId: string, version: string | null) => Promise<Definition | undefined> | Definition | undefined;

/** Null for a child that is an effect. @throws unknownMachine */
export async function childActor(find: FindDefinition, parent: string, definition: Definition, asked: SpawnRecord): Promise<ChildActor | null> {
  const logic = childLogic(definition.machine, asked.src);
  const mark = markOf(logic);
  const found =
    mark?.kind === "machineFromInput"
      ? { machineId: mark.machineId, version: mark.version(asked.input as never), isOwn: false }
      : isMachineLogic(logic)
        ? { machineId: logic.id, version: logic.config.version ?? null, isOwn: true }
        : null;
  if (!found) return null;
  const { machineId, version, isOwn } = found;
  // The very version that the parent was written with, while it is there: two versions of a family may stand side by side.
  const child = (await find(machineId, version)) ?? (isOwn ? await find(machineId, null) : undefined);
  if (!child)
    throw new PawlError(
      "unknownMachine",
      `Actor "${parent}" starts "${asked.key}" from machine "${machineId}"${version === null ? "" : ` version ${version}`}, which is not registered. Register it beside "${definition.id}".`,
      { subject: parent },
    );
  return { definition: child, visit: mark && mark.kind !== "effect" ? mark.visit?.(asked.input as never) : undefined };
}

/** The type and the options of the effect that a promise or a named effect becomes. */
export function childEffect(definition: Definition, src: string): { readonly type: string; readonly options: EffectOptions<unknown> } {
  const mark = markOf(childLogic(definition.machine, src));
  if (mark?.kind !== "effect") return { type: `promise:${src}`, options: {} };
  return { type: mark.type === "" ? `promise:${src}` : mark.type, options: mark.options as EffectOptions<unknown> };
}

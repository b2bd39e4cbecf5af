/** Executes an author's invoked promise: the function given to `fromPromise`, with its input and an abort signal. */
import type { EffectRecord } from "../../persistence/store.ts";
import type { StateCache } from "./cache.ts";
import type { Executor } from "./executor.ts";
import type { Definitions } from "./restore.ts";
import { promiseCreator } from "./step.ts";

const prefix = "promise:";

/** The executor of an effect of type `promise:<src>`; undefined for any other type. */
export async function promiseExecutor(record: EffectRecord, cache: StateCache, definitions: Definitions): Promise<Executor | undefined> {
  if (!record.type.startsWith(prefix)) return undefined;
  const held = await cache.actor(record.actor);
  if (!held) return undefined;
  const definition = await definitions.definitionOf(held.record);
  const run = promiseCreator(definition.machine, record.type.slice(prefix.length));
  return run && (async (task) => ({ output: await run({ input: task.input, signal: task.signal }) }));
}

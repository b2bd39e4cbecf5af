/** What keeps a step's work from beginning, as the runtime is to take it. */
import { isPawlError } from "../errors.ts";
import { EffectFailure, Interrupted } from "../runtime/executor.ts";

export async function begun<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isPawlError(error)) throw error;
    if (error.code === "sourceUnloadable") throw new EffectFailure(error.code, error.message);
    throw error.code === "workerUnavailable" ? new Interrupted(error.message, { hasBegun: false }) : error;
  }
}

/** Author code for looking back: steps of authors' machines are derived again in a worker, from stored sources that are laid out beside the state
 *  directory, which stays as it is. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Store } from "../../../persistence/store.ts";
import type { Definition } from "../../runtime/definition.ts";
import { materialise } from "../../workflow/identity.ts";
import { authorMachines } from "../authorMachines.ts";
import { RunSources } from "../sources.ts";
import { WorkerPool } from "../workers/workerPool.ts";

export interface LookingBack {
  readonly machine: (version: string) => Definition | undefined;
  close(): Promise<void>;
}

/** Nothing is laid out or started before a step is derived. */
export function lookingBack(store: Store, home: string): LookingBack {
  let place: Promise<string> | undefined;
  const directoryOf = async (source: string): Promise<string> => {
    place ??= mkdtemp(path.join(tmpdir(), "pawl-doctor-"));
    const directory = path.join(await place, source);
    await materialise(source, (hash) => store.blob(hash), directory);
    return directory;
  };
  const pool = new WorkerPool({ directoryOf });
  return {
    // What was volatile is not done again.
    machine: authorMachines({ author: pool, sources: new RunSources(store, home), onProblem: () => undefined }),
    close: async () => {
      await pool.close();
      if (place) await rm(await place, { recursive: true, force: true });
    },
  };
}

/** Stores a thousand queued runs before the host opens: as `start` does it, with the workflow's file loaded once and not for each of them. */
import { fileURLToPath } from "node:url";
import { openStore } from "../../persistence/index.ts";
import { InProcess } from "../../src/host/author/inProcess.ts";
import { hostRegistry } from "../../src/host/catalog.ts";
import { launch } from "../../src/host/launch.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createRuntime } from "../../src/runtime/createRuntime.ts";
import type { Ground, Run } from "./ground.ts";

const workflow = fileURLToPath(new URL("race.workflow.ts", import.meta.url));

/** `paused`: they stand still before their first step until they are resumed. `deadlineMs`: how long the decision is open. */
export async function queue(
  ground: Ground,
  numbers: readonly number[],
  { deadlineMs = null, paused = false }: { deadlineMs?: number | null; paused?: boolean } = {},
): Promise<Run[]> {
  const { store, release } = await openStore({ home: ground.home, mode: "owner" });
  const runtime = await createRuntime({ store, definitions: hostRegistry(store), executors: {}, clock: systemClock });
  try {
    const loader = new InProcess({ directoryOf: () => Promise.reject(new Error("nothing runs here")), clock: systemClock });
    const input = { side: ground.side, deadlineMs };
    const loaded = loader.load({ workflow, cwd: ground.directory, userHome: ground.directory, input });
    return await Promise.all(
      numbers.map(async (n) => {
        const request = { workflow, input, cwd: ground.directory, idempotencyKey: `race-${n}` };
        const { id } = await launch({ runtime, store, author: { load: () => loaded } }, request, systemClock.now());
        if (paused) await runtime.send(id, { type: "run.pause" });
        return { n, run: id };
      }),
    );
  } finally {
    await runtime.close();
    await release();
  }
}

/** Many seeds on every processor: each batch in a process of its own, since a simulated world takes hold of its whole process. */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { nothing, together, type Summary } from "./seeds.ts";

export interface Batch {
  readonly scenario: string;
  readonly from: number;
  readonly count: number;
}

export interface Fleet {
  readonly batches: readonly Batch[];
  readonly steps: number;
  /** Processes at once; as many as there are processors unless set. */
  readonly width?: number;
  /** No new batch begins after this many milliseconds. */
  readonly budgetMs?: number;
}

/** Seeds of one batch: enough that starting a process costs little beside them. */
const perBatch = 50;

/** The seeds of a scenario in batches. */
export function batchesOf(scenario: string, from: number, count: number): readonly Batch[] {
  const batches: Batch[] = [];
  for (let done = 0; done < count; done += perBatch) batches.push({ scenario, from: from + done, count: Math.min(perBatch, count - done) });
  return batches;
}

/** What all of them did; by scenario. Stops beginning batches after the first failure. `seconds` are those of the whole fleet in `seconds`, of one process after the other in the sums. */
export async function runFleet({ batches, steps, width = availableParallelism(), budgetMs = Infinity }: Fleet): Promise<{
  readonly sums: ReadonlyMap<string, Summary>;
  readonly all: Summary;
}> {
  const begun = performance.now();
  const left = [...batches];
  const sums = new Map<string, Summary>();
  let isFailed = false;
  const work = async (): Promise<void> => {
    for (let batch = left.shift(); batch !== undefined && !isFailed && performance.now() - begun < budgetMs; batch = left.shift()) {
      const summary = await inChild(batch, steps);
      sums.set(batch.scenario, together(sums.get(batch.scenario) ?? nothing, summary));
      if (summary.failures.length > 0) isFailed = true;
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  const all = [...sums.values()].reduce(together, nothing);
  return { sums, all: { ...all, seconds: (performance.now() - begun) / 1000 } };
}

function inChild({ scenario, from, count }: Batch, steps: number): Promise<Summary> {
  const shard = fileURLToPath(new URL("shard.ts", import.meta.url));
  const what = `${scenario}, seeds ${from} to ${from + count - 1}`;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [shard, scenario, String(from), String(count), String(steps)], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code !== 0) return reject(new Error(`the process of ${what} ended with ${signal ?? code}`));
      resolve(JSON.parse(text) as Summary); // what shard.ts writes
    });
  });
}

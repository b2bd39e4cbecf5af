/** W1, W2, W5 and P: workflows of trivial steps through the embedded host, each step durable before the next begins. */
import { join } from "node:path";
import { openEmbedded, openReader } from "../src/host/embedded.ts";
import { bytesIn, commitsOf, inDirectory, median, quantile, workflowFile } from "./kit.ts";
import { writeRaw } from "./raw.ts";
import type { Figures } from "./run.ts";

const steps = 20;

/** One workflow of 20 steps, many times one after another. */
export async function sequential(runs: number): Promise<Figures> {
  return inDirectory(async (home) => {
    let commits = 0;
    const host = await openEmbedded({ home, hooks: { afterCommit: () => void (commits += 1) } });
    const stepMs: number[] = [];
    let last = 0;
    host.subscribe((event) => {
      if (event.kind !== "visit" || event.status !== "accepted") return;
      const now = performance.now();
      stepMs.push(now - last);
      last = now;
    });
    await runOnce(host, "steps");
    stepMs.length = 0;
    commits = 0;
    const started = performance.now();
    for (let n = 0; n < runs; n += 1) {
      last = performance.now();
      await runOnce(host, "steps");
    }
    const ms = performance.now() - started;
    await host.close();
    return {
      "W1 steps/s": (runs * steps * 1000) / ms,
      "W1 step p50 ms": median(stepMs),
      "W1 step p99 ms": quantile(stepMs, 0.99),
      "W1 commits a run": commits / runs,
    };
  });
}

/** The same workflows, all started at once. */
export async function concurrent(runs: number): Promise<Figures> {
  return inDirectory(async (home) => {
    const host = await openEmbedded({ home });
    await runOnce(host, "steps");
    const started = performance.now();
    await Promise.all(Array.from({ length: runs }, () => runOnce(host, "steps")));
    const ms = performance.now() - started;
    await host.close();
    return { "W2 steps/s": (runs * steps * 1000) / ms };
  });
}

/** The rows of W1 again, raw. */
export async function rawBounds(runs: number): Promise<Figures> {
  const commits = await commitsOf("steps", {}, runs);
  const rate = (group: number, synchronous: "full" | "normal"): Promise<number> =>
    inDirectory((path) => (runs * steps * 1000) / writeRaw(join(path, "raw.db"), commits, group, synchronous));
  return {
    "raw FULL, one commit a step, steps/s": await rate(1, "full"),
    "raw FULL, groups of 64, steps/s": await rate(64, "full"),
    "raw NORMAL, one commit a step, steps/s": await rate(1, "normal"),
    "raw NORMAL, groups of 64, steps/s": await rate(64, "normal"),
  };
}

/** One workflow that loops: does a step cost more the longer the history is? */
export async function growth(lengths: readonly number[]): Promise<Figures> {
  const figures: { [name: string]: number } = {};
  for (const times of lengths) {
    await inDirectory(async (home) => {
      const host = await openEmbedded({ home });
      await runOnce(host, "steps");
      const stepMs: number[] = [];
      let last = performance.now();
      host.subscribe((event) => {
        if (event.kind !== "visit" || event.status !== "accepted") return;
        stepMs.push(performance.now() - last);
        last = performance.now();
      });
      await runOnce(host, "loop", { times });
      await host.close();
      // The first steps of a process are its warming up, whatever the length.
      const tail = stepMs.slice(-Math.min(stepMs.length, 1000));
      figures[`W5 ms a step at ${times}`] = median(tail);
      if (times >= 1000) figures[`W5 bytes a step at ${times}`] = bytesIn(home) / (times * 2);
      if (times >= 5000) figures[`W5 last thousand / first thousand at ${times}`] = median(stepMs.slice(-1000)) / median(stepMs.slice(200, 1200));
    });
  }
  return figures;
}

/** Is a step visible to a second connection when the next one begins? 1: always. */
export async function probe(runs: number): Promise<Figures> {
  return inDirectory(async (home) => {
    const host = await openEmbedded({ home });
    let seen = 0;
    let asked = 0;
    const looks: Promise<void>[] = [];
    host.subscribe((event) => {
      if (event.kind !== "visit" || event.status !== "running" || event.node === "s1") return;
      asked += 1;
      const { run, node } = event;
      looks.push(
        (async () => {
          const reader = await openReader({ home });
          const before = (await reader.run(run)).visits.find((visit) => visit.node === `s${Number(node.slice(1)) - 1}`);
          if (before?.status === "accepted") seen += 1;
          await reader.close();
        })(),
      );
    });
    for (let n = 0; n < runs; n += 1) await runOnce(host, "steps");
    await Promise.all(looks);
    await host.close();
    return { "P share of steps visible to others when the next begins": seen / asked };
  });
}

async function runOnce(host: Awaited<ReturnType<typeof openEmbedded>>, workflow: string, input: unknown = {}): Promise<void> {
  const { id } = await host.start({ workflow: workflowFile(workflow), input, cwd: process.cwd() });
  const { state } = await host.drive(id);
  if (state !== "completed") throw new Error(`run ${id} ended as ${state}`);
}

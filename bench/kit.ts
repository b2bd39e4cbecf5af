/** What the benchmarks stand on: directories of their own, a runtime whose commits can be recorded, and medians. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyStateMachine } from "xstate";
import { openStore } from "../persistence/openStore.ts";
import type { Commit, Store } from "../persistence/store.ts";
import { InProcess } from "../src/host/author/inProcess.ts";
import { Agents } from "../src/host/agents/agents.ts";
import { hostRegistry } from "../src/host/catalog.ts";
import { hostExecutors } from "../src/host/executors.ts";
import { launch } from "../src/host/launch.ts";
import { RunSources } from "../src/host/sources.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { createRuntime } from "../src/runtime/createRuntime.ts";
import type { Executors } from "../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../src/runtime/registry.ts";
import type { Runtime } from "../src/runtime/runtime.ts";

export const workflowFile = (name: string): string => fileURLToPath(new URL(`${name}.workflow.ts`, import.meta.url));

/** A directory on the disk that is measured: PAWL_BENCH_DIR, else the system's temporary one. Removed after `use`. */
export async function inDirectory<T>(use: (path: string) => Promise<T> | T): Promise<T> {
  const path = mkdtempSync(join(process.env["PAWL_BENCH_DIR"] ?? tmpdir(), "pawl-bench-"));
  try {
    return await use(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

export const bytesIn = (directory: string): number => readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN;
}

/** A runtime for these machines on a file; `recorded` gets every commit that was written. */
export async function withRuntime<T>(
  home: string,
  machines: readonly AnyStateMachine[],
  executors: Executors,
  use: (runtime: Runtime, store: Store) => Promise<T>,
  recorded?: Commit[],
): Promise<T> {
  const opened = await openStore({ home, mode: "owner" });
  const store = recorded ? recording(opened.store, recorded) : opened.store;
  const runtime = await createRuntime({ store, definitions: createRegistry(machines.map((machine) => defineMachine(machine))), executors });
  try {
    return await use(runtime, store);
  } finally {
    await runtime.close();
    await opened.release();
  }
}

/** The commits that Pawl writes for `runs` runs of a workflow, one after another. */
export async function commitsOf(workflow: string, input: unknown, runs: number): Promise<readonly Commit[]> {
  return inDirectory(async (home) => {
    const recorded: Commit[] = [];
    const opened = await openStore({ home, mode: "owner" });
    const store = recording(opened.store, recorded);
    const sources = new RunSources(store, home);
    const author = new InProcess({ directoryOf: (source) => sources.directory(source), clock: systemClock });
    const agents = new Agents({ store, agent: null, clock: systemClock, runtime: () => runtime });
    const runtime: Runtime = await createRuntime({
      store,
      definitions: hostRegistry(store),
      executors: hostExecutors({
        store,
        sources,
        author,
        clock: systemClock,
        view: (actor) => runtime.peek(actor),
        deliver: agents.deliver,
        updates: agents.updates,
      }),
    });
    for (let n = 0; n < runs; n += 1) {
      const { id } = await launch({ runtime, store, author }, { workflow: workflowFile(workflow), input, cwd: home }, systemClock.now());
      await runtime.adopt(id);
      await runtime.send(id, { type: "run.activate" });
      await runtime.settled();
    }
    await runtime.close();
    await opened.release();
    return recorded;
  });
}

function recording(store: Store, into: Commit[]): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name !== "commit") return Reflect.get(target, name);
      return async (commits: readonly Commit[]) => {
        const results = await target.commit(commits);
        into.push(...commits.filter((_, i) => results[i]?.status === "committed"));
        return results;
      };
    },
  });
}

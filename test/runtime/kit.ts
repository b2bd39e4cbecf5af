/** A runtime over a store in memory or on disk, with a clock that stands still; closed after each test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyStateMachine } from "xstate";
import { afterEach } from "vitest";
import { memoryStore, openStore, type Store } from "../../persistence/index.ts";
import { fakeClock, type FakeClock } from "../../src/runtime/clock.ts";
import { createRuntime } from "../../src/runtime/createRuntime.ts";
import type { Executors } from "../../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import type { Change, Runtime } from "../../src/runtime/runtime.ts";

export interface World {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly clock: FakeClock;
  readonly changes: Change[];
  readonly errors: unknown[];
}

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

export async function world(
  machines: readonly AnyStateMachine[],
  executors: Executors = {},
  options: { store?: Store; clock?: FakeClock } = {},
): Promise<World> {
  const store = options.store ?? memoryStore();
  const clock = options.clock ?? fakeClock();
  const changes: Change[] = [];
  const errors: unknown[] = [];
  const runtime = await createRuntime({
    store,
    clock,
    executors,
    definitions: createRegistry(machines.map((machine) => defineMachine(machine))),
    onError: (error) => errors.push(error),
  });
  runtime.subscribe((change) => changes.push(change));
  closers.push(() => runtime.close());
  if (!options.store) closers.push(() => store.close());
  return { runtime, store, clock, changes, errors };
}

/** A store in a directory that is removed after the test. */
export async function fileStore(home = mkdtempSync(join(tmpdir(), "pawl-runtime-"))): Promise<{ store: Store; home: string; release: () => Promise<void> }> {
  const opened = await openStore({ home, mode: "owner" });
  closers.push(async () => {
    await opened.release();
    rmSync(home, { recursive: true, force: true });
  });
  return { store: opened.store, home, release: opened.release };
}

/** One store under runtimes that come and go, each with its own set of definitions: what an upgrade is. */
import { onTestFinished } from "vitest";
import { memoryStore, type SqliteStore } from "../../persistence/index.ts";
import { fakeClock, type FakeClock } from "../../src/runtime/clock.ts";
import { createRuntime } from "../../src/runtime/createRuntime.ts";
import type { Definition } from "../../src/runtime/definition.ts";
import type { Executors } from "../../src/runtime/executor.ts";
import { createRegistry } from "../../src/runtime/registry.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";

export class Upgrades {
  readonly store: SqliteStore = memoryStore();
  readonly clock: FakeClock = fakeClock();
  readonly errors: unknown[] = [];
  private runtime: Runtime | undefined;

  constructor() {
    onTestFinished(async () => {
      await this.runtime?.close();
      await this.store.close();
    });
  }

  /** Closes the runtime before and opens one with these definitions. */
  async open(
    definitions: readonly Definition[],
    { executors = {}, beforeMigration }: { executors?: Executors; beforeMigration?: () => Promise<void> } = {},
  ): Promise<Runtime> {
    await this.runtime?.close();
    this.runtime = await createRuntime({
      store: this.store,
      clock: this.clock,
      executors,
      definitions: createRegistry(definitions),
      onError: (error) => this.errors.push(error),
      ...(beforeMigration === undefined ? {} : { beforeMigration }),
    });
    await this.runtime.recover();
    return this.runtime;
  }

  async record(id: string) {
    const [record] = await this.store.load([id]);
    if (record === undefined) throw new Error(`no actor ${id}`);
    return record;
  }
}

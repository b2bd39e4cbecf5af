/** Replays paths of a chart on the real runtime: a file database that is opened anew before every step, and a clock that stands still. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../persistence/index.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { createRuntime } from "../../src/runtime/createRuntime.ts";
import type { ActorView, DefinitionRegistry } from "../../src/runtime/definition.ts";
import type { Executors } from "../../src/runtime/executor.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";

/** The time at which all events of a replay happen; paths are computed with the same. */
export const standstill = Date.UTC(2030, 0, 1);

export interface Opened {
  readonly runtime: Runtime;
  /** Lets timers and effects come through. */
  settle(): Promise<void>;
  advance(ms: number): void;
}

export class Replay {
  readonly home = mkdtempSync(join(tmpdir(), "pawl-model-"));
  private readonly registry: () => DefinitionRegistry;
  private now = standstill;

  constructor(registry: () => DefinitionRegistry) {
    this.registry = registry;
  }

  /** Opens the directory, does one step, closes it again; gives the actor as it is then. */
  async step(actor: string, executors: Executors, act: (opened: Opened) => Promise<void>): Promise<ActorView | null> {
    const opened = await openStore({ home: this.home, mode: "owner" });
    const clock = fakeClock(this.now);
    const runtime = await createRuntime({ store: opened.store, clock, definitions: this.registry(), executors });
    const settle = async (): Promise<void> => {
      for (let turns = 0; turns < 5; turns += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        await runtime.settled();
      }
    };
    try {
      await runtime.recover();
      await act({ runtime, settle, advance: (ms) => clock.advance(ms) });
      await settle();
      return await runtime.view(actor);
    } finally {
      this.now = clock.now();
      await runtime.close();
      await opened.release();
    }
  }

  /** The same directory once more, as it stands now. */
  copy(): Replay {
    const copy = new Replay(this.registry);
    cpSync(this.home, copy.home, { recursive: true });
    copy.now = this.now;
    return copy;
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

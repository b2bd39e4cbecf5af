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
  /** Effects of an actor, with what they were asked. */
  effects(actor: string): Promise<readonly { readonly key: string; readonly state: string; readonly input: unknown }[]>;
}

export class Replay {
  readonly home = mkdtempSync(join(tmpdir(), "pawl-model-"));
  private readonly registry: () => DefinitionRegistry;
  private now = standstill;

  constructor(registry: () => DefinitionRegistry) {
    this.registry = registry;
  }

  /** Opens the directory, does one step, closes it again; gives the actor as it is then. `hangs`: an effect of it does not end by itself. */
  async step(actor: string, executors: Executors, act: (opened: Opened) => Promise<void>, { hangs = false } = {}): Promise<ActorView | null> {
    const opened = await openStore({ home: this.home, mode: "owner" });
    const clock = fakeClock(this.now);
    const runtime = await createRuntime({ store: opened.store, clock, definitions: this.registry(), executors });
    const settle = async (): Promise<void> => {
      for (let turns = 0; turns < (hangs ? 60 : 5); turns += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        if (!hangs) await runtime.settled();
      }
    };
    try {
      await runtime.recover();
      const effects: Opened["effects"] = async (of) =>
        (await opened.store.query("effects", { actor: of }, { limit: 500 })).items.map(({ key, state, input }) => ({
          key,
          state,
          input: "json" in input ? JSON.parse(input.json) : null,
        }));
      await act({ runtime, settle, advance: (ms) => clock.advance(ms), effects });
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

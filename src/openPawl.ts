/** `openPawl`: machines of one's own, made durable in this process. The same runtime as the host's, with nothing else needed. */
import { resolve } from "node:path";
import type { AnyStateMachine } from "xstate";
import { backUp } from "../persistence/backup.ts";
import { openStore } from "../persistence/openStore.ts";
import type { Store } from "../persistence/store.ts";
import { PawlError, messageOf } from "./errors.ts";
import type { Inspect } from "./library/inspection.ts";
import { checkExecutors, definitionsOf, type MachineEntry, type MachineOf } from "./library/machines.ts";
import type { Pawl } from "./library/pawl.ts";
import { OpenPawl } from "./library/open.ts";
import { systemClock, type Clock } from "./runtime/clock.ts";
import { createRuntime } from "./runtime/createRuntime.ts";
import type { Executors } from "./runtime/executor.ts";
import { commitFaults, type FaultHook } from "./runtime/faultPoints.ts";
import { createRegistry } from "./runtime/registry.ts";

interface PawlSettings<Es extends readonly MachineEntry[]> {
  /** Machines, each with a `version`. Child machines that they name come with them. Old versions may stand beside new ones: the last of an id is what new actors get. */
  readonly machines: Es;
  /** What executes the named effects of these machines, by type; see `executor()`. A machine's own promises need none. */
  readonly executors?: Executors;
  /** The machine's own unless a test gives a `fakeClock`. */
  readonly clock?: Clock;
  /** Any XState inspection observer; told after the commit, and never waited for: what it is too slow for is dropped and counted (`inspectDropped`). */
  readonly inspect?: Inspect;
  /** `all`: effects that were open when the last owner ended go on at once; `none`: only those of adopted trees run. */
  readonly adopt?: "all" | "none";
  /** Effects that run at once at most; 256 when left out. */
  readonly concurrency?: number;
  /** Errors that no call can report: of a listener, of an effect whose machine is gone. A warning of the process when left out. */
  readonly onError?: (error: unknown) => void;
  /** Moments at which a test ends the process; see `FaultPoint`. */
  readonly faults?: FaultHook;
}

/** `path`: the state directory, made when missing, owned while it is open. `store`: one that its giver opened, and closes. */
export type OpenPawlOptions<Es extends readonly MachineEntry[]> = PawlSettings<Es> &
  ({ readonly path: string; readonly store?: never } | { readonly store: Store; readonly path?: never });

/**
 * Opens a state directory with these machines: due timers fire, and effects that were left open go on.
 * @throws invalidMachine for a machine that cannot be durable, or names an effect that nothing executes; ownedElsewhere naming the owner;
 * storageForeign, storageNewer, storageDamaged, storageReadOnly, storageFull. Nothing is changed then.
 */
export async function openPawl<const Es extends readonly MachineEntry[]>(options: OpenPawlOptions<Es>): Promise<Pawl<MachineOf<Es[number]>>> {
  const { executors = {}, clock = systemClock, faults } = options;
  const definitions = definitionsOf(options.machines);
  checkExecutors(definitions, executors);
  const machines = new Map(definitions.map(({ id, version, machine }) => [`${id}@${version}`, machine]));
  const onError = options.onError ?? ((error: unknown) => process.emitWarning(`Pawl: ${messageOf(error)}`));
  const { store, release, beforeMigration } = await storeOf(options, clock);
  try {
    const runtime = await createRuntime({
      store,
      definitions: createRegistry(definitions),
      executors,
      clock,
      onError,
      beforeMigration,
      ...(options.concurrency === undefined ? {} : { effectConcurrency: options.concurrency }),
      ...(faults === undefined ? {} : { faults }),
    });
    const pawl = new OpenPawl(runtime, store, clock, machines, release);
    if (options.inspect) pawl.inspect(options.inspect, onError);
    // Before the timers, so that what they ask for runs at once.
    if (options.adopt !== "none") await runtime.adoptAll();
    await runtime.recover();
    return pawl as Pawl<AnyStateMachine> as Pawl<MachineOf<Es[number]>>; // the class is written for any machine; its face says which
  } catch (error) {
    await release();
    throw error;
  }
}

interface Opened {
  readonly store: Store;
  readonly release: () => Promise<void>;
  /** A store of one's own is backed up by whoever gave it. */
  readonly beforeMigration: () => Promise<void>;
}

async function storeOf(
  { path, store, faults }: { readonly path?: string; readonly store?: Store; readonly faults?: FaultHook },
  clock: Clock,
): Promise<Opened> {
  const nothing = async (): Promise<void> => {};
  if (store) return { store, release: nothing, beforeMigration: nothing };
  if (path === undefined) throw new PawlError("invalidInput", "openPawl needs a path (the state directory) or a store.", { path: "path" });
  const home = resolve(path);
  const opened = await openStore({ home, mode: "owner", ...(faults === undefined ? {} : { hooks: commitFaults(faults) }) });
  return { store: opened.store, release: () => opened.release(), beforeMigration: async () => void (await backUp(opened.store, home, clock.now())) };
}

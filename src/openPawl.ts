/** `openPawl`: machines of one's own, made durable in this process. The same runtime as the host's, with nothing else needed. */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { AnyStateMachine } from "xstate";
import { backUp } from "../persistence/backup.ts";
import { openStore } from "../persistence/openStore.ts";
import type { ActorRecord, Store } from "../persistence/store.ts";
import { PawlError, messageOf } from "./errors.ts";
import { ulid } from "./ids.ts";
import { Inspection, type Inspect } from "./library/inspection.ts";
import { checkExecutors, definitionsOf, type MachineEntry, type MachineOf } from "./library/machines.ts";
import type { Pawl } from "./library/pawl.ts";
import { snapshotOf } from "./library/snapshots.ts";
import { effectFacts, idOf, type ActorSnapshot, type Failure, type PawlChange, type Ref, type SnapshotOf, type Target } from "./library/types.ts";
import { waitFor } from "./library/waiting.ts";
import { systemClock, type Clock } from "./runtime/clock.ts";
import { createRuntime } from "./runtime/createRuntime.ts";
import type { ActorView } from "./runtime/definition.ts";
import type { Executors } from "./runtime/executor.ts";
import { commitFaults, type FaultHook } from "./runtime/faultPoints.ts";
import { createRegistry } from "./runtime/registry.ts";
import type { Change, Runtime, WaitBounds } from "./runtime/runtime.ts";

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

/** Pawl for any machine. Where a cast names a target's type, `sameMachine` has compared the row with the ref's machine, or the target is an id alone. */
class OpenPawl implements Pawl<AnyStateMachine> {
  private readonly runtime: Runtime;
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly machines: ReadonlyMap<string, AnyStateMachine>;
  private readonly release: () => Promise<void>;
  private inspection: Inspection | null = null;
  private closing: Promise<void> | null = null;

  constructor(runtime: Runtime, store: Store, clock: Clock, machines: ReadonlyMap<string, AnyStateMachine>, release: () => Promise<void>) {
    this.runtime = runtime;
    this.store = store;
    this.clock = clock;
    this.machines = machines;
    this.release = release;
  }

  inspect(observer: Inspect, onError: (error: unknown) => void): void {
    const inspection = new Inspection(observer, this.machineFor, onError);
    this.inspection = inspection;
    this.runtime.subscribe((change) => {
      if (change.kind === "actor") inspection.take(change);
    });
  }

  get inspectDropped(): number {
    return this.inspection?.dropped ?? 0;
  }

  async start<M extends AnyStateMachine>(
    machine: M,
    options: { readonly id?: string; readonly eventId?: string; readonly input?: unknown } = {},
  ): Promise<Ref<M>> {
    this.check();
    const id = options.id ?? newActorId(options.eventId, this.clock.now());
    if (id === "" || id.length > 512) throw new PawlError("invalidInput", `An actor's id has 1 to 512 characters, not ${id.length}.`, { path: "id" });
    const { version } = machine.config;
    // An id of one's own is what tells a repeated start.
    const eventId = options.eventId ?? (options.id === undefined ? undefined : `start:${id}`);
    const receipt = await this.runtime.start(machine.id, {
      id,
      input: options.input,
      ...(version === undefined ? {} : { version }),
      ...(eventId === undefined ? {} : { eventId }),
    });
    if (receipt.status === "refused")
      throw new PawlError(
        "keyReused",
        `There is an actor "${id}" already, started with another machine, input or event id. Nothing was started; choose another id, or go on with that one: pawl.actor(machine, id).`,
        { subject: id },
      );
    return { id, machine };
  }

  async send(target: Target, event: { readonly type: string }, options?: { readonly eventId?: string; readonly expectedRevision?: number }) {
    this.check();
    if (typeof event?.type !== "string") throw new PawlError("invalidInput", "An event is an object with a type.", { subject: idOf(target), path: "type" });
    const reserved = /^(xstate|pawl)\./.exec(event.type)?.[1];
    if (reserved !== undefined)
      throw new PawlError(
        "invalidInput",
        `Event types that begin with "${reserved}." are not for senders: timers, results and ends come from Pawl alone. Nothing was sent to actor "${idOf(target)}".`,
        {
          subject: idOf(target),
          path: "type",
        },
      );
    await this.compare(target);
    return this.runtime.send(idOf(target), { ...event }, options);
  }

  actor<M extends AnyStateMachine>(machine: M, id: string): Ref<M> {
    return { id, machine };
  }

  async get<T extends Target>(target: T): Promise<SnapshotOf<T> | null> {
    this.check();
    const view = await this.runtime.view(idOf(target));
    if (!view) return null;
    if (typeof target !== "string") sameMachine(target, view.record);
    return (await this.snapshot<AnyStateMachine>(view)) as SnapshotOf<T>; // see above
  }

  async query<M extends AnyStateMachine>(filter: { machine?: M; status?: readonly ActorRecord["status"][]; parent?: Target; root?: Target } = {}, page = {}) {
    this.check();
    const { machine, status, parent, root } = filter;
    const { items, cursor } = await this.store.query(
      "actors",
      {
        ...(machine === undefined ? {} : { machineId: machine.id }),
        ...(status === undefined ? {} : { status }),
        ...(parent === undefined ? {} : { parent: idOf(parent) }),
        ...(root === undefined ? {} : { root: idOf(root) }),
      },
      page,
    );
    return { items: await Promise.all(items.map((record) => this.snapshot<M>(viewOf(record)))), cursor };
  }

  async waitFor<T extends Target>(target: T, predicate: (snapshot: SnapshotOf<T>) => boolean, bounds: WaitBounds = {}): Promise<SnapshotOf<T>> {
    this.check();
    const id = idOf(target);
    const watch = (seen: (snapshot: ActorSnapshot) => void): (() => void) =>
      this.runtime.subscribe((change) => {
        if (change.kind === "actor" && change.view.record.id === id) seen(snapshotOf(change.view, this.machineFor, toldFault(change.view)));
      });
    const holds = (snapshot: ActorSnapshot): boolean => predicate(snapshot as SnapshotOf<T>); // see above
    return (await waitFor({ id, get: () => this.get<Target>(target), watch }, holds, bounds, this.clock)) as SnapshotOf<T>; // see above
  }

  subscribe<M extends AnyStateMachine>(
    { actor, root }: { readonly actor?: Target; readonly root?: Target },
    listener: (change: PawlChange<M>) => void,
  ): () => void {
    this.check();
    const concerns = (place: Place): boolean => (actor === undefined || place.actor === idOf(actor)) && (root === undefined || place.root === idOf(root));
    return this.runtime.subscribe((change) => {
      if (concerns(placeOf(change))) listener(this.changeOf<M>(change));
    });
  }

  async stop(target: Target) {
    this.check();
    await this.compare(target);
    return this.runtime.stop(idOf(target));
  }

  async fault(target: Target) {
    this.check();
    return this.runtime.fault(idOf(target));
  }

  async retryFault(target: Target) {
    this.check();
    await this.compare(target);
    return this.runtime.retryFault(idOf(target));
  }

  async effects(filter: { key?: string; actor?: Target; root?: Target; state?: readonly ReturnType<typeof effectFacts>["state"][] } = {}, page = {}) {
    this.check();
    const { key, actor, root, state } = filter;
    const { items, cursor } = await this.store.query(
      "effects",
      {
        ...(key === undefined ? {} : { key }),
        ...(state === undefined ? {} : { state }),
        ...(actor === undefined ? {} : { actor: idOf(actor) }),
        ...(root === undefined ? {} : { root: idOf(root) }),
      },
      page,
    );
    return { items: items.map(effectFacts), cursor };
  }

  async confirmEffect(key: string, output: unknown) {
    this.check();
    return effectFacts(await this.runtime.confirmEffect(key, { output }));
  }

  async retryEffect(key: string) {
    this.check();
    return effectFacts(await this.runtime.retryEffect(key));
  }

  async observeEffect(key: string) {
    this.check();
    return effectFacts(await this.runtime.observeEffect(key));
  }

  async adopt(target: Target): Promise<void> {
    this.check();
    const view = await this.runtime.view(idOf(target));
    if (!view) throw new PawlError("unknownActor", `There is no actor "${idOf(target)}".`, { subject: idOf(target) });
    await this.runtime.adopt(view.record.root);
  }

  async settled(bounds = {}): Promise<void> {
    this.check();
    return this.runtime.settled(bounds);
  }

  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    try {
      await this.runtime.close();
    } finally {
      await this.release();
    }
  }

  private check(): void {
    if (this.closing) throw new PawlError("closed", "This Pawl was closed. Open the state directory again to go on; nothing was lost.");
  }

  private readonly machineFor = ({ machineId, machineVersion }: ActorRecord): AnyStateMachine | undefined =>
    this.machines.get(`${machineId}@${machineVersion}`);

  /** A ref names its machine: an event must not reach an actor of another one. */
  private async compare(target: Target): Promise<void> {
    if (typeof target === "string") return;
    const view = await this.runtime.view(target.id);
    if (view) sameMachine(target, view.record);
  }

  private async snapshot<M extends AnyStateMachine>(view: ActorView): Promise<ActorSnapshot<M>> {
    const fault = view.record.status === "faulted" ? await this.runtime.fault(view.record.id) : null;
    return snapshotOf<M>(view, this.machineFor, fault && { reason: "faulted", message: fault.message });
  }

  private changeOf<M extends AnyStateMachine>(change: Change): PawlChange<M> {
    const { at } = change;
    switch (change.kind) {
      case "actor":
        return { kind: "snapshot", snapshot: snapshotOf<M>(change.view, this.machineFor, toldFault(change.view)), event: change.event, at };
      case "emitted":
        return { kind: "emitted", actor: change.actor, event: change.event as Extract<PawlChange<M>, { kind: "emitted" }>["event"], at }; // what this machine emitted
      case "effect":
        return { kind: "effect", effect: effectFacts(change.record), at };
      case "log":
        return { kind: "log", actor: change.actor, label: change.label, value: change.value, at };
      case "line":
        return { kind: "line", effect: change.effect, text: change.text, at };
    }
  }
}

interface Place {
  readonly actor: string;
  readonly root: string;
}

function placeOf(change: Change): Place {
  switch (change.kind) {
    case "actor":
      return { actor: change.view.record.id, root: change.view.record.root };
    case "emitted":
    case "log":
      return { actor: change.actor, root: change.root };
    case "effect":
      return { actor: change.record.actor, root: change.record.root };
    case "line":
      return { actor: change.actor, root: change.root };
  }
}

/** Why a faulted actor stands still, as its change tells it. */
function toldFault({ record, error }: ActorView): Failure | null {
  if (record.status !== "faulted") return null;
  const message = typeof error === "object" && error !== null && "message" in error ? String(error.message) : "Its machine threw.";
  return { reason: "faulted", message };
}

function sameMachine({ id, machine }: Ref, record: ActorRecord): void {
  if (record.machineId !== machine.id)
    throw new PawlError(
      "invalidInput",
      `Actor "${id}" runs on machine "${record.machineId}", not on "${machine.id}". Nothing was done; use pawl.actor() with its own machine.`,
      { subject: id },
    );
}

function viewOf(record: ActorRecord): ActorView {
  const { value, context, output, error } = JSON.parse(record.snapshot) as { value: unknown; context: unknown; output?: unknown; error?: unknown }; // what the runtime persisted
  return { record, value, context, output, error };
}

/** A start that can be told by its event id gets an id from it, so that a repeated one finds the first one's actor. */
const newActorId = (eventId: string | undefined, now: number): string =>
  eventId === undefined ? `a_${ulid(now)}` : `a_${createHash("sha256").update(`pawl.start\n${eventId}`).digest("hex").slice(0, 32)}`;

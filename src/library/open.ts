/** An open Pawl over a runtime. */
import { createHash } from "node:crypto";
import type { AnyStateMachine } from "xstate";
import type { ActorRecord, Store } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import { ulid } from "../ids.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ActorView } from "../runtime/definition.ts";
import { storedView } from "../runtime/storedView.ts";
import type { Change, Runtime, WaitBounds } from "../runtime/runtime.ts";
import { Inspection, type Inspect } from "./inspection.ts";
import type { Pawl } from "./pawl.ts";
import { snapshotOf } from "./snapshots.ts";
import { effectFacts, idOf, type ActorSnapshot, type Failure, type PawlChange, type Ref, type SnapshotOf, type Target } from "./types.ts";
import { waitFor } from "./waiting.ts";

/** Pawl for any machine. Where a cast names a target's type, `sameMachine` has compared the row with the ref's machine, or the target is an id alone. */
export class OpenPawl implements Pawl<AnyStateMachine> {
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
    return { items: await Promise.all(items.map((record) => this.snapshot<M>(storedView(record)))), cursor };
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

/** A start that can be told by its event id gets an id from it, so that a repeated one finds the first one's actor. */
const newActorId = (eventId: string | undefined, now: number): string =>
  eventId === undefined ? `a_${ulid(now)}` : `a_${createHash("sha256").update(`pawl.start\n${eventId}`).digest("hex").slice(0, 32)}`;

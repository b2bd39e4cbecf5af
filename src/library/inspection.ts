/** Feeds an XState inspection observer from committed changes: later, in small portions, and never more than it can take. */
import type { AnyStateMachine, InspectionEvent, Observer, Snapshot } from "xstate";
import type { ActorRecord } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { ActorView } from "../runtime/definition.ts";
import type { Change } from "../runtime/runtime.ts";

/** What `createActor({ inspect })` of XState takes too. */
export type Inspect = Observer<InspectionEvent> | ((event: InspectionEvent) => void);

type ActorChange = Extract<Change, { kind: "actor" }>;

/** Changes that wait at most; what comes beyond is dropped and counted. */
const queueLimit = 2048;
/** Changes told in one turn of the event loop. */
const portion = 64;

/** Stands for a durable actor where XState's inspectors expect a live one. */
interface InspectedRef {
  readonly id: string;
  readonly sessionId: string;
  readonly _parent: InspectedRef | undefined;
  readonly logic: AnyStateMachine | undefined;
  readonly systemId: string | undefined;
  getSnapshot(): Snapshot<unknown>;
  send(event: unknown): never;
}

export class Inspection {
  private readonly tell: (event: InspectionEvent) => void;
  private readonly machineOf: (record: ActorRecord) => AnyStateMachine | undefined;
  private readonly onError: (error: unknown) => void;
  private readonly queue: ActorChange[] = [];
  /** Actors that the observer knows and that have not ended. */
  private readonly refs = new Map<string, InspectedRef>();
  private readonly latest = new Map<string, Snapshot<unknown>>();
  private draining = false;
  private lost = 0;

  constructor(inspect: Inspect, machineOf: (record: ActorRecord) => AnyStateMachine | undefined, onError: (error: unknown) => void) {
    this.tell = typeof inspect === "function" ? inspect : (event) => inspect.next?.(event);
    this.machineOf = machineOf;
    this.onError = onError;
  }

  /** How many changes the observer was too slow for. */
  get dropped(): number {
    return this.lost;
  }

  take(change: ActorChange): void {
    if (this.queue.length >= queueLimit) {
      this.lost += 1;
      return;
    }
    this.queue.push(change);
    if (this.draining) return;
    this.draining = true;
    setImmediate(() => this.drain());
  }

  private drain(): void {
    for (let told = 0; told < portion; told += 1) {
      const change = this.queue.shift();
      if (!change) {
        this.draining = false;
        return;
      }
      try {
        this.show(change);
      } catch (error) {
        this.onError(error);
      }
    }
    setImmediate(() => this.drain());
  }

  private show({ view, event }: ActorChange): void {
    const { record } = view;
    const snapshot = snapshotOf(view);
    this.latest.set(record.id, snapshot);
    const actorRef = this.refOf(record);
    const rootId = record.root;
    this.tell({ type: "@xstate.event", actorRef, rootId, event, sourceRef: undefined });
    this.tell({ type: "@xstate.snapshot", actorRef, rootId, event, snapshot });
    if (record.status === "active" || record.status === "faulted") return;
    this.refs.delete(record.id);
    this.latest.delete(record.id);
  }

  /** The actor's stand-in; the observer is told of it, and of those above it first, when it is new. */
  private refOf(record: ActorRecord): InspectedRef {
    const known = this.refs.get(record.id);
    if (known) return known;
    const above = record.parent === null ? undefined : this.aboveOf(record.parent, record.root);
    return this.introduce(record.id, record.root, {
      _parent: above,
      id: record.childKey ?? record.id,
      logic: this.machineOf(record),
      systemId: record.systemId ?? undefined,
    });
  }

  /** A child's first change comes before that of the step which started it. */
  private aboveOf(id: string, root: string): InspectedRef {
    const known = this.refs.get(id);
    if (known) return known;
    const coming = this.queue.find(({ view }) => view.record.id === id);
    if (!coming) return this.introduce(id, root, { _parent: undefined, id, logic: undefined, systemId: undefined });
    this.latest.set(id, snapshotOf(coming.view));
    return this.refOf(coming.view.record);
  }

  private introduce(sessionId: string, rootId: string, facts: Pick<InspectedRef, "_parent" | "id" | "logic" | "systemId">): InspectedRef {
    const actorRef: InspectedRef = {
      ...facts,
      sessionId,
      getSnapshot: () => this.latest.get(sessionId) ?? emptySnapshot,
      send: () => {
        throw new PawlError("refused", `An inspector cannot send to actor "${sessionId}": events go in by pawl.send.`, { subject: sessionId });
      },
    };
    this.refs.set(sessionId, actorRef);
    this.tell({ type: "@xstate.actor", actorRef, rootId });
    return actorRef;
  }
}

const emptySnapshot: Snapshot<unknown> = { status: "active", output: undefined, error: undefined };

function snapshotOf({ record, value, context, output, error }: ActorView): Snapshot<unknown> {
  // XState has no word for faulted: such an actor stands still, and may go on.
  const status = record.status === "faulted" ? "active" : record.status;
  const snapshot = { status, value, context, output, error, children: {}, historyValue: {}, tags: [] };
  return snapshot as Snapshot<unknown>; // XState's union asks for the pairs of status and output that the machine itself has given
}

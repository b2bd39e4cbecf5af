/** One dispatch being computed: what it has read and what it will write, before anything is stored.
 *  Reads go draft -> group overlay -> cache -> store, so that neighbours of one group commit see each other's steps. */
import { sha256Hex } from "../digest.ts";
import {
  inlineLimitBytes,
  type ActorRecord,
  type BlobWrite,
  type Commit,
  type EffectRecord,
  type EffectWrite,
  type InboxRecord,
  type JournalEntry,
  type RowWrite,
  type StoredValue,
  type TimerRecord,
} from "../../persistence/store.ts";
import { jsonText } from "../json.ts";
import { isOpen } from "./effectRow.ts";
import type { Turn } from "./aside.ts";
import type { Change } from "./runtime.ts";
import type { Hydrated } from "./step.ts";

/** An actor in memory; `hydrated` is null until it must step, and again when it can no longer be trusted. */
export interface Held {
  readonly record: ActorRecord;
  hydrated: Hydrated | null;
}

export type TimerOp = Commit["timers"][number];

/** What a group has computed so far, by id. */
export interface Layer {
  readonly actors: Map<string, Held>;
  readonly effects: Map<string, EffectRecord>;
  readonly timers: Map<string, TimerOp>;
  readonly inbox: Map<string, InboxRecord>;
}

export const newLayer = (): Layer => ({ actors: new Map(), effects: new Map(), timers: new Map(), inbox: new Map() });

/** Reads of committed state. */
export interface Reads {
  actor(id: string): Held | null | Promise<Held | null>;
  effect(key: string): EffectRecord | null | Promise<EffectRecord | null>;
  inbox(actor: string, eventId: string): InboxRecord | null | Promise<InboxRecord | null>;
  timers(actor: string): Promise<readonly TimerRecord[]>;
  children(actor: string): Promise<readonly ActorRecord[]>;
  /** Children that are active or faulted. */
  unfinishedChildren(actor: string): Promise<readonly ActorRecord[]>;
  openEffectsOf(actor: string): Promise<readonly EffectRecord[]>;
  /** Ids of a tree's unfinished actors that have a system id, by it. */
  named(root: string): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
}

export class Draft {
  readonly eventId: string;
  readonly at: number;
  /** What it may do about steps that are taken in another process. */
  readonly turn: Turn;
  readonly expects = new Map<string, number>();
  readonly journal: JournalEntry[] = [];
  readonly requiresTimers: { readonly actor: string; readonly key: string; readonly revision: number }[] = [];
  readonly rows = new Map<string, RowWrite>();
  readonly blobs = new Map<string, BlobWrite>();
  /** Told to subscribers after the commit, in order. */
  readonly changes: Change[] = [];
  /** Volatile actions: run once after the commit, best effort. */
  readonly volatile: (() => void)[] = [];
  readonly own = newLayer();
  /** What machines were stepped from. */
  private readonly stepped: Held[] = [];
  private readonly effectExpects = new Map<string, EffectWrite["expect"]>();
  private readonly overlay: Layer;
  private readonly reads: Reads;

  constructor(eventId: string, at: number, overlay: Layer, reads: Reads, turn: Turn) {
    this.eventId = eventId;
    this.at = at;
    this.turn = turn;
    this.overlay = overlay;
    this.reads = reads;
  }

  actor(id: string): Held | null | Promise<Held | null> {
    return this.own.actors.get(id) ?? this.overlay.actors.get(id) ?? this.reads.actor(id);
  }

  /** `before` is the actor's revision now; 0 for a new one. */
  putActor(held: Held, before: number): void {
    const { id } = held.record;
    if (!this.expects.has(id)) this.expects.set(id, before);
    this.own.actors.set(id, held);
  }

  /** What is stored of this dispatch is true of the actor at this revision only, though it leaves the actor as it is. */
  restsOn(id: string, revision: number): void {
    if (!this.expects.has(id)) this.expects.set(id, revision);
  }

  /** Ids of a tree's unfinished actors that have a system id, by it, as this group has left them. */
  async named(root: string): Promise<ReadonlyMap<string, string>> {
    const names = new Map(await this.reads.named(root));
    for (const layer of [this.overlay, this.own]) for (const { record } of layer.actors.values()) if (record.root === root) noteName(names, record);
    return names;
  }

  /** A machine is about to take a step from this snapshot. */
  steps(held: Held): void {
    this.stepped.push(held);
  }

  /** The dispatch comes to nothing: a machine that changed its context in place, which it should not, has left traces in what it was stepped from. */
  abandon(): void {
    for (const held of this.stepped) held.hydrated = null;
  }

  effect(key: string): EffectRecord | null | Promise<EffectRecord | null> {
    return this.own.effects.get(key) ?? this.overlay.effects.get(key) ?? this.reads.effect(key);
  }

  putEffect(record: EffectRecord, before: EffectRecord | null): void {
    if (!this.effectExpects.has(record.key)) this.effectExpects.set(record.key, before && { state: before.state, attempt: before.attempt });
    this.own.effects.set(record.key, record);
    this.changes.push({ kind: "effect", record, at: this.at });
  }

  inbox(actor: string, eventId: string): InboxRecord | null | Promise<InboxRecord | null> {
    const key = pair(actor, eventId);
    return this.own.inbox.get(key) ?? this.overlay.inbox.get(key) ?? this.reads.inbox(actor, eventId);
  }

  putInbox(record: InboxRecord): void {
    this.own.inbox.set(pair(record.actor, record.eventId), record);
  }

  putTimer(op: TimerOp): void {
    this.own.timers.set(op.op === "set" ? pair(op.timer.actor, op.timer.key) : pair(op.actor, op.key), op);
  }

  /** What this group has already done to a timer; undefined: nothing. */
  timerOp(actor: string, key: string): TimerOp | undefined {
    return this.own.timers.get(pair(actor, key)) ?? this.overlay.timers.get(pair(actor, key));
  }

  /** All timers an actor has now. */
  async timersOf(actor: string): Promise<readonly TimerRecord[]> {
    const timers = new Map((await this.reads.timers(actor)).map((timer) => [timer.key, timer]));
    for (const layer of [this.overlay, this.own]) {
      for (const op of layer.timers.values()) {
        if (op.op === "set" && op.timer.actor === actor) timers.set(op.timer.key, op.timer);
        if (op.op === "clear" && op.actor === actor) timers.delete(op.key);
      }
    }
    return [...timers.values()];
  }

  async timerKeys(actor: string): Promise<readonly string[]> {
    return (await this.timersOf(actor)).map((timer) => timer.key);
  }

  /** Children of an actor that have not ended, as this group leaves them. */
  async unfinishedChildren(actor: string): Promise<readonly ActorRecord[]> {
    const records = new Map((await this.reads.unfinishedChildren(actor)).map((record) => [record.id, record]));
    for (const layer of [this.overlay, this.own]) for (const { record } of layer.actors.values()) if (record.parent === actor) records.set(record.id, record);
    return [...records.values()].filter(({ status }) => status === "active" || status === "faulted");
  }

  /** Effects that an actor asked for and that are open, as this group leaves them. */
  async openEffectsOf(actor: string): Promise<readonly EffectRecord[]> {
    const records = new Map((await this.reads.openEffectsOf(actor)).map((record) => [record.key, record]));
    for (const layer of [this.overlay, this.own]) for (const record of layer.effects.values()) if (record.actor === actor) records.set(record.key, record);
    return [...records.values()].filter(({ state }) => isOpen(state));
  }

  /** A value for a row: its JSON text, or the hash of a blob that this commit writes. @throws invalidValue */
  store(value: unknown, what: string): StoredValue {
    return this.storeText(jsonText(value, what));
  }

  storeText(json: string): StoredValue {
    if (json.length <= inlineLimitBytes / 3 || Buffer.byteLength(json) <= inlineLimitBytes) return { json };
    const bytes = Buffer.from(json);
    return this.storeBytes(bytes);
  }

  storeBytes(bytes: Uint8Array): { readonly blob: string; readonly bytes: number } {
    const hash = sha256Hex(bytes);
    this.blobs.set(hash, { hash, bytes });
    return { blob: hash, bytes: bytes.byteLength };
  }

  /** Rough size for bounding a group. */
  get weight(): number {
    let bytes = 0;
    for (const held of this.own.actors.values()) bytes += held.record.snapshot.length;
    for (const blob of this.blobs.values()) bytes += blob.bytes.byteLength;
    return bytes;
  }

  get isEmpty(): boolean {
    return this.expects.size === 0 && this.own.effects.size === 0 && this.own.inbox.size === 0 && this.own.timers.size === 0 && this.blobs.size === 0;
  }

  toCommit(): Commit {
    return {
      eventId: this.eventId,
      at: this.at,
      expects: Object.fromEntries(this.expects),
      actors: [...this.own.actors.values()].map((held) => held.record),
      journal: this.journal,
      timers: [...this.own.timers.values()],
      requiresTimers: this.requiresTimers,
      effects: [...this.own.effects].map(([key, record]) => ({ expect: this.effectExpects.get(key) ?? null, record })),
      inbox: [...this.own.inbox.values()],
      rows: [...this.rows.values()],
      blobs: [...this.blobs.values()],
    };
  }

  /** Lets the next dispatches of the group see this one. */
  mergeInto(layer: Layer): void {
    for (const [id, held] of this.own.actors) layer.actors.set(id, held);
    for (const [key, record] of this.own.effects) layer.effects.set(key, record);
    for (const [key, op] of this.own.timers) layer.timers.set(key, op);
    for (const [key, record] of this.own.inbox) layer.inbox.set(key, record);
  }
}

const pair = (a: string, b: string): string => `${a}\n${b}`;

/** Takes an actor's latest state over into the names of its tree. */
export function noteName(names: Map<string, string>, { systemId, status, id }: ActorRecord): void {
  if (systemId === null) return;
  if (status === "active" || status === "faulted") names.set(systemId, id);
  else if (names.get(systemId) === id) names.delete(systemId);
}

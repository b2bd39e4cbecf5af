/** Committed state in memory, by revision: a bounded number of actors, the latest used; the rest costs nothing. */
import type { ActorRecord, EffectRecord, InboxRecord, Page, Store, TimerRecord } from "../../persistence/store.ts";
import { noteName, type Draft, type Held, type Reads } from "./draft.ts";
import { isOpen } from "./effectRow.ts";

export class StateCache implements Reads {
  private readonly store: Store;
  private readonly limit: number;
  private readonly actors = new Map<string, Held>();
  private readonly openEffects = new Map<string, EffectRecord>();
  /** System ids of the trees whose machines asked for one. */
  private readonly names = new Map<string, Map<string, string>>();

  constructor(store: Store, limit = 4096) {
    this.store = store;
    this.limit = limit;
  }

  actor(id: string): Held | null | Promise<Held | null> {
    const held = this.actors.get(id);
    if (!held) return this.load(id);
    // A Map keeps insertion order: the least used stands first.
    this.actors.delete(id);
    this.actors.set(id, held);
    return held;
  }

  effect(key: string): EffectRecord | null | Promise<EffectRecord | null> {
    return this.openEffects.get(key) ?? this.store.effects([key]).then(([record]) => record ?? null);
  }

  inbox(actor: string, eventId: string): Promise<InboxRecord | null> {
    return this.store.inbox(actor, eventId);
  }

  timers(actor: string): Promise<readonly TimerRecord[]> {
    return this.store.timers(actor);
  }

  children(actor: string): Promise<readonly ActorRecord[]> {
    return this.store.children(actor);
  }

  unfinishedChildren(actor: string): Promise<readonly ActorRecord[]> {
    return everyRow((cursor) => this.store.query("actors", { parent: actor, status: ["active", "faulted"] }, { limit: 500, cursor }));
  }

  openEffectsOf(actor: string): Promise<readonly EffectRecord[]> {
    return everyRow((cursor) => this.store.query("effects", { actor, state: ["planned", "attempting"] }, { limit: 500, cursor }));
  }

  named(root: string): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>> {
    return this.names.get(root) ?? this.loadNames(root);
  }

  /** Takes over what a commit wrote. */
  take(draft: Draft): void {
    for (const [id, held] of draft.own.actors) {
      const names = this.names.get(held.record.root);
      if (names) noteName(names, held.record);
      this.actors.delete(id);
      if (held.record.status === "active") this.put(id, held);
    }
    for (const [key, record] of draft.own.effects) {
      if (isOpen(record.state)) bound(this.openEffects.set(key, record), this.limit);
      else this.openEffects.delete(key);
    }
  }

  clear(): void {
    this.actors.clear();
    this.openEffects.clear();
    this.names.clear();
  }

  private async load(id: string): Promise<Held | null> {
    const [record] = await this.store.load([id]);
    if (!record) return null;
    const held: Held = { record, hydrated: null };
    if (record.status === "active") this.put(id, held);
    return held;
  }

  private async loadNames(root: string): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>();
    const rows = await everyRow((cursor) => this.store.query("actors", { root, status: ["active", "faulted"] }, { limit: 500, cursor }));
    for (const record of rows) noteName(names, record);
    bound(this.names.set(root, names), namedTrees);
    return names;
  }

  private put(id: string, held: Held): void {
    bound(this.actors.set(id, held), this.limit);
  }
}

/** Trees whose system ids are kept. */
const namedTrees = 256;

function bound(map: Map<string, unknown>, limit: number): void {
  while (map.size > limit) {
    const first = map.keys().next();
    if (first.done) return;
    map.delete(first.value);
  }
}

async function everyRow<T>(next: (cursor: string | undefined) => Promise<Page<T>>): Promise<readonly T[]> {
  const rows: T[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await next(cursor);
    rows.push(...page.items);
    if (page.cursor === null) return rows;
    cursor = page.cursor;
  }
}

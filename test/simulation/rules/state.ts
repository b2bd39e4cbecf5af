/** What is stored, as the rules read it: beside the process that owns it, after each commit. */
import type { ActorRecord, EffectRecord, JournalRow, Store } from "../../../persistence/store.ts";

export interface Progress {
  /** New rows of all actors, in order. */
  readonly rows: readonly JournalRow[];
  /** Every actor, by id. */
  readonly actors: ReadonlyMap<string, ActorRecord>;
  /** Every effect that is not final, and those that were at the last look and are no more; by key. */
  readonly effects: ReadonlyMap<string, EffectRecord>;
}

const page = 500;

/** Reads what has happened since the last look. */
export class State {
  readonly store: Store;
  private readonly revisions = new Map<string, number>();
  private readonly open = new Set<string>();
  private looked = -1;

  constructor(store: Store) {
    this.store = store;
  }

  /** Null when there were no commits since. */
  async progress(commits: number): Promise<Progress | null> {
    if (commits === this.looked) return null;
    this.looked = commits;
    const actors = new Map<string, ActorRecord>();
    const rows: JournalRow[] = [];
    for (let cursor: string | undefined; ;) {
      const found = await this.store.query("actors", {}, { limit: page, cursor });
      for (const record of found.items) actors.set(record.id, record);
      if (found.cursor === null) break;
      cursor = found.cursor;
    }
    const effects = new Map<string, EffectRecord>();
    for (const record of await this.store.effects([...this.open])) effects.set(record.key, record);
    for (const { id, revision } of actors.values()) {
      const seen = this.revisions.get(id) ?? 0;
      if (revision === seen) continue;
      this.revisions.set(id, revision);
      for (let from = seen + 1; ;) {
        const more = await this.store.journal(id, from, page);
        rows.push(...more);
        if (more.length < page) break;
        from += page;
      }
      for (const record of (await this.store.query("effects", { actor: id, state: ["planned", "attempting", "ambiguous"] }, { limit: page })).items)
        effects.set(record.key, record);
    }
    for (const { key, state } of effects.values()) {
      if (state === "confirmed" || state === "failed" || state === "dropped") this.open.delete(key);
      else this.open.add(key);
    }
    return { rows: rows.toSorted((a, b) => a.seq - b.seq), actors, effects };
  }
}

/** What is stored, as the rules read it: beside the process that owns it, after each commit. */
import type { Database } from "better-sqlite3";
import { sqliteStore } from "../../../persistence/sqliteStore.ts";
import type { ActorRecord, EffectRecord, JournalRow, Page, Store } from "../../../persistence/store.ts";

export interface Progress {
  /** New rows of all actors, in order. */
  readonly rows: readonly JournalRow[];
  /** The actors that they are of. */
  readonly actors: readonly ActorRecord[];
}

const page = 500;

/** Reads what has happened since the last look. */
export class State {
  readonly store: Store;
  private readonly db: Database;
  private readonly changed;
  private readonly revisions = new Map<string, number>();
  private lastSeq = 0;
  private looked = -1;

  /** `db`: a connection of our own, for reading. */
  constructor(db: Database) {
    this.db = db;
    this.store = sqliteStore(db);
    this.changed = db.prepare<[number], { readonly actor: string }>("select distinct actor from journal where seq > ? order by seq");
  }

  /** There were no commits since the last look. */
  isSeen(commits: number): boolean {
    return commits === this.looked;
  }

  async progress(commits: number): Promise<Progress> {
    this.looked = commits;
    const actors = await this.store.load(this.changed.all(this.lastSeq).map(({ actor }) => actor));
    const rows: JournalRow[] = [];
    for (const { id, revision } of actors) {
      for (let from = (this.revisions.get(id) ?? 0) + 1; from <= revision; from += page) rows.push(...(await this.store.journal(id, from, page)));
      this.revisions.set(id, revision);
    }
    rows.sort((a, b) => a.seq - b.seq);
    this.lastSeq = rows.at(-1)?.seq ?? this.lastSeq;
    return { rows, actors };
  }

  /** Everything that is read meanwhile is of one moment, and asks for the file's locks once. */
  async look<T>(reading: () => Promise<T>): Promise<T> {
    // A database in memory has one connection, the owner's: its transactions are not ours to open.
    if (this.db.memory) return reading();
    this.db.exec("begin");
    try {
      return await reading();
    } finally {
      this.db.exec("commit");
    }
  }

  /** Every actor ever stored. */
  everyActor(): Promise<readonly ActorRecord[]> {
    return everyRow((cursor) => this.store.query("actors", {}, { limit: page, cursor }));
  }

  /** Every effect ever stored. */
  everyEffect(): Promise<readonly EffectRecord[]> {
    return everyRow((cursor) => this.store.query("effects", {}, { limit: page, cursor }));
  }
}

async function everyRow<T>(next: (cursor: string | undefined) => Promise<Page<T>>): Promise<readonly T[]> {
  const found: T[] = [];
  for (let cursor: string | undefined; ;) {
    const one = await next(cursor);
    found.push(...one.items);
    if (one.cursor === null) return found;
    cursor = one.cursor;
  }
}

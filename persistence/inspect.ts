/** What `pawl doctor` asks a database: its settings, its blobs one by one, and rows that point at nothing. Reads only, each a short statement. */
import { sha256Hex } from "../src/digest.ts";
import type { Database } from "better-sqlite3";
import { schemaVersion } from "./schema.ts";
import { hashBytes, hashText } from "./values.ts";

/** How the file stands. Sizes in bytes. */
export interface DatabaseFacts {
  readonly schema: number;
  readonly journalMode: string;
  readonly autoVacuum: number;
  readonly foreignKeys: number;
  /** Of this connection; a reader's own is of no interest. */
  readonly synchronous: number;
  readonly bytes: number;
  /** Inside the file, given back by the next prune. */
  readonly freeBytes: number;
}

/** A row that points at something that is not there, or that nothing can move. */
export interface Orphan {
  readonly kind: "actor" | "timer" | "effect" | "run" | "decision" | "update" | "child" | "journal";
  readonly id: string;
  /** A sentence without its full stop. */
  readonly what: string;
}

export interface Inspector {
  facts(): DatabaseFacts;
  /** The next blob by hash, after `after`; `sound` is false when its bytes have another hash. Undefined at the end. */
  nextBlob(after: string | null): { readonly hash: string; readonly bytes: number; readonly sound: boolean } | undefined;
  /** Whether there is a blob of this hash. */
  hasBlob(hash: string): boolean;
  /** Blobs that no column names. Graphs, sources and values inside of contexts are named by hash in other places: the caller knows those. */
  unreferencedBlobs(): readonly { readonly hash: string; readonly bytes: number }[];
  orphans(): readonly Orphan[];
}

/** Most findings of one kind that are listed. */
const listed = 100;

const living = "status in ('active', 'faulted')";

/** Each gives `id` and `what`. */
const orphanQueries: readonly (readonly [kind: Orphan["kind"], sql: string])[] = [
  ["actor", `select a.id as id, 'its root ' || a.root || ' is missing' as what from actors a where not exists (select 1 from actors r where r.id = a.root)`],
  [
    "actor",
    `select a.id as id, 'it is ' || a.status || ', and its parent ' || a.parent || ' is ' || coalesce((select p.status from actors p where p.id = a.parent), 'missing') as what
       from actors a where a.parent is not null and a.${living} and not exists (select 1 from actors p where p.id = a.parent and p.${living})`,
  ],
  [
    "child",
    `select a.id as id, 'its child ' || c.key || ' is ' || coalesce(json_extract(c.value, '$.snapshot.actor'), json_extract(c.value, '$.snapshot.effect')) || ', which is missing' as what
       from actors a, json_each(a.snapshot, '$.children') c
      where a.${living}
        and ((json_extract(c.value, '$.snapshot.actor') is not null and not exists (select 1 from actors x where x.id = json_extract(c.value, '$.snapshot.actor')))
          or (json_extract(c.value, '$.snapshot.effect') is not null and not exists (select 1 from effects x where x.key = json_extract(c.value, '$.snapshot.effect'))))`,
  ],
  [
    "timer",
    `select t.actor || ' ' || t.key as id, 'its actor is ' || a.status as what from timers t join actors a on a.id = t.actor where a.status not in ('active', 'faulted')`,
  ],
  [
    "timer",
    `select t.actor || ' ' || t.key as id, 'it is for ' || t.to_actor || ', which is missing' as what from timers t where not exists (select 1 from actors a where a.id = t.to_actor)`,
  ],
  [
    "effect",
    `select e.key as id, 'it is ' || e.state || ', and its actor is ' || a.status || ': nobody waits for its result' as what
       from effects e join actors a on a.id = e.actor where e.state in ('planned', 'attempting') and e.invoke_id is not null and a.status not in ('active', 'faulted')`,
  ],
  ["run", "select r.id as id, 'its actor is missing' as what from runs r where not exists (select 1 from actors a where a.id = r.id)"],
  ["decision", "select d.id as id, 'its actor is missing' as what from decisions d where not exists (select 1 from actors a where a.id = d.id)"],
  ["decision", "select d.id as id, 'its run ' || d.run || ' is missing' as what from decisions d where not exists (select 1 from runs r where r.id = d.run)"],
  ["update", "select u.id as id, 'its run ' || u.run || ' is missing' as what from updates u where not exists (select 1 from runs r where r.id = u.run)"],
  [
    "journal",
    `select a.id as id, 'it is at revision ' || a.revision || ', and its journal ends at ' || coalesce((select max(j.revision) from journal j where j.actor = a.id), 0) as what
       from actors a where a.revision <> coalesce((select max(j.revision) from journal j where j.actor = a.id), 0)`,
  ],
  [
    "journal",
    `select a.id as id, 'revisions are missing from its journal' as what
       from actors a where (select count(*) from journal j where j.actor = a.id) <> a.revision and a.revision = (select max(j.revision) from journal j where j.actor = a.id)`,
  ],
];

export function inspector(db: Database): Inspector {
  const pragma = (name: string): number => Number(db.pragma(name, { simple: true }));
  const next = db.prepare<[Buffer], { hash: Buffer; bytes: Buffer }>("select hash, bytes from blobs where hash > ? order by hash limit 1");
  const has = db.prepare<[Buffer], { found: number }>("select 1 as found from blobs where hash = ?");
  const unreferenced = db.prepare<[], { hash: Buffer; bytes: number }>(
    `select hash, length(bytes) as bytes from blobs b where not exists (select 1 from journal where payload_blob = b.hash)
       and not exists (select 1 from effects where input_blob = b.hash) and not exists (select 1 from effects where output_blob = b.hash)
       and not exists (select 1 from inbox where event_blob = b.hash) and not exists (select 1 from runs where input_blob = b.hash)`,
  );
  return {
    facts: () => ({
      schema: schemaVersion,
      journalMode: String(db.pragma("journal_mode", { simple: true })),
      autoVacuum: pragma("auto_vacuum"),
      foreignKeys: pragma("foreign_keys"),
      synchronous: pragma("synchronous"),
      bytes: pragma("page_count") * pragma("page_size"),
      freeBytes: pragma("freelist_count") * pragma("page_size"),
    }),
    nextBlob(after) {
      const row = next.get(after === null ? Buffer.alloc(0) : hashBytes(after));
      if (row === undefined) return undefined;
      const hash = hashText(row.hash);
      return { hash, bytes: row.bytes.byteLength, sound: sha256Hex(row.bytes) === hash };
    },
    hasBlob: (hash) => has.get(hashBytes(hash)) !== undefined,
    unreferencedBlobs: () => unreferenced.all().map(({ hash, bytes }) => ({ hash: hashText(hash), bytes })),
    orphans: () =>
      orphanQueries.flatMap(([kind, sql]) =>
        db
          .prepare<[], { id: string; what: string }>(`${sql} limit ${listed}`)
          .all()
          .map((row) => ({ kind, ...row })),
      ),
  };
}

/** Copies one root actor with all that belongs to it into a database of its own, which opens like any other. */
import type { Database } from "better-sqlite3";
import { selectMeta, updateMeta } from "./commit.ts";
import { openDatabase } from "./database.ts";
import { hashBytes, hashText } from "./values.ts";

/** Tables in the order in which their references allow them; the column of each that tells whose a row is. */
const tables: readonly (readonly [table: string, where: string])[] = [
  ["actors", "root = :root"],
  ["runs", "id = :root"],
  ["decisions", "run = :root"],
  ["updates", "run = :root"],
  ["effects", "root = :root"],
  ["timers", "actor in (select id from actors where root = :root)"],
  ["journal", "actor in (select id from actors where root = :root)"],
  ["inbox", "actor = :root or (actor > :root || '/' and actor < :root || '0')"],
];

const blobColumns: readonly (readonly [table: string, column: string])[] = [
  ["journal", "payload_blob"],
  ["effects", "input_blob"],
  ["effects", "output_blob"],
  ["inbox", "event_blob"],
  ["runs", "input_blob"],
];

type Row = { readonly [column: string]: string | number | Buffer | null };

/** Writes `root` of `source` into the new file `target`. `blobs`: those that it names outside of the columns. Reads one moment of the source. */
export function exportRoot(source: Database, target: string, root: string, blobs: readonly string[]): void {
  const copy = openDatabase(target, { mode: "owner" });
  try {
    source.transaction(() => {
      copy.transaction(() => {
        const rowsOf = new Map(
          tables.map(([table, where]) => [table, source.prepare<{ root: string }, Row>(`select * from ${table} where ${where}`).all({ root })]),
        );
        const hashes = new Set(blobs);
        for (const [table, column] of blobColumns)
          for (const row of rowsOf.get(table) ?? []) {
            const hash = row[column];
            if (Buffer.isBuffer(hash)) hashes.add(hashText(hash));
          }
        copyBlobs(source, copy, hashes);
        for (const [table] of tables) insertRows(copy, table, rowsOf.get(table) ?? []);
        const meta = source.prepare<[], Row>(selectMeta).get();
        copy.prepare(updateMeta).run(meta?.["lastAt"], meta?.["lastSeq"]);
      })();
    })();
    // One file, without a log beside it.
    copy.pragma("wal_checkpoint(truncate)");
    copy.pragma("journal_mode = delete");
  } finally {
    copy.close();
  }
}

/** One at a time: each may be large. */
function copyBlobs(source: Database, copy: Database, hashes: ReadonlySet<string>): void {
  const read = source.prepare<[Buffer], { bytes: Buffer }>("select bytes from blobs where hash = ?");
  const write = copy.prepare<[Buffer, Buffer]>("insert into blobs (hash, bytes) values (?, ?)");
  for (const hash of hashes) {
    const found = read.get(hashBytes(hash));
    if (found) write.run(hashBytes(hash), found.bytes);
  }
}

function insertRows(copy: Database, table: string, rows: readonly Row[]): void {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const insert = copy.prepare<[Row]>(`insert into ${table} (${columns.join(", ")}) values (${columns.map((column) => `:${column}`).join(", ")})`);
  for (const row of rows) insert.run(row);
}

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "../../persistence/database.ts";
import { sqliteStore, type SqliteStore } from "../../persistence/sqliteStore.ts";
import type { Orphan } from "../../persistence/inspect.ts";
import { actorOf, blobOf, commitOf, decisionOf, effectOf, journalOf, runOf, timerOf, updateOf } from "../contract/storeRecords.ts";
import { temporaryDirectory } from "./places.ts";

let db: ReturnType<typeof openDatabase> & object;
let store: SqliteStore;

beforeEach(async () => {
  db = openDatabase(join(temporaryDirectory(), "pawl.db"), { mode: "owner" });
  store = sqliteStore(db);
  await store.commit([
    commitOf({
      expects: { r_1: 0, "r_1/graph": 0 },
      actors: [
        actorOf("r_1", { snapshot: '{"value":"a","children":{"graph":{"snapshot":{"actor":"r_1/graph"}}}}' }),
        actorOf("r_1/graph", { parent: "r_1", childKey: "graph", snapshot: '{"value":"a","children":{"n":{"snapshot":{"effect":"r_1/graph@1:1"}}}}' }),
      ],
      journal: [journalOf("r_1", 1), journalOf("r_1/graph", 1)],
      effects: [{ expect: null, record: effectOf("r_1/graph", 1, { root: "r_1" }) }],
      timers: [{ op: "set", timer: timerOf("r_1/graph", "t") }],
      rows: [
        { table: "runs", row: runOf("r_1") },
        { table: "decisions", row: decisionOf("r_1/graph", { run: "r_1" }) },
        { table: "updates", row: updateOf("r_1", "main") },
      ],
      blobs: [blobOf("one"), blobOf("two")],
    }),
  ]);
});

afterEach(() => store.close());

/** Breaks a stored rule as only a fault of Pawl's own or a foreign hand can. */
function broken(sql: string): Promise<readonly Orphan[]> {
  db.pragma("foreign_keys = off");
  db.exec(sql);
  return store.orphans();
}

describe("rows that point at nothing", () => {
  test("STORE-35 there are none in a sound database", async () => {
    expect(await store.orphans()).toEqual([]);
  });

  test.each([
    [
      "an actor without a root",
      "update actors set root = 'r_2', parent = 'r_1' where id = 'r_1/graph'",
      { kind: "actor", id: "r_1/graph", what: "its root r_2 is missing" },
    ],
    [
      "a child of a finished parent",
      "update actors set status = 'done' where id = 'r_1'",
      { kind: "actor", id: "r_1/graph", what: "it is active, and its parent r_1 is done" },
    ],
    ["a child that is missing", "delete from effects", { kind: "child", id: "r_1/graph", what: "its child n is r_1/graph@1:1, which is missing" }],
    [
      "a child actor that is missing",
      "delete from decisions; delete from actors where id = 'r_1/graph'",
      { kind: "child", id: "r_1", what: "its child graph is r_1/graph, which is missing" },
    ],
    [
      "a timer of a finished actor",
      "update actors set status = 'done' where id = 'r_1/graph'",
      { kind: "timer", id: "r_1/graph t", what: "its actor is done" },
    ],
    ["a timer for nobody", "update timers set to_actor = 'x'", { kind: "timer", id: "r_1/graph t", what: "it is for x, which is missing" }],
    [
      "an effect nobody waits for",
      "update actors set status = 'stopped' where id = 'r_1/graph'",
      { kind: "effect", id: "r_1/graph@1:1", what: "it is planned, and its actor is stopped: nobody waits for its result" },
    ],
    [
      "a run without an actor",
      "insert into runs select 'r_9', workflow, source_digest, graph_digest, state, session, reserves, reason, input_json, input_blob, created_at_ms, updated_at_ms, ended_at_ms from runs",
      { kind: "run", id: "r_9", what: "its actor is missing" },
    ],
    ["an update without a run", "delete from decisions; delete from runs", { kind: "update", id: "r_1/t/main", what: "its run r_1 is missing" }],
    ["a decision without a run", "delete from runs", { kind: "decision", id: "r_1/graph", what: "its run r_1 is missing" }],
    [
      "a journal that ends too early",
      "update actors set revision = 3 where id = 'r_1'",
      { kind: "journal", id: "r_1", what: "it is at revision 3, and its journal ends at 1" },
    ],
    [
      "a journal with a gap",
      "update actors set revision = 2 where id = 'r_1'; update journal set revision = 2 where actor = 'r_1'",
      { kind: "journal", id: "r_1", what: "revisions are missing from its journal" },
    ],
  ])("STORE-35 %s is found and named", async (_, sql, orphan) => {
    expect(await broken(sql)).toContainEqual(orphan);
  });
});

describe("blobs", () => {
  const all = async (): Promise<boolean[]> => {
    const sound: boolean[] = [];
    for (let blob = await store.nextBlob(null); blob !== null; blob = await store.nextBlob(blob.hash)) sound.push(blob.sound);
    return sound;
  };

  test("STORE-36 each is compared with its hash, one at a time", async () => {
    expect(await all()).toEqual([true, true]);
    db.exec("update blobs set bytes = x'00' where hash = (select max(hash) from blobs)");
    expect(await all()).toEqual([true, false]);
  });

  test("STORE-36 those that no column names are listed with their sizes", async () => {
    const used = blobOf("three".repeat(2_000));
    await store.commit([
      commitOf({
        eventId: "f",
        effects: [{ expect: null, record: effectOf("r_1", 2, { input: { blob: used.hash, bytes: used.bytes.byteLength } }) }],
        blobs: [used],
      }),
    ]);
    const found = await store.unreferencedBlobs();
    expect(new Map(found.map(({ hash, bytes }) => [hash, bytes]))).toEqual(new Map([blobOf("one"), blobOf("two")].map(({ hash }) => [hash, 3])));
  });
});

test("STORE-37 the settings and sizes of a database are told", async () => {
  const facts = await store.facts();
  expect(facts).toMatchObject({ schema: 1, journalMode: "wal", autoVacuum: 2, foreignKeys: 1, synchronous: 2 });
  expect(facts.bytes).toBeGreaterThan(100_000);
});

import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { keptIdsMs } from "../../persistence/prune.ts";
import { memoryStore, openStore, type BlobWrite, type Commit, type SqliteStore } from "../../persistence/index.ts";
import { actorOf, blobOf, commitOf, decisionOf, effectOf, journalOf, runOf, sha256, updateOf } from "../contract/storeRecords.ts";
import { temporaryDirectory } from "./places.ts";

const stored = ({ hash, bytes }: BlobWrite) => ({ blob: hash, bytes: bytes.byteLength });
const nothingKept = (): boolean => false;
const day = 24 * 60 * 60_000;

const shared = blobOf("shared".repeat(1_000));
const graph = blobOf("graph");

/** A finished run with a node below it, large values, a decision, and answered events. */
function finishedRun(id: string, own: BlobWrite): Commit {
  const node = `${id}/graph`;
  return commitOf({
    eventId: id,
    expects: { [id]: 0, [node]: 0 },
    actors: [actorOf(id, { status: "done" }), actorOf(node, { status: "done", parent: id, childKey: "graph", root: id })],
    journal: [journalOf(id, 1, { payload: stored(shared) }), journalOf(node, 1)],
    effects: [{ expect: null, record: effectOf(node, 1, { root: id, state: "confirmed", output: stored(own), input: stored(shared) }) }],
    inbox: [{ actor: node, eventId: "answer", fingerprint: sha256("a"), receipt: "{}", event: stored(own), at: 1_000 }],
    rows: [
      { table: "runs", row: runOf(id, { state: "completed", endedAt: 2_000, graphDigest: graph.hash, input: stored(own) }) },
      { table: "decisions", row: decisionOf(node, { run: id, state: "accepted", choice: "go", settledAt: 1_500 }) },
      { table: "updates", row: updateOf(id, "main") },
    ],
    blobs: [shared, own, graph],
  });
}

const [ownA, ownB] = [blobOf("a".repeat(9_000)), blobOf("b".repeat(9_000))];

async function twoRuns(): Promise<SqliteStore> {
  const store = memoryStore();
  expect((await store.commit([finishedRun("r_a", ownA), finishedRun("r_b", ownB)])).map(({ status }) => status)).toEqual(["committed", "committed"]);
  return store;
}

const has = async (store: SqliteStore, ...blobs: readonly BlobWrite[]): Promise<boolean[]> => Promise.all(blobs.map(({ hash }) => store.hasBlob(hash)));

describe("pruning", () => {
  test("STORE-30 a finished run goes with all its rows, and with the blobs that nothing else names", async () => {
    const store = await twoRuns();
    const answered = await store.inbox("r_a/graph", "answer");
    expect(await store.prune({ root: "r_a", blobs: [graph.hash], isKept: (hash) => hash === graph.hash, at: 5_000 })).toEqual({
      actors: 2,
      journal: 2,
      effects: 1,
      blobs: 0,
      bytes: 0,
    });
    expect(await store.load(["r_a", "r_a/graph"])).toEqual([]);
    expect(await store.journal("r_a/graph", 1, 10)).toEqual([]);
    expect((await store.query("runs", {})).items.map(({ id }) => id)).toEqual(["r_b"]);
    expect((await store.query("decisions", {})).items.map(({ id }) => id)).toEqual(["r_b/graph"]);
    expect((await store.query("effects", {})).items.map(({ root }) => root)).toEqual(["r_b"]);
    expect((await store.query("updates", {})).items).toEqual([updateOf("r_b", "main")]);
    expect(await store.inbox("r_a/graph", "answer")).toEqual(answered);
    // Its own large value is still named by the kept answer; the shared one by the other run.
    expect(await has(store, ownA, ownB, shared, graph)).toEqual([true, true, true, true]);
    expect(await store.prune({ root: "r_b", blobs: [graph.hash], isKept: nothingKept, at: 5_000 })).toMatchObject({
      blobs: 2,
      bytes: shared.bytes.byteLength + graph.bytes.byteLength,
    });
    expect(await has(store, ownA, ownB, shared, graph)).toEqual([true, true, false, false]);
    expect(await store.check()).toEqual([]);
    await store.close();
  });

  test("STORE-31 the ids of its events are kept for thirty days more, then they go with their values", async () => {
    const store = await twoRuns();
    await store.prune({ root: "r_a", blobs: [], isKept: nothingKept, at: 10 * day });
    expect(await store.forgetPruned(10 * day + keptIdsMs - 1, nothingKept)).toBe(0);
    expect(await store.inbox("r_a", "pawl.pruned")).toMatchObject({ at: 10 * day });
    expect(await store.forgetPruned(10 * day + keptIdsMs, nothingKept)).toBe(1);
    expect(await store.inbox("r_a", "pawl.pruned")).toBeNull();
    expect(await store.inbox("r_a/graph", "answer")).toBeNull();
    expect(await store.inbox("r_b/graph", "answer")).not.toBeNull();
    expect(await has(store, ownA, ownB)).toEqual([false, true]);
    await store.close();
  });

  test("STORE-32 a run that is not finished, or has an effect that is not settled, is left as it is", async () => {
    const store = memoryStore();
    const active = finishedRun("r_a", ownA);
    await store.commit([{ ...active, actors: active.actors.map((actor) => (actor.id === "r_a" ? actor : { ...actor, status: "faulted" as const })) }]);
    const ambiguous = finishedRun("r_b", ownB);
    await store.commit([
      { ...ambiguous, effects: [{ expect: null, record: effectOf("r_b/graph", 1, { root: "r_b", state: "ambiguous", ambiguousSince: 1_000 }) }] },
    ]);
    for (const root of ["r_a", "r_b", "r_unknown"]) expect(await store.prune({ root, blobs: [], isKept: nothingKept, at: 5_000 })).toBeNull();
    expect((await store.query("runs", {})).items).toHaveLength(2);
    expect(await has(store, ownA, ownB)).toEqual([true, true]);
    await store.close();
  });

  test("STORE-33 case 121 what was pruned is given back to the file system", async () => {
    const home = temporaryDirectory();
    const { store, path, release } = await openStore({ home, mode: "owner" });
    for (let run = 0; run < 20; run += 1) await store.commit([finishedRun(`r_${run}`, blobOf(`${run} `.repeat(150_000)))]);
    await store.shrink();
    const before = statSync(path).size;
    for (let run = 0; run < 20; run += 1) await store.prune({ root: `r_${run}`, blobs: [], isKept: nothingKept, at: 0 });
    await store.forgetPruned(keptIdsMs, nothingKept);
    expect((await store.facts()).freeBytes).toBeGreaterThan(5_000_000);
    await store.shrink();
    expect((await store.facts()).freeBytes).toBe(0);
    expect(before - statSync(path).size).toBeGreaterThan(5_000_000);
    expect(statSync(`${path}-wal`).size).toBe(0);
    await release();
  });

  test("STORE-32 a reader cannot prune", async () => {
    const home = temporaryDirectory();
    const owner = await openStore({ home, mode: "owner" });
    await owner.store.commit([finishedRun("r_a", ownA)]);
    const reader = await openStore({ home, mode: "reader" });
    await expect(reader.store.prune({ root: "r_a", blobs: [], isKept: nothingKept, at: 0 })).rejects.toMatchObject({ code: "refused" });
    await expect(reader.store.shrink()).rejects.toMatchObject({ code: "refused" });
    await reader.release();
    await owner.release();
  });
});

describe("a run's own database", () => {
  test("STORE-34 holds all that belongs to the run and nothing else, and opens like any other, beside a living owner", async () => {
    const home = temporaryDirectory();
    const owner = await openStore({ home, mode: "owner" });
    await owner.store.commit([finishedRun("r_a", ownA), finishedRun("r_b", ownB)]);
    const reader = await openStore({ home, mode: "reader" });
    const elsewhere = temporaryDirectory();
    await reader.store.exportRoot(join(elsewhere, "pawl.db"), "r_a", [graph.hash]);
    await reader.store.backup(join(elsewhere, "whole.db"));
    const copy = await openStore({ home: elsewhere, mode: "owner" });
    for (const id of ["r_a", "r_a/graph"]) {
      expect(await copy.store.load([id])).toEqual(await owner.store.load([id]));
      expect(await copy.store.journal(id, 1, 10)).toEqual(await owner.store.journal(id, 1, 10));
    }
    expect(await copy.store.query("runs", {})).toEqual(await owner.store.query("runs", { id: "r_a" }));
    expect(await copy.store.query("effects", {})).toEqual(await owner.store.query("effects", { root: "r_a" }));
    expect(await copy.store.query("updates", {})).toEqual(await owner.store.query("updates", { run: "r_a" }));
    expect(await copy.store.query("decisions", {})).toEqual(await owner.store.query("decisions", { run: "r_a" }));
    expect(await copy.store.inbox("r_a/graph", "answer")).toEqual(await owner.store.inbox("r_a/graph", "answer"));
    expect(await has(copy.store, ownA, ownB, shared, graph)).toEqual([true, false, true, true]);
    expect(await copy.store.lastAt()).toBe(await owner.store.lastAt());
    expect([await copy.store.check(), await copy.store.orphans()]).toEqual([[], []]);
    await copy.release();
    await reader.release();
    await owner.release();
  });
});

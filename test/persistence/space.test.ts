import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../persistence/database.ts";
import { openStore, type SqliteStore } from "../../persistence/index.ts";
import { sqliteStore } from "../../persistence/sqliteStore.ts";
import { blobOf, stepOf } from "../contract/storeRecords.ts";
import { canMount, smallFileSystem, temporaryDirectory } from "./places.ts";

/** Commits until the store is full; returns the last revision that was acknowledged. Groups of three show that none of a failed group is kept. */
async function fill(store: SqliteStore, from = 1): Promise<number> {
  for (let revision = from; revision < from + 30_000; revision += 3) {
    const group = [0, 1, 2].map((n) => stepOf("a", revision + n, { blobs: [blobOf(`${revision + n} `.repeat(2_000))] }));
    try {
      const results = await store.commit(group);
      expect(results.map(({ status }) => status)).toEqual(["committed", "committed", "committed"]);
    } catch (error) {
      expect(error).toMatchObject({
        code: "storageFull",
        kind: "environment",
        message: expect.stringMatching(/No space left.*nothing of this step was written.*Free space/),
      });
      return revision - 1;
    }
  }
  throw new Error("the store never became full");
}

async function expectUpTo(store: SqliteStore, revision: number): Promise<void> {
  expect((await store.load(["a"]))[0]?.revision).toBe(revision);
  expect(await store.journal("a", revision, 10)).toHaveLength(1);
  expect(await store.blob(blobOf(`${revision + 1} `.repeat(2_000)).hash)).toBeNull();
  expect(await store.check()).toEqual([]);
}

describe("a full disk", () => {
  test("STORE-10 case 136 refuses the whole group, keeps all that was acknowledged, and goes on when there is room again", async () => {
    const path = join(temporaryDirectory(), "pawl.db");
    const db = openDatabase(path, { mode: "owner" });
    const store = sqliteStore(db);
    db.pragma("max_page_count = 200");
    const last = await fill(store);
    expect(last).toBeGreaterThan(3);
    await expectUpTo(store, last);
    await expect(store.commit([stepOf("a", last + 1, { blobs: [blobOf("x".repeat(900_000))] })])).rejects.toMatchObject({ code: "storageFull" });
    db.pragma("max_page_count = 400");
    expect(await fill(store, last + 1)).toBeGreaterThan(last + 3);
    await store.close();
  });

  test.runIf(canMount)("STORE-10 case 136 on a real small file system: what was acknowledged survives, in the open store and after a restart", async () => {
    const place = smallFileSystem(3_072);
    const ballast = join(place, "ballast");
    writeFileSync(ballast, Buffer.alloc(1_024 * 1_024));
    const home = join(place, "state");
    const first = await openStore({ home, mode: "owner" });
    const last = await fill(first.store);
    expect(last).toBeGreaterThan(3);
    await expectUpTo(first.store, last);
    rmSync(ballast);
    expect((await first.store.commit([stepOf("a", last + 1)]))[0]?.status).toBe("committed");
    await first.release();
    const second = await openStore({ home, mode: "owner" });
    await expectUpTo(second.store, last + 1);
    await second.release();
  });
});

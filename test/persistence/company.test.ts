import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../persistence/database.ts";
import { openStore } from "../../persistence/index.ts";
import { sqliteStore } from "../../persistence/sqliteStore.ts";
import { blobOf, stepOf } from "../contract/storeRecords.ts";
import { startChild, temporaryDirectory } from "./places.ts";

describe("several processes at one database", () => {
  test("STORE-19 case 129 four that write at the same time wait for each other, and no write is refused or lost", async () => {
    const home = temporaryDirectory();
    const path = join(home, "pawl.db");
    const children = ["a", "b", "c", "d"].map((actor) => startChild("rival.ts", [path, actor, "250"]));
    expect(await Promise.all(children.map((child) => child.line(() => true)))).toEqual(["done 250", "done 250", "done 250", "done 250"]);
    await Promise.all(children.map(({ ended }) => ended));
    const { store, release } = await openStore({ home, mode: "owner" });
    const seqs = (await Promise.all(["a", "b", "c", "d"].map((actor) => store.journal(actor, 1, 1_000)))).flat().map(({ seq }) => seq);
    expect(seqs.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 1_000 }, (_, n) => n + 1));
    expect(await store.check()).toEqual([]);
    await release();
  });

  test("STORE-19 an opening waits while another process is making the file", async () => {
    const path = join(temporaryDirectory(), "pawl.db");
    const holder = startChild("holder.ts", [path, "begin immediate", "400"]);
    await holder.line((line) => line === "held");
    const db = openDatabase(path, { mode: "owner" });
    expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
    db.close();
    await expect(holder.ended).resolves.toMatchObject({ code: 0 });
  });

  test("STORE-11 case 133 an owner and two readers killed again and again leave a sound database", async () => {
    const home = temporaryDirectory();
    await (await openStore({ home, mode: "owner" })).release();
    let before = 0;
    for (let round = 0; round < 6; round += 1) {
      const owner = startChild("writer.ts", [home]);
      const readers = [startChild("looker.ts", [home]), startChild("looker.ts", [home])];
      await Promise.all(readers.map((reader) => reader.line((line) => Number(line.slice(4)) > before)));
      for (const child of round % 2 ? [...readers, owner] : [owner, ...readers]) child.kill("SIGKILL");
      for (const child of [owner, ...readers]) expect((await child.ended).errors).toBe("");
      const { store, release } = await openStore({ home, mode: "owner" });
      const after = (await store.load(["a"]))[0]?.revision ?? 0;
      expect(after).toBeGreaterThan(before);
      expect(await store.check()).toEqual([]);
      await release();
      before = after;
    }
  });

  test("STORE-12 case 134 readers that look all the time do not let the write-ahead log grow without bound", async () => {
    const home = temporaryDirectory();
    const { store, release } = await openStore({ home, mode: "owner" });
    await store.commit([stepOf("a", 1)]);
    const reader = startChild("looker.ts", [home]);
    await reader.line((line) => line === "saw 1");
    let [largest, written] = [0, 0];
    for (let revision = 2; revision <= 1_000; revision += 1) {
      const blob = blobOf(`${revision} `.repeat(8_000));
      written += blob.bytes.length;
      await store.commit([stepOf("a", revision, { blobs: [blob] })]);
      largest = Math.max(largest, statSync(join(home, "pawl.db-wal")).size);
    }
    // A log is folded back at 4 MB, or somewhat later when a reader was in the way.
    expect(written).toBeGreaterThan(30_000_000);
    expect(largest).toBeLessThan(written / 2);
    reader.kill("SIGKILL");
    await reader.ended;
    await release();
  });

  test("STORE-10 a database that another program holds locked is reported, and nothing is written", async () => {
    const path = join(temporaryDirectory(), "pawl.db");
    const store = sqliteStore(openDatabase(path, { mode: "owner", busyTimeoutMs: 50 }));
    const other = openDatabase(path, { mode: "owner" });
    other.exec("begin immediate");
    await expect(store.commit([stepOf("a", 1)])).rejects.toMatchObject({
      code: "storageFailed",
      message: expect.stringContaining("another program holds it locked"),
    });
    other.exec("rollback");
    expect((await store.commit([stepOf("a", 1)]))[0]?.status).toBe("committed");
    other.close();
    await store.close();
  });
});

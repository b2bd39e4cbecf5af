import { setTimeout } from "node:timers/promises";
import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStore, readOwner } from "../../persistence/index.ts";
import { stepOf } from "../contract/storeRecords.ts";
import { startChild, temporaryDirectory } from "./places.ts";

describe("an owner that lost its state directory", () => {
  test("STORE-27 to a process that came after its lock file was deleted changes nothing, and is refused for good", async () => {
    const home = temporaryDirectory();
    const stale = await openStore({ home, mode: "owner", command: "first" });
    await stale.store.commit([stepOf("a", 1)]);
    rmSync(join(home, "pawl.lock"));
    const next = await openStore({ home, mode: "owner", command: "second" });
    const refusal = { code: "ownedElsewhere", subject: home, message: expect.stringMatching(/took the state directory .* over.*writes nothing more/) };
    await expect(stale.store.commit([stepOf("a", 2)])).rejects.toMatchObject(refusal);
    // One that could not be written anyway is no "conflict", which its sender would try again.
    await expect(stale.store.commit([stepOf("a", 7), stepOf("b", 1)])).rejects.toMatchObject(refusal);
    await expect(stale.store.prune({ root: "a", blobs: [], isKept: () => false, at: 1 })).rejects.toMatchObject(refusal);
    await expect(stale.store.forgetPruned(1, () => false)).rejects.toMatchObject(refusal);
    await expect(stale.store.shrink()).rejects.toMatchObject(refusal);
    expect((await next.store.load(["a", "b"])).map(({ id, revision }) => [id, revision])).toEqual([["a", 1]]);
    expect(await next.store.commit([stepOf("a", 2)])).toMatchObject([{ status: "committed" }]);
    await expect(stale.store.commit([stepOf("a", 3)])).rejects.toMatchObject(refusal);
    expect((await stale.store.load(["a"]))[0]?.revision).toBe(2);
    await stale.release();
    expect(readOwner(home)?.command).toBe("second");
    expect(await next.store.commit([stepOf("a", 3)])).toMatchObject([{ status: "committed" }]);
    await next.release();
    await expect(stale.store.commit([stepOf("a", 4)])).rejects.toMatchObject({ code: "closed" });
    expect(existsSync(join(home, "owner.json"))).toBe(false);
  });

  test("STORE-27 because its database was deleted, moved or replaced acknowledges nothing more", async () => {
    const ways: readonly ((home: string, path: string) => void)[] = [
      (_, path) => rmSync(path),
      (home) => renameSync(home, `${home}.aside`),
      (_, path) => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ];
    for (const lose of ways) {
      const home = join(temporaryDirectory(), "state");
      const { store, path, release } = await openStore({ home, mode: "owner" });
      expect(await store.commit([stepOf("a", 1)])).toMatchObject([{ status: "committed" }]);
      lose(home, path);
      await setTimeout(11);
      const refusal = { code: "storageDamaged", subject: path, message: expect.stringMatching(/deleted, moved or replaced.*writes nothing more/) };
      await expect(store.commit([stepOf("a", 2)])).rejects.toMatchObject(refusal);
      await expect(store.commit([stepOf("a", 2)])).rejects.toMatchObject(refusal);
      await expect(store.shrink()).rejects.toMatchObject(refusal);
      expect((await store.load(["a"]))[0]?.revision).toBe(1);
      await release();
    }
  });

  test("STORE-27 to another process writes nothing after that one has opened, while it was committing all the time", async () => {
    const home = temporaryDirectory();
    const stale = startChild("writer.ts", [home]);
    await stale.line((line) => line === "committed 20");
    rmSync(join(home, "pawl.lock"));
    const next = await openStore({ home, mode: "owner" });
    const [taken] = await next.store.load(["a"]);
    const { code, errors } = await stale.ended;
    expect(code).not.toBe(0);
    expect(errors).toContain("ownedElsewhere");
    expect((await next.store.load(["a"]))[0]?.revision).toBe(taken?.revision);
    expect(stale.lines).not.toContain(`committed ${(taken?.revision ?? 0) + 1}`);
    expect(await next.store.commit([stepOf("a", (taken?.revision ?? 0) + 1)])).toMatchObject([{ status: "committed" }]);
    await next.release();
  });
});

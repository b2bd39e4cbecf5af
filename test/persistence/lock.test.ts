import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStore, readOwner } from "../../persistence/index.ts";
import { stepOf } from "../contract/storeRecords.ts";
import { canMount, smallFileSystem, startChild, temporaryDirectory } from "./places.ts";

describe("ownership of a state directory", () => {
  test("STORE-6 case 45 a second owner is told who the first is and what to do, and the first goes on", async () => {
    const home = temporaryDirectory();
    const first = startChild("opener.ts", [home, "owner"]);
    await first.line((line) => line === "opened");
    const refusal = await openStore({ home, mode: "owner" }).then(
      () => new Error("opened"),
      (error: Error) => error,
    );
    expect(refusal).toMatchObject({ code: "ownedElsewhere", kind: "environment", subject: home });
    expect(refusal.message).toMatch(new RegExp(`owned by process ${first.pid} \\(opener on .+, since 20\\d\\d-.+Z\\).*kill ${first.pid}.*PAWL_HOME=`));
    expect(readOwner(home)).toMatchObject({ pid: first.pid, command: "opener" });
    first.kill("SIGKILL");
    await first.ended;
  });

  test("STORE-6 an owner that is just leaving is waited for", async () => {
    const home = temporaryDirectory();
    const leaving = startChild("holder.ts", [join(home, "pawl.lock"), "begin exclusive", "80"]);
    await leaving.line((line) => line === "held");
    await (await openStore({ home, mode: "owner" })).release();
  });

  test("STORE-6 two owners in one process exclude each other too", async () => {
    const home = temporaryDirectory();
    const first = await openStore({ home, mode: "owner" });
    await expect(openStore({ home, mode: "owner" })).rejects.toMatchObject({ code: "ownedElsewhere" });
    // The refused attempt must not have loosened the first one's lock.
    const child = startChild("opener.ts", [home, "owner"]);
    expect(JSON.parse(await child.line(() => true))).toMatchObject({ code: "ownedElsewhere" });
    expect((await first.store.commit([stepOf("a", 1)]))[0]?.status).toBe("committed");
    await first.release();
    await first.release();
    await (await openStore({ home, mode: "owner" })).release();
  });

  test("STORE-6 kill -9 frees it at once, and what the dead owner wrote about itself keeps nobody out", async () => {
    const home = temporaryDirectory();
    for (let round = 0; round < 3; round += 1) {
      const child = startChild("opener.ts", [home, "owner"]);
      await child.line((line) => line === "opened");
      child.kill("SIGKILL");
      await child.ended;
      expect(readOwner(home)?.pid).toBe(child.pid);
    }
    // A living process that happens to have the dead owner's pid changes nothing.
    writeFileSync(join(home, "owner.json"), JSON.stringify({ pid: process.pid, host: "h", since: "s", command: "c" }));
    const { owner, release } = await openStore({ home, mode: "owner", command: "pawl run" });
    expect(readOwner(home)).toEqual(owner);
    expect(owner).toMatchObject({ pid: process.pid, command: "pawl run" });
    await release();
    expect(existsSync(join(home, "owner.json"))).toBe(false);
  });

  test("STORE-6 an owner that says nothing readable about itself still keeps others out", async () => {
    const home = temporaryDirectory();
    const { release } = await openStore({ home, mode: "owner" });
    for (const text of ["{", "[]", '{"pid":"12"}', ""]) {
      writeFileSync(join(home, "owner.json"), text);
      await expect(openStore({ home, mode: "owner" })).rejects.toMatchObject({
        code: "ownedElsewhere",
        message: expect.stringContaining("has not said who it is"),
      });
    }
    await release();
  });

  test("STORE-6 a refused database gives the directory free again", async () => {
    const home = temporaryDirectory();
    writeFileSync(join(home, "pawl.db"), "no database ".repeat(100));
    for (let round = 0; round < 2; round += 1) await expect(openStore({ home, mode: "owner" })).rejects.toMatchObject({ code: "storageDamaged" });
  });

  test("STORE-6 a lock file that Pawl did not make is refused, with the command that removes it", async () => {
    const home = temporaryDirectory();
    writeFileSync(join(home, "pawl.lock"), "pid 1234, do not remove\n".repeat(100));
    await expect(openStore({ home, mode: "owner" })).rejects.toMatchObject({
      code: "storageDamaged",
      message: expect.stringContaining(`rm ${home}/pawl.lock`),
    });
    expect(readFileSync(join(home, "pawl.lock"), "utf8")).toContain("do not remove");
  });

  test.runIf(canMount)("STORE-10 on a disk without any space the refusal says so", async () => {
    const place = smallFileSystem(64);
    try {
      writeFileSync(join(place, "ballast"), Buffer.alloc(1024 * 1024));
    } catch {
      // Full is what it is meant to be.
    }
    await expect(openStore({ home: place, mode: "owner" })).rejects.toMatchObject({ code: "storageFull", message: expect.stringContaining("df -h") });
  });
});

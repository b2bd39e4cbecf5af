import { describe, expect, test } from "vitest";
import { openStore } from "../../persistence/index.ts";
import { startChild, temporaryDirectory } from "./places.ts";

/** Opens what a killed writer left: it must be sound and hold exactly the steps up to its revision, whole ones only. */
async function revisionAfter(home: string): Promise<number> {
  const { store, release } = await openStore({ home, mode: "owner" });
  const [actor] = await store.load(["a"]);
  const revision = actor?.revision ?? 0;
  const journal = await store.journal("a", 1, 1_000_000);
  expect(await store.check()).toEqual([]);
  expect(journal.map((row) => row.revision)).toEqual(Array.from({ length: revision }, (_, n) => n + 1));
  expect((await store.timers("a")).map(({ key }) => key)).toEqual(revision === 0 ? [] : [`t${revision}`]);
  expect(await store.lastAt()).toBe(revision === 0 ? 0 : 1_000 + revision);
  await release();
  return revision;
}

const acknowledged = (lines: readonly string[]): number => lines.filter((line) => line.startsWith("committed ")).length;

describe("a writer ended by SIGKILL", () => {
  test("STORE-11 just before a commit has not written it, just after it has", async () => {
    const home = temporaryDirectory();
    let before = 0;
    for (const [when, number] of [
      ["before", 1],
      ["after", 1],
      ["before", 4],
      ["after", 3],
    ] as const) {
      const child = startChild("writer.ts", [home, String(number), when]);
      expect((await child.ended).signal).toBe("SIGKILL");
      expect(acknowledged(child.lines)).toBe(number - 1);
      const after = await revisionAfter(home);
      expect(after).toBe(before + (when === "before" ? number - 1 : number));
      before = after;
    }
  });

  test("STORE-11 at any moment has lost nothing that was acknowledged, ten times over one file", async () => {
    const home = temporaryDirectory();
    let before = 0;
    for (let round = 0; round < 10; round += 1) {
      const child = startChild("writer.ts", [home]);
      const enough = before + 5 + ((round * 37) % 90);
      await child.line((line) => line === `committed ${enough}`);
      child.kill("SIGKILL");
      expect((await child.ended).signal).toBe("SIGKILL");
      const told = before + acknowledged(child.lines);
      const after = await revisionAfter(home);
      expect(after).toBeGreaterThanOrEqual(told);
      // At most the one step whose acknowledgement the kill cut off, and what the pipe had not delivered.
      expect(after).toBeLessThanOrEqual(told + 1);
      before = after;
    }
    expect(before).toBeGreaterThan(100);
  });
});

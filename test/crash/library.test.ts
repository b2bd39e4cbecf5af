/** API-18 A process with `openPawl` under load is killed: no acknowledged event is lost, no result or timer counts twice, the file is sound. */
import { describe, expect, test } from "vitest";
import type { FaultPoint } from "../../src/index.ts";
import { Books, seeded } from "./libraryKit.ts";

const seed = Number(process.env["PAWL_TEST_SEED"] ?? 1);
const kills = Number(process.env["PAWL_TEST_KILLS"] ?? 500);
const accounts = ["account-0", "account-1", "account-2", "account-3"];

/** In ten kills: two inside a commit, two right after one, one before and one after an effect, four at any moment. */
const points: readonly (FaultPoint | null)[] = [
  "before-commit",
  null,
  "after-commit",
  null,
  "before-effect",
  "before-commit",
  null,
  "after-commit",
  null,
  "after-effect",
];

describe("kill -9 of a process that uses the library", () => {
  for (const half of [0, 1]) {
    test.concurrent(
      `API-18, case 41, case 53, case 56, case 133 half ${half + 1} of ${kills} kills under load, seed ${seed}`,
      { timeout: 600_000 },
      async () => {
        const random = seeded(seed * 2 + half);
        const books = new Books();
        await books.warm();
        let inCommit = 0;
        let ready = 0;
        for (let kill = 0; kill < kills / 2; kill += 1) {
          const point = points[kill % points.length] ?? null;
          const { signal, wasReady } = await books.life(
            point === null ? { actors: accounts, killAfter: random() * 60 } : { actors: accounts, stop: `${point}:${1 + Math.floor(random() * 40)}` },
          );
          expect(signal, `kill ${kill} at ${point ?? "any moment"}`).toBe("SIGKILL");
          if (point === "before-commit") inCommit += 1;
          if (wasReady) ready += 1;
          // A fault is found near the kill that made it.
          if (kill % 50 === 49) await books.audit();
        }
        await books.audit();
        expect(inCommit).toBeGreaterThanOrEqual(kills / 20);
        // Most of them did something between their start and their end.
        expect(ready).toBeGreaterThan(kills / 8);
        expect(books.acknowledged.size).toBeGreaterThan(kills);
        books.remove();
      },
    );
  }

  test(
    "API-18, case 44, case 45, case 46 three processes that take turns at one actor, each killed or closed, lose and repeat nothing",
    { timeout: 600_000 },
    async () => {
      const random = seeded(seed + 77);
      const books = new Books();
      await books.warm();
      const lives = Math.max(30, Math.floor(kills / 8));
      let begun = 0;
      let waitedForOwner = 0;
      let killed = 0;
      const contender = async (): Promise<void> => {
        while (begun < lives) {
          begun += 1;
          const { signal, sawOwner } = await books.life({
            actors: ["shared"],
            inFlight: 5,
            contended: true,
            ...(random() < 0.7 ? { killAfter: random() * 40 } : { events: 20 }),
          });
          if (sawOwner) waitedForOwner += 1;
          if (signal === "SIGKILL") killed += 1;
        }
      };
      await Promise.all([contender(), contender(), contender()]);
      await books.audit();
      expect(killed).toBeGreaterThan(lives / 3);
      expect(waitedForOwner).toBeGreaterThan(lives / 4);
      books.remove();
    },
  );
});

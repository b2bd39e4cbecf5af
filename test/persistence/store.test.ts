import { join } from "node:path";
import BetterSqlite, { type Database } from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { groupWriter } from "../../persistence/commit.ts";
import { openDatabase } from "../../persistence/database.ts";
import { memoryStore, openStore, type Commit, type SqliteStore } from "../../persistence/index.ts";
import { storeContract } from "../contract/store.ts";
import { actorOf, commitOf, effectOf, journalOf, runOf, stepOf, timerOf } from "../contract/storeRecords.ts";
import { temporaryDirectory } from "./places.ts";

storeContract("the store in a file", async () => {
  const { store, release } = await openStore({ home: temporaryDirectory(), mode: "owner" });
  return { store, close: release };
});

storeContract("the store in memory", async () => {
  const store = memoryStore();
  return { store, close: () => store.close() };
});

describe("a group of commits", () => {
  const ids = ["a", "b"];
  const id = fc.constantFrom(...ids);
  const revision = fc.integer({ min: 0, max: 3 });
  /** Anything a buggy or late sender may ask for: right and wrong revisions, timers, effects and reservations. */
  const anyCommit: fc.Arbitrary<Commit> = fc
    .record({
      actor: id,
      expected: revision,
      rise: fc.integer({ min: -1, max: 2 }),
      at: fc.integer({ min: 0, max: 50 }),
      timer: id,
      fires: fc.boolean(),
      effect: fc.integer({ min: 0, max: 2 }),
      known: fc.boolean(),
      reserves: fc.boolean(),
      run: id,
      answered: id,
    })
    .map(({ actor, expected, rise, at, timer, fires, effect, known, reserves, run, answered }) =>
      commitOf({
        at,
        expects: { [actor]: expected },
        actors: [actorOf(actor, { revision: expected + rise })],
        journal: rise > 0 ? [journalOf(actor, expected + rise)] : [],
        timers: [{ op: "set", timer: timerOf(actor, timer, { revision: expected }) }],
        requiresTimers: fires ? [{ actor, key: timer, revision: expected - 1 }] : [],
        effects:
          effect === 0
            ? []
            : [
                known
                  ? { expect: { state: "planned", attempt: 1 }, record: effectOf(actor, effect, { state: "dropped" }) }
                  : { expect: null, record: effectOf(actor, effect) },
              ],
        inbox: effect === 2 ? [{ actor, eventId: answered, fingerprint: "0".repeat(64), receipt: "{}", event: null, at }] : [],
        rows: [{ table: "runs", row: runOf(run, { session: "s", reserves }) }],
      }),
    );

  test("STORE-9 commits the same as its entries one by one, in any mix of good and bad", async () => {
    const seen = { committed: 0, conflict: 0, constraint: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCommit, { minLength: 1, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
        async (commits, sizes) => {
          const [single, grouped] = [memoryStore(), memoryStore()];
          try {
            const oneByOne = [];
            for (const commit of commits) oneByOne.push(...(await single.commit([commit])));
            const inGroups = [];
            for (const group of split(commits, sizes)) inGroups.push(...(await grouped.commit(group)));
            expect(inGroups).toEqual(oneByOne);
            for (const { status } of oneByOne) seen[status] += 1;
            expect(await contentOf(grouped)).toEqual(await contentOf(single));
          } finally {
            await Promise.all([single.close(), grouped.close()]);
          }
        },
      ),
      { numRuns: 150, seed: 20_300_101 },
    );
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(20);
  });

  function split(commits: readonly Commit[], sizes: readonly number[]): Commit[][] {
    const groups: Commit[][] = [];
    for (let from = 0, n = 0; from < commits.length; n += 1) {
      const size = sizes[n % sizes.length] ?? 1;
      groups.push(commits.slice(from, from + size));
      from += size;
    }
    return groups;
  }

  async function contentOf(store: SqliteStore): Promise<unknown> {
    return {
      actors: await store.load(ids),
      journal: await Promise.all(ids.map((actor) => store.journal(actor, 0, 100))),
      timers: await Promise.all(ids.map((actor) => store.timers(actor))),
      effects: (await store.query("effects", {})).items,
      inbox: await Promise.all(ids.flatMap((actor) => ids.map((eventId) => store.inbox(actor, eventId)))),
      runs: (await store.query("runs", {})).items,
      lastAt: await store.lastAt(),
      faults: await store.check(),
    };
  }
});

describe("hooks", () => {
  test("STORE-21 each written transaction is counted once, before and after it is durable; a refused one is not", async () => {
    const seen: string[] = [];
    const store = memoryStore({ beforeCommit: (n) => seen.push(`before ${n}`), afterCommit: (n) => seen.push(`after ${n}`) });
    await store.commit([stepOf("a", 1), stepOf("b", 1)]);
    await store.commit([stepOf("a", 9)]);
    await store.commit([stepOf("a", 9), stepOf("a", 2)]);
    expect(seen).toEqual(["before 1", "after 1", "before 2", "after 2"]);
    await store.close();
  });

  test("STORE-21 what fails before the commit is not written, and the store goes on", async () => {
    let fail = true;
    const store = memoryStore({
      beforeCommit() {
        if (fail) throw new Error("stop here");
      },
    });
    await expect(store.commit([stepOf("a", 1)])).rejects.toThrow("stop here");
    fail = false;
    expect(await store.load(["a"])).toEqual([]);
    expect(await store.commit([stepOf("a", 1)])).toEqual([{ status: "committed", seqs: [1] }]);
    await store.close();
  });
});

describe("a failed flush", () => {
  test("STORE-26 after it the store takes nothing more until it is opened again", async () => {
    const home = temporaryDirectory();
    const db = openDatabase(join(home, "pawl.db"), { mode: "owner" });
    const write = groupWriter(failingAtCommit(db), db.name);
    expect(() => write([stepOf("a", 1)])).toThrow(expect.objectContaining({ code: "storageFailed", message: expect.stringContaining("SQLITE_IOERR_FSYNC") }));
    expect(db.inTransaction).toBe(false);
    expect(() => write([stepOf("a", 1)])).toThrow(expect.objectContaining({ code: "storageFailed" }));
    db.close();
    const { store, release } = await openStore({ home, mode: "owner" });
    expect((await store.commit([stepOf("a", 1)]))[0]?.status).toBe("committed");
    await release();
  });

  /** No file system here fails to flush on demand, so the first commit says what SQLite would; a second would succeed. */
  function failingAtCommit(db: Database): Database {
    let failures = 1;
    return new Proxy(db, {
      get(target, name) {
        if (name === "inTransaction") return target.inTransaction;
        if (name !== "prepare") return Reflect.get(target, name);
        return (sql: string) => {
          const statement = target.prepare(sql);
          if (sql !== "commit") return statement;
          return {
            run() {
              if (failures-- > 0) throw new BetterSqlite.SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");
              return statement.run();
            },
          };
        };
      },
    });
  }
});

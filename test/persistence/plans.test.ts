import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../persistence/database.ts";
import { actorsSource, decisionsSource, effectsSource, pageSql, runsSource, updatesSource } from "../../persistence/pages.ts";
import { selectMeta, updateMeta } from "../../persistence/commit.ts";
import { selectGeneration } from "../../persistence/fence.ts";
import * as actors from "../../persistence/tables/actors.ts";
import * as blobs from "../../persistence/tables/blobs.ts";
import * as decisions from "../../persistence/tables/decisions.ts";
import * as effects from "../../persistence/tables/effects.ts";
import * as inbox from "../../persistence/tables/inbox.ts";
import * as journal from "../../persistence/tables/journal.ts";
import * as runs from "../../persistence/tables/runs.ts";
import * as updates from "../../persistence/tables/updates.ts";
import * as timers from "../../persistence/tables/timers.ts";
import { sqliteStore } from "../../persistence/sqliteStore.ts";
import type { Commit } from "../../persistence/store.ts";
import { effectOf, stepOf, timerOf } from "../contract/storeRecords.ts";
import { temporaryDirectory } from "./places.ts";

const db = openDatabase(":memory:", { mode: "owner" });
afterAll(() => db.close());

/** What SQLite does for a statement, a line each; parameters stand for nothing. */
function planOf(sql: string): string[] {
  const parameters: { [name: string]: number } = {};
  for (const [, name = ""] of sql.matchAll(/:([A-Za-z]+)/g)) parameters[name] = 0;
  const count = (sql.match(/\?/g) ?? []).length;
  const statement = db.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`);
  return (
    count > 0 ? statement.all(...Array.from({ length: count }, () => 0)) : Object.keys(parameters).length > 0 ? statement.all(parameters) : statement.all()
  ).map(({ detail }) => detail);
}

/** Every statement of the tables' modules, by name. */
const hot = Object.entries({
  ...actors,
  ...blobs,
  ...decisions,
  ...effects,
  ...inbox,
  ...journal,
  ...runs,
  ...timers,
  ...updates,
  selectMeta,
  updateMeta,
  selectGeneration,
}).filter((entry): entry is [string, string] => typeof entry[1] === "string" && /^(select|insert|update|delete)/.test(entry[1]));

describe("the cost of a step does not grow with history", () => {
  test("STORE-13 all statements of the tables are looked at", () => {
    expect(hot.length).toBeGreaterThanOrEqual(25);
  });

  test.each(hot)("STORE-13 %s finds its rows by an index and never sorts", (_, sql) => {
    const plan = planOf(sql);
    expect(plan.filter((line) => /TEMP B-TREE/.test(line))).toEqual([]);
    expect(plan.filter((line) => line.startsWith("SCAN"))).toEqual([]);
  });

  const lists = [
    ...[[], ["id"], ["workflow"], ["session"]].flatMap((filtered) =>
      [undefined, "running"].map((state) => ({ source: "runs", filtered, state, sql: pageSql(runsSource, filtered, state) })),
    ),
    ...[[], ["id"], ["run"], ["code"]].flatMap((filtered) =>
      [undefined, "open"].map((state) => ({ source: "decisions", filtered, state, sql: pageSql(decisionsSource, filtered, state) })),
    ),
    ...[[], ["id"], ["run"]].map((filtered) => ({ source: "updates", filtered, state: undefined, sql: pageSql(updatesSource, filtered, undefined) })),
    ...[[], ["root"], ["parent"], ["machineId"]].flatMap((filtered) =>
      [undefined, "active"].map((state) => ({ source: "actors", filtered, state, sql: pageSql(actorsSource, filtered, state) })),
    ),
    ...[[], ["key"], ["actor"], ["root"], ["visit"]].flatMap((filtered) =>
      [undefined, "confirmed", "ambiguous"].map((state) => ({ source: "effects", filtered, state, sql: pageSql(effectsSource, filtered, state) })),
    ),
  ];
  test.each(lists)("STORE-13 a page of $source by $filtered in state $state is read in order from an index", ({ sql }) => {
    const plan = planOf(sql);
    expect(plan.filter((line) => /^SCAN|TEMP B-TREE/.test(line))).toEqual([]);
    expect(plan[0]).toMatch(/USING INDEX/);
  });

  test.each([[], ["actor"], ["root"]])("STORE-13 open effects, by %s, are found among the open ones only", (...filtered) => {
    for (const state of ["planned", "attempting"]) expect(planOf(pageSql(effectsSource, filtered, state))[0]).toMatch(/effects_open/);
  });

  test("STORE-13 case 120 a step of an actor with 5,000 steps behind it writes as many pages as one with ten", async () => {
    const path = join(temporaryDirectory(), "pawl.db");
    const file = openDatabase(path, { mode: "owner" });
    const store = sqliteStore(file);
    const step = (revision: number): Commit => {
      const record = effectOf("a", revision, { visit: `a/n.${revision}` });
      const earlier = effectOf("a", revision - 1, { state: "confirmed", output: { json: "1" } });
      const effects = [{ expect: null, record }, ...(revision === 1 ? [] : [{ expect: { state: "planned", attempt: 1 } as const, record: earlier }])];
      return stepOf("a", revision, { effects, timers: [{ op: "set", timer: timerOf("a", "t", { revision }) }] });
    };
    const upTo = async (from: number, to: number): Promise<void> => {
      for (let first = from; first <= to; first += 500) await store.commit(Array.from({ length: Math.min(500, to - first + 1) }, (_, n) => step(first + n)));
    };
    /** Pages that a commit of one step writes, on average over forty: now and then one splits a page. */
    const pagesOf = async (from: number): Promise<number> => {
      let pages = 0;
      for (let revision = from; revision < from + 40; revision += 1) {
        file.pragma("wal_checkpoint(truncate)");
        expect((await store.commit([step(revision)]))[0]?.status).toBe("committed");
        pages += Math.floor(statSync(`${path}-wal`).size / 4_096);
      }
      return pages / 40;
    };
    await upTo(1, 10);
    const early = await pagesOf(11);
    await upTo(51, 5_000);
    const late = await pagesOf(5_001);
    expect(early).toBeGreaterThan(5);

    expect(late).toBeLessThan(early * 1.2);
    await store.close();
  });
});

/** What every Store must do, as tests that run on any of them. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Commit, CommitResult, Projection, Projections, Store } from "../../persistence/store.ts";
import { actorOf, blobOf, commitOf, decisionOf, effectOf, journalOf, runOf, sha256, stepOf, timerOf, updateOf } from "./storeRecords.ts";

const committed = { status: "committed", seqs: expect.any(Array) };

/** Runs the whole contract on the stores that `open` makes, each new and empty; `close` ends one. */
export function storeContract(name: string, open: () => Promise<{ store: Store; close: () => Promise<void> }>): void {
  describe(`${name} keeps the contract of a store`, () => {
    let store: Store;
    let close: () => Promise<void>;

    beforeEach(async () => {
      ({ store, close } = await open());
    });
    afterEach(() => close());

    const one = async (commit: Commit): Promise<CommitResult> => {
      const [result] = await store.commit([commit]);
      if (result === undefined) throw new Error("no result for a commit");
      return result;
    };
    const write = async (...commits: Commit[]): Promise<void> => {
      for (const commit of commits) expect(await one(commit)).toEqual(committed);
    };

    test("STORE-8 an actor is read back exactly as it was written, and missing ones are left out", async () => {
      const child = actorOf("r/graph", { parent: "r", childKey: "graph", systemId: "the graph", root: "r", snapshot: '{"value":"ä 🦀 \\u0000"}' });
      await write(commitOf({ expects: { r: 0, "r/graph": 0 }, actors: [child, actorOf("r")] }));
      expect(await store.load(["r/graph", "nobody", "r"])).toEqual([child, actorOf("r")]);
      expect(await store.load([])).toEqual([]);
    });

    test("STORE-8 a commit that expects another revision is a conflict and writes nothing", async () => {
      await write(stepOf("a", 1), stepOf("a", 2));
      for (const expected of [0, 1, 3]) {
        const late = stepOf("a", 3, {
          expects: { a: expected, b: 0 },
          actors: [actorOf("b"), actorOf("a", { revision: 4 })],
          timers: [{ op: "set", timer: timerOf("a", "t") }],
          blobs: [blobOf("lost")],
        });
        expect(await one(late)).toEqual({ status: "conflict", thing: expect.stringContaining("actor a") });
      }
      expect((await store.load(["a", "b"])).map(({ id, revision }) => [id, revision])).toEqual([["a", 2]]);
      expect(await store.timers("a")).toEqual([]);
      expect(await store.blob(sha256("lost"))).toBeNull();
      expect(await store.journal("a", 1, 10)).toHaveLength(2);
    });

    test("STORE-8 the revision of an actor that is only read is checked too", async () => {
      await write(stepOf("a", 1));
      expect(await one(stepOf("b", 1, { expects: { b: 0, a: 2 } }))).toMatchObject({ status: "conflict" });
      expect(await one(stepOf("b", 1, { expects: { b: 0, gone: 1 } }))).toMatchObject({ status: "conflict" });
      expect(await one(stepOf("b", 1, { expects: { b: 0, a: 0 } }))).toMatchObject({ status: "conflict" });
      expect(await one(stepOf("b", 1, { expects: { b: 0, a: 1, gone: 0 } }))).toEqual(committed);
    });

    test("STORE-8 an actor is never written without an expected revision, and its revision never falls", async () => {
      await write(stepOf("a", 1), stepOf("a", 2));
      expect(await one(commitOf({ actors: [actorOf("a", { revision: 3 })] }))).toMatchObject({ status: "constraint", rule: "written_actor_is_expected" });
      expect(await one(commitOf({ expects: { a: 2 }, actors: [actorOf("a", { revision: 1 })] }))).toMatchObject({
        status: "constraint",
        rule: "revision_never_falls",
      });
    });

    test("STORE-8 a step changes revision, snapshot, status, machine version and digest, several revisions at once", async () => {
      await write(stepOf("a", 1));
      const after = actorOf("a", {
        revision: 4,
        status: "done",
        machineVersion: "2",
        definitionDigest: sha256("new"),
        snapshot: '{"value":"end"}',
        updatedAt: 9,
      });
      await write(commitOf({ expects: { a: 1 }, actors: [after] }));
      expect(await store.load(["a"])).toEqual([after]);
    });

    test("STORE-9 a refused entry leaves the other entries of its group as if it had not been there", async () => {
      await write(stepOf("a", 1));
      const spoiled = stepOf("c", 1, {
        timers: [{ op: "set", timer: timerOf("c", "t") }],
        effects: [{ expect: null, record: effectOf("c", 1, { attempt: 0 }) }],
        blobs: [blobOf("spoiled")],
      });
      const results = await store.commit([stepOf("b", 1), stepOf("a", 1), spoiled, stepOf("a", 2), stepOf("a", 3)]);
      expect(results.map(({ status }) => status)).toEqual(["committed", "conflict", "constraint", "committed", "committed"]);
      expect(results.map((result) => (result.status === "committed" ? result.seqs : []))).toEqual([[2], [], [], [3], [4]]);
      expect((await store.load(["a", "b", "c"])).map(({ id, revision }) => [id, revision])).toEqual([
        ["a", 3],
        ["b", 1],
      ]);
      expect(await store.timers("c")).toEqual([]);
      expect(await store.blob(sha256("spoiled"))).toBeNull();
    });

    test("STORE-9 a later entry of a group sees what an earlier one wrote", async () => {
      const results = await store.commit([stepOf("a", 1), stepOf("a", 2), stepOf("a", 2)]);
      expect(results.map(({ status }) => status)).toEqual(["committed", "committed", "conflict"]);
    });

    test("STORE-9 a group without an acceptable entry, and an empty one, write nothing", async () => {
      expect(await store.commit([])).toEqual([]);
      expect((await store.commit([stepOf("a", 2), stepOf("b", 3)])).map(({ status }) => status)).toEqual(["conflict", "conflict"]);
      expect(await store.lastAt()).toBe(0);
    });

    test("STORE-9 an entry that is not what its type says is refused alone", async () => {
      const bent = [
        stepOf("x", 1, { at: Number.NaN }),
        stepOf("x", 1, {}, { updatedAt: 1.5 }),
        stepOf("x", 1, {}, { definitionDigest: "short" }),
        stepOf("x", 1, {}, JSON.parse('{"snapshot":{}}')),
        stepOf("x", 1, {}, JSON.parse('{"snapshot":null}')),
      ];
      const results = await store.commit([stepOf("a", 1), ...bent, stepOf("b", 1)]);
      expect(results.map(({ status }) => status)).toEqual(["committed", "constraint", "constraint", "constraint", "constraint", "constraint", "committed"]);
      expect(await store.load(["x"])).toEqual([]);
    });

    test("STORE-18 journal rows carry ascending numbers over all actors and name their cause", async () => {
      expect(await one(stepOf("a", 1))).toEqual({ status: "committed", seqs: [1] });
      const cascade = commitOf({
        expects: { a: 1, b: 0 },
        actors: [actorOf("a", { revision: 3 }), actorOf("b")],
        journal: [journalOf("a", 2, { cause: { seq: 1 } }), journalOf("b", 1, { cause: { index: 0 } }), journalOf("a", 3, { cause: { index: 1 } })],
      });
      expect(await one(cascade)).toEqual({ status: "committed", seqs: [2, 3, 4] });
      expect((await store.journal("a", 2, 10)).map(({ seq, revision, causeSeq }) => [seq, revision, causeSeq])).toEqual([
        [2, 2, 1],
        [4, 3, 3],
      ]);
      expect((await store.journal("b", 1, 10)).map(({ causeSeq }) => causeSeq)).toEqual([2]);
      expect(await one(stepOf("a", 4, { journal: [journalOf("a", 4, { cause: { index: 0 } })] }))).toMatchObject({
        status: "constraint",
        rule: "cause_comes_first",
      });
    });

    test("STORE-18 a journal row is read back as written, from a revision on and bounded", async () => {
      const big = blobOf("x".repeat(5_000));
      const entries = [
        journalOf("a", 1, { payload: { json: '{"n":1}' }, snapshot: "{}" }),
        journalOf("a", 2, { payload: { blob: big.hash, bytes: 5_000 } }),
        journalOf("a", 3),
      ];
      await write(commitOf({ expects: { a: 0 }, actors: [actorOf("a", { revision: 3 })], journal: entries, blobs: [big] }));
      const rows = entries.map(({ cause: _, ...entry }, index) => ({ ...entry, seq: index + 1, causeSeq: null }));
      expect(await store.journal("a", 1, 10)).toEqual(rows);
      expect(await store.journal("a", 2, 1)).toEqual(rows.slice(1, 2));
      expect(await store.journal("a", 4, 10)).toEqual([]);
    });

    test("STORE-18 the highest time ever committed is kept, whatever comes later", async () => {
      expect(await store.lastAt()).toBe(0);
      await store.commit([stepOf("a", 1, { at: 7_000 }), stepOf("b", 1, { at: 9_000 }), stepOf("c", 9, { at: 90_000 })]);
      await write(stepOf("a", 2, { at: 8_000 }));
      expect(await store.lastAt()).toBe(9_000);
    });

    test("STORE-16 case 118 a value is found again inline or as a blob, with the blob's size, and the same bytes are stored once", async () => {
      const blob = blobOf("ü".repeat(3_000));
      const effect = effectOf("a", 1, { input: { blob: blob.hash, bytes: 6_000 } });
      await write(stepOf("a", 1, { blobs: [blob, blob], effects: [{ expect: null, record: effect }] }), stepOf("a", 2, { blobs: [blob] }));
      expect(await store.effects([effect.key])).toEqual([effect]);
      expect(await store.blob(blob.hash)).toEqual(new Uint8Array(blob.bytes));
      expect(await store.blob(sha256("another"))).toBeNull();
      expect(await store.blob("no hash")).toBeNull();
    });

    test("STORE-16 a blob whose bytes have another hash is refused, and so is a value whose blob is not there", async () => {
      expect(await one(stepOf("a", 1, { blobs: [{ hash: sha256("one"), bytes: Buffer.from("two") }] }))).toMatchObject({
        status: "constraint",
        rule: "blob_has_its_hash",
      });
      const dangling = effectOf("a", 1, { input: { blob: sha256("nowhere"), bytes: 9 } });
      expect(await one(stepOf("a", 1, { effects: [{ expect: null, record: dangling }] }))).toMatchObject({ status: "constraint", rule: "reference_exists" });
      expect(await store.load(["a"])).toEqual([]);
    });

    test("STORE-23 timers are set, replaced and cleared by actor and key, and clearing one that is gone is no error", async () => {
      await write(
        stepOf("a", 1, {
          timers: [
            { op: "set", timer: timerOf("a", "x") },
            { op: "set", timer: timerOf("a", "y", { to: "b" }) },
          ],
        }),
      );
      const moved = timerOf("a", "x", { to: "b", dueAt: 9_000, revision: 2, event: '{"type":"other"}' });
      await write(
        stepOf("a", 2, {
          timers: [
            { op: "set", timer: moved },
            { op: "clear", actor: "a", key: "y" },
            { op: "clear", actor: "a", key: "z" },
          ],
        }),
      );
      expect(await store.timers("a")).toEqual([moved]);
      expect(await store.timers("b")).toEqual([]);
    });

    test("STORE-23 due timers come by due time, then actor and key, up to the time and the limit", async () => {
      const timers = [
        timerOf("b", "k", { dueAt: 10 }),
        timerOf("a", "z", { dueAt: 10 }),
        timerOf("a", "m", { dueAt: 10 }),
        timerOf("b", "first", { dueAt: 2 }),
        timerOf("a", "far", { dueAt: 2 ** 45 }),
      ];
      expect(await store.nextDue()).toBeNull();
      await write(stepOf("a", 1), stepOf("b", 1, { timers: timers.map((timer) => ({ op: "set", timer })) }));
      expect((await store.due(10, 10)).map(({ actor, key }) => actor + key)).toEqual(["bfirst", "am", "az", "bk"]);
      expect(await store.due(10, 2)).toHaveLength(2);
      expect(await store.due(1, 10)).toEqual([]);
      expect((await store.due(2 ** 45, 10)).at(-1)).toEqual(timerOf("a", "far", { dueAt: 2 ** 45 }));
      expect(await store.nextDue()).toBe(2);
    });

    test("STORE-23 a firing of a timer that was cleared, or armed anew, is a conflict", async () => {
      await write(stepOf("a", 1, { timers: [{ op: "set", timer: timerOf("a", "t") }] }));
      const fires = (revision: number): Commit =>
        stepOf("a", 2, { requiresTimers: [{ actor: "a", key: "t", revision }], timers: [{ op: "clear", actor: "a", key: "t" }] });
      expect(await one(fires(7))).toEqual({ status: "conflict", thing: "timer t of a is gone" });
      expect((await store.commit([fires(1), { ...fires(1), expects: { a: 2 } }])).map(({ status }) => status)).toEqual(["committed", "conflict"]);
    });

    test("STORE-24 an effect is read back as written, by key, by visit and among the open ones", async () => {
      const full = effectOf("a", 1, {
        visit: "a/n.1",
        once: true,
        interruptions: 1,
        attempt: 2,
        process: { pgid: 42, startToken: "77" },
        notBefore: 9_000,
        state: "attempting",
      });
      const ended = effectOf("a", 2, { state: "failed", error: { reason: "effectFailed", message: "no" }, invokeId: null });
      const unsure = effectOf("a", 3, { state: "ambiguous", ambiguousSince: 4_000, once: true });
      const done = effectOf("a", 4, { state: "confirmed", output: { json: "null" } });
      const all = [full, ended, unsure, done];
      await write(stepOf("a", 1, { effects: all.map((record) => ({ expect: null, record })) }));
      expect(await store.effects([...all.map(({ key }) => key), "none"])).toEqual(all);
      expect(await store.visits(["a/n.1", "a/n.2"])).toEqual([full]);
      expect(await store.openEffects(10)).toEqual([full]);
    });

    test("STORE-24 an effect moves only from the state and attempt that were expected", async () => {
      const record = effectOf("a", 1);
      await write(stepOf("a", 1, { effects: [{ expect: null, record }] }));
      const confirmed = { ...record, state: "confirmed", output: { json: "7" }, updatedAt: 5_000 } as const;
      for (const expect_ of [null, { state: "attempting", attempt: 1 }, { state: "planned", attempt: 2 }] as const)
        expect(await one(commitOf({ effects: [{ expect: expect_, record: confirmed }] }))).toMatchObject({
          status: "conflict",
          thing: expect.stringContaining(record.key),
        });
      expect(await store.effects([record.key])).toEqual([record]);
      const results = await store.commit([
        commitOf({ effects: [{ expect: record, record: confirmed }] }),
        commitOf({ effects: [{ expect: record, record: confirmed }] }),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["committed", "conflict"]);
      expect(await store.effects([record.key])).toEqual([confirmed]);
      expect(await store.openEffects(10)).toEqual([]);
    });

    test("STORE-24 a key with another request is a conflict, and what was asked for never changes", async () => {
      const record = effectOf("a", 1);
      await write(stepOf("a", 1, { effects: [{ expect: null, record }] }));
      const other = { ...record, fingerprint: sha256("another request"), state: "dropped" } as const;
      expect(await one(commitOf({ effects: [{ expect: record, record: other }] }))).toMatchObject({ status: "conflict" });
      await write(
        commitOf({ effects: [{ expect: record, record: { ...record, state: "dropped", input: { json: "0" }, type: "else", visit: "v", policy: "[]" } }] }),
      );
      expect(await store.effects([record.key])).toEqual([{ ...record, state: "dropped" }]);
    });

    test("STORE-24 open effects come in key order, page after page", async () => {
      const records = [3, 1, 5, 2, 4].map((n) => effectOf("a", n, n === 5 ? { state: "dropped" } : {}));
      await write(stepOf("a", 1, { effects: records.map((record) => ({ expect: null, record })) }));
      expect((await store.openEffects(2)).map(({ key }) => key)).toEqual(["a@1:1", "a@1:2"]);
      expect((await store.openEffects(2, "a@1:2")).map(({ key }) => key)).toEqual(["a@1:3", "a@1:4"]);
      expect(await store.openEffects(2, "a@1:4")).toEqual([]);
    });

    test("STORE-25 an answer is kept under its event id and is never replaced", async () => {
      const record = { actor: "a", eventId: "e1", fingerprint: sha256("go"), receipt: '{"status":"applied"}', event: null, at: 1_000 };
      const refused = { ...record, actor: "nobody", event: { json: '{"type":"go"}' } };
      await write(stepOf("a", 1, { inbox: [record] }), commitOf({ inbox: [refused] }));
      expect(await one(stepOf("a", 2, { inbox: [{ ...record, receipt: "other" }] }))).toMatchObject({
        status: "conflict",
        thing: expect.stringContaining("e1"),
      });
      expect(await store.inbox("a", "e1")).toEqual(record);
      expect(await store.inbox("nobody", "e1")).toEqual(refused);
      expect(await store.inbox("a", "e2")).toBeNull();
    });

    test("STORE-15 children are the active ones, and one key has one active child, freed by the commit that ends it", async () => {
      const child = (id: string, parts = {}) => actorOf(id, { parent: "a", childKey: "k", root: "a", ...parts });
      await write(stepOf("a", 1), commitOf({ expects: { c1: 0 }, actors: [child("c1")] }));
      expect(await one(commitOf({ expects: { c2: 0 }, actors: [child("c2")] }))).toMatchObject({ status: "constraint", rule: "one_active_child_per_key" });
      await write(commitOf({ expects: { c1: 1, c2: 0 }, actors: [child("c2"), child("c1", { revision: 2, status: "stopped" })] }));
      expect((await store.children("a")).map(({ id }) => id)).toEqual(["c2"]);
      expect(await store.children("c1")).toEqual([]);
    });

    const broken: { rule: string; first?: Commit; then: Commit }[] = [
      {
        rule: "one_active_actor_per_system_id",
        first: commitOf({ expects: { a: 0, b: 0 }, actors: [actorOf("a", { systemId: "s" }), actorOf("b", { parent: "a", childKey: "b", root: "a" })] }),
        then: commitOf({ expects: { c: 0 }, actors: [actorOf("c", { parent: "a", childKey: "c", root: "a", systemId: "s" })] }),
      },
      { rule: "only_a_root_is_its_own_root", then: commitOf({ expects: { a: 0 }, actors: [actorOf("a", { root: "b" })] }) },
      { rule: "one_journal_row_per_revision", first: stepOf("a", 1), then: commitOf({ journal: [journalOf("a", 1)] }) },
      { rule: "reference_exists", then: commitOf({ journal: [journalOf("nobody", 1)] }) },
      {
        rule: "one_effect_per_visit",
        first: stepOf("a", 1, { effects: [{ expect: null, record: effectOf("a", 1, { visit: "v" }) }] }),
        then: commitOf({ effects: [{ expect: null, record: effectOf("a", 2, { visit: "v" }) }] }),
      },
      {
        rule: "only_a_confirmed_effect_has_output",
        first: stepOf("a", 1),
        then: commitOf({ effects: [{ expect: null, record: effectOf("a", 1, { output: { json: "1" } }) }] }),
      },
      {
        rule: "ambiguous_says_since_when",
        first: stepOf("a", 1),
        then: commitOf({ effects: [{ expect: null, record: effectOf("a", 1, { state: "ambiguous" }) }] }),
      },
      {
        rule: "one_reservation_per_session",
        first: commitOf({ rows: [{ table: "runs", row: runOf("r_1", { session: "s", reserves: true }) }] }),
        then: commitOf({ rows: [{ table: "runs", row: runOf("r_2", { session: "s", reserves: true, state: "queued" }) }] }),
      },
      { rule: "reservation_names_a_session", then: commitOf({ rows: [{ table: "runs", row: runOf("r_1", { reserves: true }) }] }) },
      {
        rule: "only_a_moving_run_reserves",
        then: commitOf({ rows: [{ table: "runs", row: runOf("r_1", { session: "s", reserves: true, state: "waiting" }) }] }),
      },
      { rule: "only_a_finished_run_has_ended", then: commitOf({ rows: [{ table: "runs", row: runOf("r_1", { state: "completed" }) }] }) },
      {
        rule: "a_finished_run_is_final",
        first: commitOf({ rows: [{ table: "runs", row: runOf("r_1", { state: "cancelled", endedAt: 2_000 }) }] }),
        then: commitOf({ rows: [{ table: "runs", row: runOf("r_1") }] }),
      },
      {
        rule: "one_open_decision_per_code",
        first: commitOf({ rows: [{ table: "decisions", row: decisionOf("d1", { code: "AAA" }) }] }),
        then: commitOf({ rows: [{ table: "decisions", row: decisionOf("d2", { code: "AAA" }) }] }),
      },
      {
        rule: "one_resolution_per_decision",
        first: commitOf({ rows: [{ table: "decisions", row: decisionOf("d1", { state: "accepted", choice: "go", settledAt: 2_000 }) }] }),
        then: commitOf({ rows: [{ table: "decisions", row: decisionOf("d1", { state: "accepted", choice: "stop", settledAt: 2_000 }) }] }),
      },
      {
        rule: "only_an_answered_decision_has_a_choice",
        then: commitOf({ rows: [{ table: "decisions", row: decisionOf("d1", { state: "accepted", settledAt: 2_000 }) }] }),
      },
    ];
    test.each(broken)("STORE-15 the store itself refuses what would break $rule", async ({ rule, first, then }) => {
      if (first) await write(first);
      expect(await one(then)).toMatchObject({ status: "constraint", rule });
    });

    test("STORE-15 a session and a code change hands within one commit, in whichever order the rows come", async () => {
      await write(
        commitOf({
          rows: [
            { table: "runs", row: runOf("r_1", { session: "s", reserves: true }) },
            { table: "decisions", row: decisionOf("d1", { code: "AAA" }) },
          ],
        }),
      );
      await write(
        commitOf({
          rows: [
            { table: "runs", row: runOf("r_2", { session: "s", reserves: true }) },
            { table: "decisions", row: decisionOf("d2", { code: "AAA" }) },
            { table: "decisions", row: decisionOf("d1", { code: "AAA", state: "cancelled", settledAt: 2_000 }) },
            { table: "runs", row: runOf("r_1", { session: "s", state: "waiting" }) },
          ],
        }),
      );
      expect((await store.query("runs", { session: "s" })).items.map(({ id, reserves }) => [id, reserves])).toEqual([
        ["r_1", false],
        ["r_2", true],
      ]);
    });

    test("STORE-17 index rows are read back as written, and a later row replaces the earlier one", async () => {
      const blob = blobOf("z".repeat(9_000));
      const run = runOf("r_1", { session: "s", reserves: true, input: { blob: blob.hash, bytes: 9_000 } });
      const decision = decisionOf("d1", { deadlineAt: 9_000, defaultChoice: "stop" });
      await write(
        commitOf({
          blobs: [blob],
          rows: [
            { table: "runs", row: run },
            { table: "decisions", row: decision },
          ],
        }),
      );
      expect((await store.query("runs", { id: "r_1" })).items).toEqual([run]);
      expect((await store.query("decisions", { id: "d1" })).items).toEqual([decision]);
      const ended = runOf("r_1", { state: "failed", reason: "nodeFailed", endedAt: 5_000, updatedAt: 5_000, workflow: "other" });
      const settled = decisionOf("d1", { state: "defaulted", choice: "stop", settledAt: 9_000, deadlineAt: 9_000, defaultChoice: "stop" });
      await write(
        commitOf({
          rows: [
            { table: "runs", row: ended },
            { table: "decisions", row: settled },
          ],
        }),
      );
      expect((await store.query("runs", {})).items).toEqual([ended]);
      expect((await store.query("decisions", {})).items).toEqual([settled]);
    });

    test("UPD-1 an update replaces the one of its type and key, and of nothing else", async () => {
      await write(
        commitOf({
          rows: [
            { table: "updates", row: updateOf("r_1", "a") },
            { table: "updates", row: updateOf("r_1", "b") },
          ],
        }),
      );
      await write(
        commitOf({ rows: [{ table: "updates", row: updateOf("r_1", "a", { revision: 2, data: '"later"', visit: "r_1/graph/n.2", updatedAt: 2_000 }) }] }),
      );
      expect((await store.query("updates", { run: "r_1" })).items).toEqual([
        updateOf("r_1", "a", { revision: 2, data: '"later"', visit: "r_1/graph/n.2", updatedAt: 2_000 }),
        updateOf("r_1", "b"),
      ]);
    });

    test("UPD-2 a run has at most 1,024 types and keys; one more is refused by the rule's name, and those that it has are still replaced", async () => {
      const all = Array.from({ length: 1_024 }, (_, n) => updateOf("r_1", `k${n}`));
      await write(commitOf({ rows: all.map((row) => ({ table: "updates", row })) }));
      const [more, other, known] = await store.commit(
        [updateOf("r_1", "more"), updateOf("r_2", "more"), updateOf("r_1", "k7", { revision: 2 })].map((row) =>
          commitOf({ rows: [{ table: "updates", row }] }),
        ),
      );
      expect(more).toMatchObject({ status: "constraint", rule: "at_most_1024_updates_per_run" });
      expect([other, known]).toMatchObject([{ status: "committed" }, { status: "committed" }]);
      expect((await store.query("updates", { id: "r_1/t/k7" })).items).toEqual([updateOf("r_1", "k7", { revision: 2 })]);
    });

    test("STORE-17 a list goes by created time and id, page after page, nothing twice and nothing missing", async () => {
      const ids = Array.from({ length: 23 }, (_, n) => `r_${String((n * 7) % 23).padStart(2, "0")}`);
      const rows = ids.map((id, n) => runOf(id, { createdAt: 1_000 + (n % 3), state: n % 2 ? "queued" : "waiting" }));
      await write(commitOf({ rows: rows.map((row) => ({ table: "runs", row })) }));
      const expected = rows.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      for (const limit of [1, 5, 22, 23, 500]) {
        for (const state of [undefined, ["queued", "waiting"] as const]) {
          const seen = await pages("runs", state ? { state } : {}, limit);
          expect(seen).toEqual(expected);
        }
      }
      expect(await pages("runs", { state: ["queued"] }, 4)).toEqual(expected.filter(({ state }) => state === "queued"));
    });

    test("STORE-17 back from the newest the same rows come, each page in the same order", async () => {
      const rows = Array.from({ length: 23 }, (_, n) =>
        runOf(`r_${String((n * 7) % 23).padStart(2, "0")}`, { createdAt: 1_000 + (n % 3), state: n % 2 ? "queued" : "waiting" }),
      );
      await write(commitOf({ rows: rows.map((row) => ({ table: "runs", row })) }));
      const expected = rows.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      for (const limit of [1, 5, 22, 23, 500]) {
        for (const state of [undefined, ["queued", "waiting"] as const]) {
          const seen: unknown[] = [];
          for (let cursor: string | null | undefined; cursor !== null;) {
            const page = await store.query("runs", state ? { state } : {}, { limit, newest: true, ...(cursor === undefined ? {} : { cursor }) });
            seen.unshift(...page.items);
            cursor = page.cursor;
          }
          expect(seen).toEqual(expected);
        }
      }
    });

    test("STORE-17 a list without a limit has 50 rows", async () => {
      await write(commitOf({ rows: Array.from({ length: 51 }, (_, n) => ({ table: "runs", row: runOf(`r_${n}`) })) }));
      const { items, cursor } = await store.query("runs", {});
      expect([items.length, cursor !== null]).toEqual([50, true]);
      expect((await store.query("runs", {}, { cursor: cursor ?? "" })).cursor).toBeNull();
    });

    test("STORE-17 each filter narrows its list, alone and together", async () => {
      await write(
        commitOf({
          expects: { a: 0, "a/x": 0, b: 0 },
          actors: [
            actorOf("a"),
            actorOf("a/x", { parent: "a", childKey: "x", root: "a", machineId: "graph", createdAt: 1_001 }),
            actorOf("b", { status: "done", createdAt: 1_002 }),
          ],
          effects: [
            effectOf("a", 1, { visit: "a/n.1" }),
            effectOf("a/x", 2, { root: "a", state: "attempting" }),
            effectOf("a/x", 3, { root: "a", state: "ambiguous", ambiguousSince: 1 }),
            effectOf("b", 4, { state: "confirmed", output: { json: "1" } }),
          ].map((record) => ({ expect: null, record })),
          rows: [
            { table: "runs", row: runOf("r_1", { session: "s" }) },
            { table: "runs", row: runOf("r_2", { workflow: "other", state: "queued", createdAt: 1_001 }) },
            { table: "decisions", row: decisionOf("d1", { code: "AAA" }) },
            { table: "decisions", row: decisionOf("d2", { run: "r_2", state: "cancelled", settledAt: 1, createdAt: 1_001 }) },
          ],
        }),
      );
      const ids = async <P extends Projection>(projection: P, filter: Projections[P]["filter"]): Promise<string[]> =>
        (await store.query(projection, filter)).items.map((row) => ("key" in row ? row.key : row.id));
      expect(await ids("actors", {})).toEqual(["a", "a/x", "b"]);
      expect(await ids("actors", { root: "a" })).toEqual(["a", "a/x"]);
      expect(await ids("actors", { parent: "a" })).toEqual(["a/x"]);
      expect(await ids("actors", { machineId: "machine", status: ["done", "error"] })).toEqual(["b"]);
      expect(await ids("effects", {})).toEqual(["a@1:1", "a/x@1:2", "a/x@1:3", "b@1:4"]);
      expect(await ids("effects", { root: "a", state: ["planned", "attempting"] })).toEqual(["a@1:1", "a/x@1:2"]);
      expect(await ids("effects", { actor: "a/x", state: ["attempting", "planned"] })).toEqual(["a/x@1:2"]);
      expect(await ids("effects", { actor: "a/x", state: ["ambiguous", "ambiguous"] })).toEqual(["a/x@1:3"]);
      expect(await ids("effects", { state: ["confirmed", "failed"] })).toEqual(["b@1:4"]);
      expect(await ids("effects", { visit: "a/n.1" })).toEqual(["a@1:1"]);
      expect(await ids("effects", { key: "b@1:4", state: ["planned"] })).toEqual([]);
      expect(await ids("runs", { workflow: "other" })).toEqual(["r_2"]);
      expect(await ids("runs", { session: "s", state: ["running"] })).toEqual(["r_1"]);
      expect(await ids("runs", { state: [] })).toEqual([]);
      expect(await ids("decisions", { run: "r_2" })).toEqual(["d2"]);
      expect(await ids("decisions", { code: "AAA", state: ["open"] })).toEqual(["d1"]);
    });

    test("STORE-17 a bad limit or cursor is refused by name", async () => {
      for (const limit of [0, -1, 501, 1.5, Number.NaN])
        await expect(store.query("runs", {}, { limit })).rejects.toMatchObject({ code: "invalidInput", path: "limit" });
      await write(
        commitOf({
          rows: [
            { table: "runs", row: runOf("r_1") },
            { table: "runs", row: runOf("r_2") },
          ],
        }),
      );
      const { cursor } = await store.query("runs", {}, { limit: 1 });
      for (const wrong of ["", "x", "bm9uc2Vuc2U", Buffer.from('["runs","a",1]').toString("base64url")])
        await expect(store.query("runs", {}, { cursor: wrong })).rejects.toMatchObject({ code: "invalidInput", path: "cursor" });
      await expect(store.query("decisions", {}, { cursor: cursor ?? "" })).rejects.toMatchObject({ code: "invalidInput", path: "cursor" });
    });

    test("STORE-22 a closed store says so, whatever it is asked", async () => {
      await store.close();
      await store.close();
      for (const ask of [() => store.load(["a"]), () => store.commit([stepOf("a", 1)]), () => store.query("runs", {}), () => store.lastAt()])
        await expect(ask()).rejects.toMatchObject({ code: "closed" });
    });

    async function pages<P extends Projection>(projection: P, filter: Projections[P]["filter"], limit: number): Promise<Projections[P]["row"][]> {
      const seen: Projections[P]["row"][] = [];
      for (let cursor: string | undefined; ;) {
        const page = await store.query(projection, filter, { limit, cursor });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        seen.push(...page.items);
        if (page.cursor === null) return seen;
        cursor = page.cursor;
      }
    }
  });
}

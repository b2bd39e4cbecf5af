import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import BetterSqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { openStore } from "../../persistence/openStore.ts";
import { openEmbedded, openReader } from "../../src/host/embedded.ts";
import { examine } from "../../src/host/maintenance/doctor.ts";
import { exportState } from "../../src/host/maintenance/export.ts";
import { pruneRuns } from "../../src/host/maintenance/prune.ts";
import { resetState } from "../../src/host/maintenance/reset.ts";
import type { CheckName, DoctorReport, Finding } from "../../src/host/maintenance/report.ts";
import { askNode, hostProcess, openCode, person, Project } from "./kit.ts";

const day = 24 * 60 * 60_000;
const plain = `.node("one", compute(() => "x".repeat(20_000)))`;

/** A project whose workflow `job` has these nodes. */
function projectWith(nodes: string, name = "job"): Project {
  const project = new Project();
  project.workflow(nodes, { name });
  return project;
}

const file = (project: Project, name = "job"): string => project.file(`${name}.workflow.ts`);

const found = (report: DoctorReport, name: CheckName): readonly Finding[] => report.checks.find((check) => check.name === name)?.findings ?? [];

/** Changes the database as a foreign hand would, while nobody owns it. */
function tamper(project: Project, sql: string): void {
  const db = new BetterSqlite(path.join(project.home, "pawl.db"));
  db.pragma("foreign_keys = off");
  db.exec(sql);
  db.close();
}

describe("doctor", () => {
  test("DOC-1 a state with ended and waiting runs is sound; what waits is named with the commands that answer, and nothing is changed", async () => {
    const project = projectWith(`${askNode()}.node("after", compute(() => 1)).node("end", compute(() => 2))`);
    const host = await project.open();
    const ended = await project.run(host, file(project));
    await host.answer({ decision: openCode(ended), choice: "go", source: person });
    await host.drive(ended.id);
    const waiting = await project.run(host, file(project));
    const before = readFileSync(path.join(project.home, "pawl.db"));
    const report = await examine({ home: project.home });
    expect(report).toMatchObject({ home: project.home, owner: process.pid, verdict: "ok" });
    expect(report.checks.map(({ name }) => name)).toEqual(["directory", "channels", "integrity", "rows", "index", "blobs", "restore", "runs"]);
    expect(report.checks.flatMap(({ findings }) => findings)).toEqual([
      {
        severity: "note",
        subject: waiting.id,
        what: `Run ${waiting.id} waits for operator to answer decision ${openCode(waiting)}.`,
        commands: ["go", "stop", "replan"].map((choice) => ["answer", openCode(waiting), choice]),
      },
    ]);
    expect(readFileSync(path.join(project.home, "pawl.db")).equals(before)).toBe(true);
  });

  test("DOC-1 a directory in which nothing was stored is sound and stays away", async () => {
    const project = new Project();
    expect(await examine({ home: project.home })).toEqual({ home: project.home, owner: null, checks: [], verdict: "ok" });
    expect(existsSync(project.home)).toBe(false);
  });

  test.each([
    ["an index row that says something else", "update runs set workflow = 'other'", "index", /says workflow "other" where the snapshot says "job"/],
    ["an index row that is missing", "delete from runs", "index", /the index row of r_\w+ is missing/],
    ["a value that was changed", "update blobs set bytes = x'00' where length(bytes) > 19000", "blobs", /is not what was written/],
    ["a graph that is missing", "delete from blobs where hash = (select graph_digest from runs)", "blobs", /its graph \([0-9a-f]{64}\) is missing/],
    [
      "sources that are missing",
      "delete from blobs where hash = (select source_digest from runs)",
      "blobs",
      /the list of its sources \([0-9a-f]{64}\) is missing/,
    ],
    ["a value that a row names", "delete from blobs where length(bytes) > 19000", "integrity", /names a missing row of blobs/],
    ["a journal row that is gone", "delete from journal where revision = 2 and actor like '%graph'", "rows", /journal/i],
  ] as const)("DOC-2 %s is found", async (_, sql, check, text) => {
    const project = projectWith(plain);
    const host = await project.open();
    await project.run(host, file(project));
    await host.close();
    tamper(project, sql);
    const report = await examine({ home: project.home });
    expect(report.verdict).toBe("fault");
    expect(found(report, check).map(({ severity, what }) => `${severity} ${what}`)).toContainEqual(expect.stringMatching(text));
  });

  test("DOC-2 a damaged page is found", async () => {
    const project = projectWith(plain);
    const host = await project.open();
    await project.run(host, file(project));
    await host.close();
    const database = path.join(project.home, "pawl.db");
    const bytes = readFileSync(database);
    bytes.fill(0xff, bytes.length - 4096 * 3, bytes.length - 4096 * 2);
    writeFileSync(database, bytes);
    const report = await examine({ home: project.home }).catch((error: unknown) => error);
    expect(report).toMatchObject(report instanceof Error ? { code: "storageDamaged" } : { verdict: "fault" });
  });

  test("DOC-3 a database that others can read is noted with the way to close it", async () => {
    const project = projectWith(plain);
    await (await project.open()).close();
    chmodSync(project.home, 0o755);
    const report = await examine({ home: project.home });
    expect(found(report, "directory")).toEqual([
      { severity: "note", subject: project.home, what: expect.stringContaining(`chmod go= ${project.home}`), commands: [] },
    ]);
    expect(report.verdict).toBe("ok");
  });
});

describe("what stands still", () => {
  test("DOC-4 case 62 a run that nobody drives is freed by resume", async () => {
    const project = projectWith(plain);
    const host = await project.open();
    const { id } = await project.start(host, file(project));
    expect(found(await examine({ home: project.home }), "runs")).toEqual([]);
    await host.close();
    const report = await examine({ home: project.home });
    expect(report.verdict).toBe("stuck");
    expect(found(report, "runs")).toEqual([
      {
        severity: "stuck",
        subject: id,
        what: `Run ${id} is queued, and no process drives it.`,
        commands: [
          ["resume", id],
          ["cancel", id],
        ],
      },
    ]);
    const again = await project.open();
    expect((await again.drive(id)).state).toBe("completed");
  });

  test("DOC-4 case 62 an unknown outcome is freed by confirm or retry", async () => {
    const project = projectWith(`.node("one", action({ once: true, run: () => { throw new Error("cut off"); } }))`);
    const host = await project.open();
    const view = await project.run(host, file(project));
    await host.close();
    const key = view.ambiguous[0]?.key ?? "";
    const report = await examine({ home: project.home });
    expect(found(report, "runs")).toEqual([
      {
        severity: "stuck",
        subject: key,
        what: expect.stringContaining("nothing proves whether it happened"),
        commands: [
          ["effect", "confirm", key, "--output", "JSON"],
          ["effect", "retry", key],
        ],
      },
    ]);
  });

  test("DOC-4 case 62 a run whose sources cannot be loaded is freed by resume or cancel, once they can", async () => {
    const project = projectWith(`${askNode()}.node("after", compute(() => 1)).node("end", compute(() => 2))`);
    const host = await project.open();
    const { id } = await project.start(host, file(project));
    await host.close();
    const gone = new BetterSqlite(path.join(project.home, "pawl.db"));
    const [source] = gone
      .prepare<[], { hash: Buffer; bytes: Buffer }>(
        "select hash, bytes from blobs where cast(bytes as text) like '%humanDecision%' and cast(bytes as text) like 'import%'",
      )
      .all();
    gone.prepare("delete from blobs where hash = ?").run(source?.hash);
    gone.close();
    const blocked = await project.open();
    expect((await blocked.drive(id)).state).toBe("blocked");
    await blocked.close();
    const report = await examine({ home: project.home });
    expect(found(report, "runs")).toEqual([
      {
        severity: "stuck",
        subject: id,
        what: expect.stringMatching(/is blocked: .*missing in the database/),
        commands: [
          ["resume", id],
          ["cancel", id],
        ],
      },
    ]);
    const back = new BetterSqlite(path.join(project.home, "pawl.db"));
    back.prepare("insert into blobs (hash, bytes) values (?, ?)").run(source?.hash, source?.bytes);
    back.close();
    const mended = await project.open();
    expect((await mended.drive(id)).state).toBe("waiting");
  });

  test("DOC-4 case 62 an actor that no machine of this Pawl fits is named with what does not fit, and its run can be cancelled", async () => {
    const project = projectWith(`${askNode()}.node("after", compute(() => 1)).node("end", compute(() => 2))`);
    const host = await project.open();
    const { id } = await project.run(host, file(project));
    await host.close();
    tamper(project, "update actors set machine_version = '0' where machine_id = 'humanDecision'");
    const report = await examine({ home: project.home });
    expect(found(report, "restore")).toEqual([
      {
        severity: "stuck",
        subject: `${id}/graph/ask.1`,
        what: expect.stringContaining("only version 1 is registered, which has no migrations"),
        commands: [["cancel", id]],
      },
    ]);
    const again = await project.open();
    expect((await again.cancel(id, "user")).state).toBe("cancelled");
    await again.close();
    expect((await examine({ home: project.home })).verdict).toBe("ok");
  });

  test("DOC-4 deadlines that passed while nothing ran are noted", async () => {
    const project = projectWith(
      `${askNode(undefined, `, onTimeout: { afterMs: 1000, response: { choice: "stop" } }`)}.node("after", compute(() => 1)).node("end", compute(() => 2))`,
    );
    const host = await project.open();
    await project.run(host, file(project));
    await host.close();
    expect(
      found(await examine({ home: project.home, clock: { now: () => Date.now() + 2_000, schedule: () => () => {} } }), "runs").map(({ what }) => what),
    ).toContainEqual(expect.stringContaining("1 deadline passed while Pawl did not run"));
  });
});

describe("doctor --replay", () => {
  const waiting = async (): Promise<{ project: Project; id: string }> => {
    const project = projectWith(`${plain}.node("two", compute(() => 2))`.replace('"x".repeat(20_000)))', '"x".repeat(20_000)), "two")'));
    const host = await project.open();
    const { id } = await project.run(host, file(project));
    await host.close();
    return { project, id };
  };

  test("DOC-5 a run's whole tree is derived again, without its author's file", async () => {
    const { project, id } = await waiting();
    writeFileSync(file(project), "gone");
    const report = await examine({ home: project.home, replay: id.slice(-6) });
    expect(report).toMatchObject({ verdict: "ok", checks: [{ name: "replay", looked: expect.stringMatching(/^2 actors, \d+ steps$/), findings: [] }] });
    expect(await examine({ home: project.home, replay: "" })).toEqual({ ...report, checks: report.checks });
    await expect(examine({ home: project.home, replay: "r_nothing" })).rejects.toMatchObject({ code: "unknownRun" });
  });

  test("DOC-5 the first difference is named; missing code is not replayable, never different", async () => {
    const { project, id } = await waiting();
    tamper(project, `update journal set state_value = '"one"' where actor = '${id}/graph' and revision = 2`);
    expect(found(await examine({ home: project.home, replay: id }), "replay")).toEqual([
      {
        severity: "fault",
        subject: `${id}/graph`,
        what: expect.stringContaining('differs from its journal at revision 2 (event "xstate.done.actor.one"'),
        commands: [],
      },
    ]);
    tamper(project, `update journal set machine_version = '0' where actor = '${id}'`);
    expect(found(await examine({ home: project.home, replay: id }), "replay")[0]).toMatchObject({
      severity: "note",
      subject: id,
      what: expect.stringContaining('is not replayable: machine "pawl.run" version 0'),
    });
  });
});

describe("prune", () => {
  const later = (days: number) => ({ now: () => Date.now() + days * day, schedule: () => () => {} });

  test("DOC-10 finished runs older than asked go, with values, sources and copies that no other run uses; the rest goes on", async () => {
    const project = projectWith(plain);
    project.workflow(`${askNode()}.node("after", compute(() => 1)).node("end", compute(() => 2))`, { name: "asks" });
    const host = await project.open();
    const ended = await project.run(host, file(project));
    const waiting = await project.run(host, file(project, "asks"));
    await host.close();
    const copies = (): readonly string[] => readdirSync(path.join(project.home, "sources"));
    expect(copies()).toHaveLength(2);
    expect(await pruneRuns({ home: project.home, olderThanMs: 30 * day })).toMatchObject({ runs: [] });
    const report = await pruneRuns({ home: project.home, olderThanMs: 30 * day, clock: later(31) });
    expect(report).toMatchObject({ dryRun: false, runs: [{ id: ended.id, workflow: "job", state: "completed" }], kept: [] });
    expect(report.rows).toBeGreaterThan(4);
    expect(report.blobs).toBeGreaterThanOrEqual(4);
    expect(copies()).toHaveLength(1);
    const after = await examine({ home: project.home });
    expect(after.checks.flatMap(({ findings }) => findings).filter(({ severity }) => severity !== "note")).toEqual([]);
    const again = await project.open();
    await expect(again.run(ended.id)).rejects.toMatchObject({ code: "unknownRun" });
    await again.answer({ decision: openCode(waiting), choice: "go", source: person });
    expect((await again.drive(waiting.id)).state).toBe("completed");
  });

  test("DOC-10 the newest are kept when a number is given, and a dry run only tells", async () => {
    const project = projectWith(plain);
    const host = await project.open();
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push((await project.run(host, file(project))).id);
    const told = await pruneRuns({ home: project.home, keep: 1, dryRun: true });
    expect(told).toMatchObject({ dryRun: true, runs: ids.slice(0, 3).map((id) => ({ id })), rows: 0 });
    await expect(pruneRuns({ home: project.home, keep: 1 })).rejects.toMatchObject({ code: "ownedElsewhere" });
    await host.close();
    expect((await pruneRuns({ home: project.home, keep: 1 })).runs.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    const reader = await openReader({ home: project.home });
    expect((await reader.runs()).items.map(({ id }) => id)).toEqual(ids.slice(3));
    expect((await reader.run(ids[3] ?? "")).result).toHaveLength(20_000);
    await reader.close();
  });

  test("DOC-10 case 121 file space is freed", async () => {
    const project = projectWith(`.node("one", compute(() => Array.from({ length: 3 }, () => String(Math.random()).repeat(100_000))))`);
    const host = await project.open();
    for (let n = 0; n < 3; n += 1) await project.run(host, file(project));
    await host.close();
    const before = statSync(path.join(project.home, "pawl.db")).size;
    const { freedBytes } = await pruneRuns({ home: project.home, keep: 0 });
    expect(freedBytes).toBeGreaterThan(10_000_000);
    expect(before - statSync(path.join(project.home, "pawl.db")).size).toBe(freedBytes);
  });

  test("DOC-11 a finished run with an unknown outcome is kept and named", async () => {
    const project = projectWith(`.node("one", action({ once: true, run: () => { throw new Error("cut off"); } }))`);
    const host = await project.open();
    const { id } = await project.run(host, file(project));
    await host.cancel(id, "user");
    await host.close();
    expect(await pruneRuns({ home: project.home, keep: 0 })).toMatchObject({ runs: [], kept: [{ id, state: "cancelled" }] });
  });

  test("DOC-12 the key of a pruned run starts no second run for thirty days", async () => {
    const project = projectWith(plain);
    const host = await project.open();
    const { id } = await project.start(host, file(project), {}, "key");
    await host.drive(id);
    await host.close();
    await pruneRuns({ home: project.home, keep: 0 });
    const again = await project.open();
    await expect(project.start(again, file(project), {}, "key")).rejects.toMatchObject({
      code: "keyReused",
      message: expect.stringContaining("was pruned on"),
    });
    await again.close();
    await pruneRuns({ home: project.home, keep: 0, clock: later(31) });
    const free = await project.open();
    expect(await project.start(free, file(project), {}, "key")).toEqual({ id, duplicate: false });
  });

  test("DOC-10 it must be said which runs may go, and an empty directory stays away", async () => {
    const project = new Project();
    await expect(pruneRuns({ home: project.home })).rejects.toMatchObject({ code: "invalidInput" });
    expect(await pruneRuns({ home: project.home, keep: 0 })).toMatchObject({ runs: [], rows: 0 });
    expect(existsSync(project.home)).toBe(false);
  });
});

describe("export", () => {
  test("DOC-13 the whole state is copied beside a living owner, and a run goes on in the copy", async () => {
    const project = projectWith(`${askNode()}.node("after", compute(() => 1)).node("end", compute(() => 2))`);
    const other = hostProcess(project, file(project));
    const id = await other.run;
    await expect.poll(async () => (await (await openReader({ home: project.home })).run(id)).state).toBe("waiting");
    const copy = new Project();
    mkdirSync(copy.home, { mode: 0o700 });
    const to = path.join(copy.home, "pawl.db");
    expect(await exportState({ home: project.home, to })).toEqual({ path: to, bytes: statSync(to).size, run: null });
    expect(statSync(to).mode & 0o777).toBe(0o600);
    await expect(exportState({ home: project.home, to })).rejects.toMatchObject({ code: "refused", message: expect.stringContaining("exists already") });
    const host = await copy.open();
    await host.answer({ decision: openCode(await host.run(id)), choice: "go", source: person });
    expect((await host.drive(id)).state).toBe("completed");
  });

  test("DOC-13 one run is copied with its sources, graph and values, and nothing of the others", async () => {
    const project = projectWith(plain);
    const host = await project.open();
    const first = await project.run(host, file(project));
    await project.run(host, file(project));
    const copy = new Project();
    mkdirSync(copy.home, { mode: 0o700 });
    expect(await exportState({ home: project.home, run: first.id.slice(-8), to: path.join(copy.home, "pawl.db") })).toMatchObject({ run: first.id });
    const reader = await openReader({ home: copy.home });
    expect((await reader.runs()).items.map(({ id }) => id)).toEqual([first.id]);
    expect(await reader.run(first.id)).toEqual(await host.run(first.id));
    await reader.close();
    expect(await examine({ home: copy.home, replay: "" })).toMatchObject({ verdict: "ok" });
    expect((await examine({ home: copy.home })).verdict).toBe("ok");
  });

  test("DOC-13 what cannot be exported leaves no file behind", async () => {
    const project = projectWith(plain);
    await expect(exportState({ home: project.home, to: project.file("copy.db") })).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining("holds nothing yet"),
    });
    await (await project.open()).close();
    await expect(exportState({ home: project.home, run: "r_nothing", to: project.file("copy.db") })).rejects.toMatchObject({ code: "unknownRun" });
    await expect(exportState({ home: project.home, to: project.file("none/copy.db") })).rejects.toMatchObject({ code: "refused" });
    expect(existsSync(project.file("copy.db"))).toBe(false);
  });
});

describe("reset", () => {
  test("DOC-14 the state directory is moved aside whole and said where, again and again", async () => {
    const project = projectWith(plain);
    const first = await project.open();
    const { id } = await project.run(first, file(project));
    expect(() => resetState(project.home)).toThrow(expect.objectContaining({ code: "ownedElsewhere" }));
    await first.close();
    expect(resetState(project.home)).toEqual({ movedTo: `${project.home}.aside` });
    expect(existsSync(project.home)).toBe(false);
    expect(resetState(project.home)).toEqual({ movedTo: null });
    const second = await project.open();
    expect((await second.runs()).items).toEqual([]);
    await second.close();
    expect(resetState(project.home)).toEqual({ movedTo: `${project.home}.aside-2` });
    const back = await openEmbedded({ home: `${project.home}.aside` });
    expect((await back.run(id)).state).toBe("completed");
    await back.close();
  });

  test("DOC-14 a damaged database is moved aside too", async () => {
    const project = new Project();
    mkdirSync(project.home);
    writeFileSync(path.join(project.home, "pawl.db"), "no database at all, but some text that is long enough to be looked at");
    await expect(openStore({ home: project.home, mode: "owner" })).rejects.toMatchObject({ code: "storageDamaged" });
    expect(resetState(project.home)).toEqual({ movedTo: `${project.home}.aside` });
    expect(readFileSync(path.join(`${project.home}.aside`, "pawl.db"), "utf8")).toMatch(/^no database/);
  });
});

import { readFileSync, readdirSync, statSync, writeFileSync, chmodSync, copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../persistence/database.ts";
import { openStore } from "../../persistence/index.ts";
import { applicationId, digestOf, dumpSchema, schemaDigest, schemaSql, schemaVersion } from "../../persistence/schema.ts";
import { stepOf, sha256 } from "../contract/storeRecords.ts";
import { canMount, remount, smallFileSystem, startChild, temporaryDirectory } from "./places.ts";

/** A state directory in which one actor was stored and everything is closed again. */
async function usedHome(): Promise<{ home: string; path: string }> {
  const home = temporaryDirectory();
  const { store, path, release } = await openStore({ home, mode: "owner" });
  await store.commit([stepOf("a", 1)]);
  await release();
  return { home, path };
}

/** Everything in a directory, by name. */
const contentOf = (home: string): { [name: string]: string } =>
  Object.fromEntries(readdirSync(home).map((name) => [name, sha256(readFileSync(join(home, name)))]));

/** Opens as owner and as reader; both must refuse, with the way out, and change no file that was there. */
async function expectRefused(home: string, code: string, words: RegExp): Promise<void> {
  const before = contentOf(home);
  for (const mode of ["owner", "reader"] as const) {
    const refusal = await openStore({ home, mode }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal, mode).toMatchObject({ code, message: expect.stringMatching(words) });
    expect(refusal).toMatchObject({ message: expect.stringContaining(`mv ${home} ${home}.aside`) });
    expect(refusal).toMatchObject({ message: expect.stringContaining("PAWL_HOME=") });
    expect(contentOf(home)).toMatchObject(before);
  }
}

describe("a connection", () => {
  test("STORE-1 case 130 has every pragma that durability and safety rest on, as owner and as reader", async () => {
    const { path } = await usedHome();
    const common = {
      foreign_keys: 1,
      trusted_schema: 0,
      cell_size_check: 1,
      temp_store: 2,
      fullfsync: 1,
      checkpoint_fullfsync: 1,
      busy_timeout: 5_000,
      journal_mode: "wal",
      auto_vacuum: 2,
    };
    const owner = openDatabase(path, { mode: "owner" });
    const reader = openDatabase(path, { mode: "reader" });
    try {
      for (const [name, value] of Object.entries({ ...common, synchronous: 2, application_id: applicationId, user_version: schemaVersion }))
        expect([name, owner.pragma(name, { simple: true })]).toEqual([name, value]);
      for (const [name, value] of Object.entries({ ...common, query_only: 1 })) expect([name, reader?.pragma(name, { simple: true })]).toEqual([name, value]);
    } finally {
      owner.close();
      reader?.close();
    }
  });

  test("STORE-1 opening a sound database and closing it again changes nothing of it but the number of its owner", async () => {
    const { home, path } = await usedHome();
    const dump = (): { [table: string]: unknown } => {
      const db = new Database(path, { readonly: true });
      const tables = db.prepare<[], { name: string }>("select name from sqlite_schema where type = 'table'").all();
      const rows = Object.fromEntries(tables.map(({ name }) => [name, db.prepare(`select * from ${name}`).all()]));
      db.close();
      return rows;
    };
    const before = dump();
    expect(Object.keys(before)).toHaveLength(10);
    expect(before["meta"]).toMatchObject([{ owner_generation: 1 }]);
    await (await openStore({ home, mode: "owner" })).release();
    const { meta, ...rest } = dump();
    expect({ ...rest, meta: [] }).toEqual({ ...before, meta: [] });
    expect(meta).toEqual([{ ...(before["meta"] as [object])[0], owner_generation: 2 }]); // meta has one row
    const bytes = contentOf(home);
    await (await openStore({ home, mode: "reader" })).release();
    expect(contentOf(home)).toMatchObject(bytes);
  });

  test("STORE-14 the tables are those of the golden dump, and the released SQL is unchanged", () => {
    const db = openDatabase(":memory:", { mode: "owner" });
    const dump = dumpSchema(db);
    db.close();
    expect(dump).toBe(readFileSync(new URL("../../persistence/sql/schema.sql", import.meta.url), "utf8"));
    expect(digestOf(dump)).toBe(schemaDigest);
    expect(readdirSync(new URL("../../persistence/sql", import.meta.url)).toSorted()).toEqual(["0001.sql", "schema.sql"]);
  });

  test("STORE-14 every table is strict, and every column of time names its unit", () => {
    const db = openDatabase(":memory:", { mode: "owner" });
    const tables = db
      .prepare<[], { name: string; strict: number }>("select name, strict from pragma_table_list where schema = 'main' and name not like 'sqlite%'")
      .all();
    const times = db
      .prepare<[], { name: string }>(
        "select c.name from sqlite_schema t join pragma_table_info(t.name) c where t.type = 'table' and (c.name like '%\\_at%' escape '\\' or c.name like '%since%' or c.name like '%before%')",
      )
      .all();
    db.close();
    expect(tables.length).toBe(10);
    expect(tables.filter(({ strict }) => strict !== 1)).toEqual([]);
    expect(times.length).toBeGreaterThan(10);
    expect(times.filter(({ name }) => !name.endsWith("_ms"))).toEqual([]);
  });
});

describe("a state directory", () => {
  test("STORE-7 is made private, files included, whatever the umask", async () => {
    const old = process.umask(0);
    try {
      const home = join(temporaryDirectory(), "deep", "state");
      const { store, path, release } = await openStore({ home, mode: "owner" });
      await store.commit([stepOf("a", 1)]);
      await store.backup(join(home, "copy.db"));
      expect(readdirSync(home).toSorted()).toEqual(["copy.db", "owner.json", "pawl.db", "pawl.db-shm", "pawl.db-wal", "pawl.lock"]);
      for (const name of readdirSync(home)) expect([name, statSync(join(home, name)).mode & 0o777]).toEqual([name, 0o600]);
      expect(statSync(home).mode & 0o777).toBe(0o700);
      await release();
      expect(statSync(path).mode & 0o777).toBe(0o600);
      process.umask(0o277);
      const other = join(temporaryDirectory(), "state");
      await (await openStore({ home: other, mode: "owner" })).release();
      expect(statSync(join(other, "pawl.db")).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(old);
    }
  });

  test("STORE-12 in which nothing was stored reads as empty and stays as it is", async () => {
    const home = join(temporaryDirectory(), "none");
    const reader = await openStore({ home, mode: "reader" });
    expect((await reader.store.query("runs", {})).items).toEqual([]);
    await reader.release();
    expect(() => statSync(home)).toThrow("ENOENT");
    mkdirSync(home);
    writeFileSync(join(home, "pawl.db"), "");
    const second = await openStore({ home, mode: "reader" });
    expect(await second.store.load(["a"])).toEqual([]);
    await second.release();
    expect(readdirSync(home)).toEqual(["pawl.db"]);
  });

  test("STORE-12 a reader sees each commit of a living owner, and can change nothing", async () => {
    const home = temporaryDirectory();
    const owner = await openStore({ home, mode: "owner" });
    await owner.store.commit([stepOf("a", 1)]);
    const reader = await openStore({ home, mode: "reader" });
    for (let revision = 2; revision < 50; revision += 1) {
      await owner.store.commit([stepOf("a", revision)]);
      expect((await reader.store.load(["a"]))[0]?.revision).toBe(revision);
    }
    await expect(reader.store.commit([stepOf("a", 50)])).rejects.toMatchObject({ code: "refused" });
    await owner.release();
    expect((await reader.store.load(["a"]))[0]?.revision).toBe(49);
    await reader.release();
  });

  test("STORE-12 a reader after a killed owner sees what was committed", async () => {
    const home = temporaryDirectory();
    const child = startChild("writer.ts", [home, "5", "after"]);
    expect((await child.ended).signal).toBe("SIGKILL");
    const reader = await openStore({ home, mode: "reader" });
    expect((await reader.store.load(["a"]))[0]?.revision).toBe(5);
    await reader.release();
  });

  test("STORE-20 a backup is a whole state of its own, taken beside a reader and an owner", async () => {
    const { home } = await usedHome();
    const owner = await openStore({ home, mode: "owner" });
    const copy = temporaryDirectory();
    await owner.store.backup(join(copy, "pawl.db"));
    await expect(owner.store.backup(join(copy, "pawl.db"))).rejects.toThrow("already exists");
    await owner.store.commit([stepOf("a", 2)]);
    await owner.release();
    const beside = await openStore({ home: copy, mode: "reader" });
    expect((await beside.store.load(["a"]))[0]?.revision).toBe(1);
    await beside.release();
    const restored = await openStore({ home: copy, mode: "owner" });
    expect((await restored.store.commit([stepOf("a", 2)]))[0]?.status).toBe("committed");
    expect(await restored.store.check()).toEqual([]);
    await restored.release();
  });

  test("STORE-19 case 130 eight processes that open one new directory at the same moment: one owns it, seven are told, none breaks it", async () => {
    const home = join(temporaryDirectory(), "state");
    const begin = String(Date.now() + 1_500);
    const children = Array.from({ length: 8 }, () => startChild("opener.ts", [home, "owner", begin]));
    const lines = await Promise.all(children.map((child) => child.line(() => true)));
    expect(lines.filter((line) => line === "opened")).toHaveLength(1);
    const winner = children[lines.indexOf("opened")];
    const refusals = lines.filter((line) => line !== "opened");
    for (const line of refusals)
      expect(JSON.parse(line)).toMatchObject({ code: "ownedElsewhere", message: expect.stringContaining(`process ${winner?.pid} (opener`) });
    expect(refusals).toHaveLength(7);
    await endAll(children);
    const { store, release } = await openStore({ home, mode: "owner" });
    expect(await store.check()).toEqual([]);
    await release();
  });

  test("STORE-19 case 130 eight processes that make one database without the lock all get the same one", async () => {
    const home = temporaryDirectory();
    const begin = String(Date.now() + 1_500);
    const children = Array.from({ length: 8 }, () => startChild("opener.ts", [home, "database", begin]));
    expect(await Promise.all(children.map((child) => child.line(() => true)))).toEqual(Array.from({ length: 8 }, () => "opened"));
    await endAll(children);
    const { store, release } = await openStore({ home, mode: "owner" });
    expect(await store.check()).toEqual([]);
    expect(await store.lastAt()).toBe(0);
    await release();
  });

  async function endAll(children: readonly { kill(signal: "SIGKILL"): void; ended: Promise<unknown> }[]): Promise<void> {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map(({ ended }) => ended));
  }
});

describe("a file that is not a sound database of this version is refused and left as it is", () => {
  const made = (home: string, sql: string): void => {
    const db = new Database(join(home, "pawl.db"));
    db.exec(sql);
    db.close();
  };

  test("STORE-2 one with another program's mark", async () => {
    const home = temporaryDirectory();
    made(home, "pragma application_id = 252006674; create table packages (name text)");
    await expectRefused(home, "storageForeign", /pawl\.db is not Pawl's: it carries another program's mark \(application_id 252006674\)/);
  });

  test("STORE-2 one with tables and no mark", async () => {
    const home = temporaryDirectory();
    made(home, "create table actors (id text); insert into actors values ('mine')");
    await expectRefused(home, "storageForeign", /it holds tables of another program/);
  });

  test("STORE-2 one in WAL mode, which a careless opening would fold", async () => {
    const home = temporaryDirectory();
    made(home, "pragma journal_mode = wal; create table notes (text text)");
    await expectRefused(home, "storageForeign", /tables of another program/);
  });

  test("STORE-2 one of ours whose tables were changed by hand", async () => {
    const { home } = await usedHome();
    made(home, "drop index one_reservation_per_session");
    await expectRefused(home, "storageForeign", /its tables are not those of Pawl's schema 1/);
  });

  test("STORE-2 a directory in its place", async () => {
    const home = temporaryDirectory();
    mkdirSync(join(home, "pawl.db"));
    for (const mode of ["owner", "reader"] as const)
      await expect(openStore({ home, mode })).rejects.toMatchObject({ code: "storageForeign", message: expect.stringContaining("not a file") });
  });

  test("STORE-3 one that is no database at all", async () => {
    const home = temporaryDirectory();
    writeFileSync(join(home, "pawl.db"), "These are my notes, not a database. ".repeat(200));
    await expectRefused(home, "storageDamaged", /it is not an SQLite database, or its header is damaged/);
  });

  test("STORE-3 one whose first page was overwritten", async () => {
    const { home, path } = await usedHome();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 100, 4_096);
    writeFileSync(path, bytes);
    await expectRefused(home, "storageDamaged", /is damaged/);
  });

  test("STORE-3 one with a page overwritten that the first look does not read", async () => {
    const { home, path } = await usedHome();
    const db = new Database(path);
    const page = db.prepare<[], { page: number }>("select rootpage as page from sqlite_schema where name = 'actors'").get()?.page ?? 0;
    db.close();
    const bytes = readFileSync(path);
    bytes.fill(0x5a, (page - 1) * 4_096, page * 4_096);
    writeFileSync(path, bytes);
    const before = contentOf(home);
    await expect(openStore({ home, mode: "owner" })).rejects.toMatchObject({ code: "storageDamaged", message: expect.stringContaining("its check failed") });
    expect(contentOf(home)).toMatchObject(before);
    const reader = await openStore({ home, mode: "reader" });
    await expect(reader.store.load(["a"])).rejects.toMatchObject({ code: "storageDamaged", message: expect.stringContaining(`mv ${home}`) });
    await reader.release();
  });

  test("STORE-3 one that was cut off", async () => {
    const { home, path } = await usedHome();
    writeFileSync(path, readFileSync(path).subarray(0, 40_000));
    await expect(openStore({ home, mode: "owner" })).rejects.toMatchObject({ code: "storageDamaged" });
  });

  test("STORE-3 one that is empty beside what was stored, which is no new directory", async () => {
    for (const trace of ["sources", "backups", "pawl.db-wal"]) {
      const { home, path } = await usedHome();
      writeFileSync(path, "");
      if (trace === "pawl.db-wal") writeFileSync(join(home, trace), "frames");
      else mkdirSync(join(home, trace));
      for (const mode of ["owner", "reader"] as const)
        await expect(openStore({ home, mode }), `${mode} ${trace}`).rejects.toMatchObject({
          code: "storageDamaged",
          message: expect.stringMatching(new RegExp(`is empty, but ${trace} beside it.*backup.*mv ${home} `)),
        });
      expect(statSync(path).size).toBe(0);
    }
  });

  test("STORE-3 one that is empty because its maker died is made anew", async () => {
    const home = temporaryDirectory();
    for (const name of ["pawl.db", "pawl.db-journal", "pawl.lock", "owner.json", "owner.json.17"]) writeFileSync(join(home, name), "");
    const reader = await openStore({ home, mode: "reader" });
    expect(await reader.store.load(["a"])).toEqual([]);
    await reader.release();
    const { store, release } = await openStore({ home, mode: "owner" });
    expect(await store.commit([stepOf("a", 1)])).toMatchObject([{ status: "committed" }]);
    await release();
  });

  test("STORE-4 one of a newer schema", async () => {
    const { home } = await usedHome();
    made(home, "pragma user_version = 7; create table of_the_future (id text)");
    await expectRefused(home, "storageNewer", /has schema 7; this Pawl knows schemas up to 1. Upgrade Pawl/);
  });

  test("STORE-2 the way out it names leads out, also from a path with blanks and quotes", async () => {
    const home = join(temporaryDirectory(), "Bob's state");
    mkdirSync(home);
    mkdirSync(`${home}.aside`);
    made(home, "create table t (id text)");
    const { message } = await openStore({ home, mode: "owner" }).then(
      () => new Error("opened"),
      (error: Error) => error,
    );
    const command = /start with a fresh one: (mv .*?) \(or/.exec(message)?.[1] ?? "";
    const { execFileSync } = await import("node:child_process");
    execFileSync("sh", ["-c", command]);
    expect(readdirSync(`${home}.aside-2`)).toContain("pawl.db");
    await (await openStore({ home, mode: "owner" })).release();
  });

  test("STORE-2 a fresh database whose maker died before the first table is taken up", async () => {
    const home = temporaryDirectory();
    made(home, "pragma auto_vacuum = incremental; pragma journal_mode = wal;");
    const { store, release } = await openStore({ home, mode: "owner" });
    expect((await store.commit([stepOf("a", 1)]))[0]?.status).toBe("committed");
    await release();
  });

  test("STORE-14 what sql/0001.sql makes by hand is what opening makes", async () => {
    const { path } = await usedHome();
    const db = new Database(":memory:");
    db.exec(schemaSql(1));
    const used = new Database(path, { readonly: true });
    expect(dumpSchema(used)).toBe(dumpSchema(db));
    used.close();
    db.close();
  });
});

describe("a directory that cannot be used", () => {
  test("STORE-5 because a file stands in its place", async () => {
    const home = join(temporaryDirectory(), "state");
    writeFileSync(home, "");
    await expect(openStore({ home, mode: "owner" })).rejects.toMatchObject({ code: "storageFailed", message: expect.stringContaining("PAWL_HOME=") });
    await expect(openStore({ home: join(home, "below"), mode: "owner" })).rejects.toMatchObject({ code: "storageFailed" });
  });

  test("STORE-5 nor read, because a file, a device or a link to nowhere stands in its place", async () => {
    const place = temporaryDirectory();
    const file = join(place, "state");
    writeFileSync(file, "");
    symlinkSync(join(place, "nowhere"), join(place, "link"));
    symlinkSync(join(place, "loop"), join(place, "loop"));
    for (const home of [file, join(file, "below"), "/dev/null", join(place, "link"), join(place, "loop")])
      for (const mode of ["reader", "owner"] as const)
        await expect(openStore({ home, mode }), `${mode} ${home}`).rejects.toMatchObject({
          code: "storageFailed",
          kind: "environment",
          message: expect.stringMatching(/The state directory .*PAWL_HOME=/),
        });
    expect(readdirSync(place).toSorted()).toEqual(["link", "loop", "state"]);
  });

  test("STORE-7 because others may write there: refused with the command that mends it, while others may read", async () => {
    const { home } = await usedHome();
    for (const mode of [0o777, 0o1777, 0o775, 0o702]) {
      chmodSync(home, mode);
      const before = contentOf(home);
      await expect(openStore({ home, mode: "owner" }), mode.toString(8)).rejects.toMatchObject({
        code: "storageFailed",
        subject: home,
        message: expect.stringContaining(`chmod 700 ${home}`),
      });
      expect(contentOf(home)).toEqual(before);
    }
    for (const mode of [0o700, 0o755]) {
      chmodSync(home, mode);
      await (await openStore({ home, mode: "owner" })).release();
      expect(statSync(home).mode & 0o777).toBe(mode);
    }
  });

  test("STORE-7 a database that others may write becomes its user's, its log too", async () => {
    const { home, path } = await usedHome();
    for (const name of [path, join(home, "pawl.lock")]) chmodSync(name, 0o777);
    const { release } = await openStore({ home, mode: "owner" });
    for (const name of readdirSync(home)) expect([name, statSync(join(home, name)).mode & 0o777]).toEqual([name, 0o600]);
    await release();
  });

  test("STORE-5 because it is not absolute", async () => {
    await expect(openStore({ home: "state", mode: "owner" })).rejects.toMatchObject({ code: "invalidInput", path: "home" });
  });

  test.runIf(canMount)("STORE-5 because its file system is read-only", async () => {
    const place = smallFileSystem(4_096);
    const { path } = await usedHome();
    copyFileSync(path, join(place, "pawl.db"));
    remount(place, "ro");
    for (const mode of ["owner", "reader"] as const)
      await expect(openStore({ home: place, mode })).rejects.toMatchObject({ code: "storageReadOnly", message: expect.stringContaining(`ls -ld ${place}`) });
    await expect(openStore({ home: join(place, "new"), mode: "owner" })).rejects.toMatchObject({ code: "storageReadOnly" });
    remount(place, "rw");
    const { store, release } = await openStore({ home: place, mode: "owner" });
    expect(await store.load(["a"])).toHaveLength(1);
    await release();
  });

  test.runIf(process.getuid?.() === 0)("STORE-5 because it belongs to another user", async () => {
    const { home } = await usedHome();
    const parent = join(home, "..");
    expect(statSync(parent).isDirectory()).toBe(true);
    for (const [mode, rights] of [
      ["owner", 0o755],
      ["owner", 0o700],
      ["reader", 0o755],
      ["reader", 0o700],
    ] as const) {
      chmodSync(home, rights);
      const child = startChild("opener.ts", [home, mode], { uid: 65_534 });
      expect(JSON.parse(await child.line(() => true)), `${mode} ${rights.toString(8)}`).toMatchObject({
        code: "storageReadOnly",
        message: expect.stringContaining(home),
      });
      await child.ended;
    }
  });

  test.runIf(process.getuid?.() !== 0)("STORE-5 because its user may not write there", async () => {
    const { home } = await usedHome();
    chmodSync(home, 0o500);
    await expect(openStore({ home, mode: "owner" })).rejects.toMatchObject({ code: "storageReadOnly" });
    chmodSync(home, 0o700);
  });
});

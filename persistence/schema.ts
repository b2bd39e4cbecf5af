/** The schema: who a database file belongs to, which version it has, and that its tables are exactly those of that version. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { foreign, newer } from "./refusals.ts";

/** `Pawl` in ASCII: marks the file as ours, as file(1) and other tools see it. */
export const applicationId = 0x5061776c;

/** Number of the newest file in sql/; kept as `user_version`. */
export const schemaVersion = 1;

/** SHA-256 over the dump of a database made by this version; checked at every open. A test says the new one when sql/ grows. */
export const schemaDigest = "a415d00c411df74b48dff152d5d62fb41e3fc4aa19eda6718156459300c0f065";

export const schemaSql = (version: number): string => readFileSync(new URL(`./sql/${String(version).padStart(4, "0")}.sql`, import.meta.url), "utf8");

/** All objects of the database as SQL text, in a fixed order. */
export function dumpSchema(db: Database): string {
  const objects = db
    .prepare<[], { sql: string }>(
      "select sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\' order by tbl_name, type = 'table' desc, type, name",
    )
    .all();
  return objects.map(({ sql }) => `${sql};\n`).join("\n");
}

export const digestOf = (dump: string): string => createHash("sha256").update(dump).digest("hex");

/** `fresh`: nothing was ever stored; `ours`: a database of a known version. Everything else is refused and stays as it is. */
export function identify(db: Database, path: string): "fresh" | "ours" {
  // One moment for all its looks: between two of them another process may make the tables.
  return db.transaction(() => identifyNow(db, path))();
}

function identifyNow(db: Database, path: string): "fresh" | "ours" {
  const application = Number(db.pragma("application_id", { simple: true }));
  const version = Number(db.pragma("user_version", { simple: true }));
  if (application === 0 && version === 0 && objectCount(db) === 0) return "fresh";
  if (application !== applicationId) return refuseForeign(path, application);
  if (version > schemaVersion) throw newer(path, version, schemaVersion);
  if (version !== schemaVersion || digestOf(dumpSchema(db)) !== schemaDigest)
    throw foreign(path, `its tables are not those of Pawl's schema ${version}; something else changed them`);
  return "ours";
}

function refuseForeign(path: string, application: number): never {
  throw foreign(path, application === 0 ? "it holds tables of another program" : `it carries another program's mark (application_id ${application})`);
}

const objectCount = (db: Database): number => db.prepare<[], { n: number }>("select count(*) as n from sqlite_schema").get()?.n ?? 0;

/** Makes the tables of a fresh database, in one transaction; does nothing when another process was first. */
export function createSchema(db: Database, path: string): void {
  db.transaction(() => {
    if (identify(db, path) === "ours") return;
    for (let version = 1; version <= schemaVersion; version += 1) db.exec(schemaSql(version));
    db.pragma(`application_id = ${applicationId}`);
    db.pragma(`user_version = ${schemaVersion}`);
  }).immediate();
}

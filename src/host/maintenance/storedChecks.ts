/** Checks of what is stored: directory and file, pages, rows, index rows against their snapshots, blobs against their hashes. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { ActorRecord, Projection, RowWrite } from "../../../persistence/store.ts";
import type { SqliteStore } from "../../../persistence/sqliteStore.ts";
import { canonicalJson } from "../../digest.ts";
import { messageOf } from "../../errors.ts";
import type { DefinitionRegistry } from "../../runtime/definition.ts";
import { channelsFileName, ConfiguredAudiences } from "../channels/audiences.ts";
import { viewOfRecord } from "../snapshots.ts";
import { everyPage } from "../values.ts";
import { graphsOf, readManifest, RunReferences } from "./references.ts";
import { count, finding, type Check, type Finding } from "./report.ts";

/** What a person does about a database that is not as it was written. */
const putBack = "Put a backup back, or export what can be read (pawl export --to FILE) and start afresh (pawl reset --backup).";

/** A log of this size means that something kept it from being folded back. */
const largeLogBytes = 64 * 1024 * 1024;

export async function checkDirectory(store: SqliteStore, home: string, path: string): Promise<Check> {
  const facts = await store.facts();
  const findings: Finding[] = [];
  for (const [place, what] of [
    [home, "state directory"],
    [path, "database"],
    [join(home, "pawl.lock"), "lock file"],
  ] as const) {
    const mode = statSync(place, { throwIfNoEntry: false })?.mode;
    if (mode !== undefined && (mode & 0o077) !== 0)
      findings.push(
        finding("note", place, `The ${what} can be read by other users of this machine (mode ${(mode & 0o777).toString(8)}). Close it: chmod go= ${place}`),
      );
  }
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log > largeLogBytes)
    findings.push(
      finding(
        "note",
        `${path}-wal`,
        `The write-ahead log has ${log} bytes: a program that reads the database keeps it open. Close database browsers and old readers; the owner folds it back then.`,
      ),
    );
  if (facts.journalMode !== "wal" && facts.journalMode !== "delete")
    findings.push(finding("note", path, `The journal mode is ${facts.journalMode}; the next owner sets it to wal.`));
  if (facts.autoVacuum !== 2)
    findings.push(finding("note", path, "The file was not made by Pawl alone: pruning cannot give its space back.", ["export", "--to", "FILE"]));
  return { name: "directory", looked: `schema ${facts.schema}, ${facts.bytes} bytes, ${facts.freeBytes} of them free`, findings };
}

/** The private configuration of who may answer, which is refused as a whole where anything is wrong with it. */
export async function checkChannels(home: string): Promise<Check> {
  try {
    const file = await new ConfiguredAudiences(home).read();
    return { name: "channels", looked: file === null ? "nothing configured" : count(Object.keys(file.audiences).length, "audience"), findings: [] };
  } catch (error) {
    return { name: "channels", looked: channelsFileName, findings: [finding("stuck", channelsFileName, messageOf(error))] };
  }
}

export async function checkIntegrity(store: SqliteStore): Promise<Check> {
  const faults = await store.check();
  return { name: "integrity", looked: "every page, index and reference", findings: faults.map((fault) => finding("fault", null, `${fault}. ${putBack}`)) };
}

export async function checkRows(store: SqliteStore): Promise<Check> {
  const orphans = await store.orphans();
  return {
    name: "rows",
    looked: "rows that point at others",
    findings: orphans.map(({ kind, id, what }) => finding("fault", id, `${capital(kind)} ${id}: ${what}. ${putBack}`)),
  };
}

/** Every snapshot that has index rows, projected again. */
export async function checkIndex(store: SqliteStore, registry: DefinitionRegistry): Promise<Check> {
  const findings: Finding[] = [];
  let looked = 0;
  for (const name of registry.names()) {
    const at = name.lastIndexOf("@");
    const [machineId, version] = [name.slice(0, at), name.slice(at + 1)];
    const project = (await registry.find(machineId, version))?.project;
    if (project === undefined) continue;
    for await (const records of everyPage((cursor) => store.query("actors", { machineId }, { limit: 200, cursor })))
      for (const record of records) {
        if (record.machineVersion !== version) continue;
        looked += 1;
        findings.push(...(await differences(store, record, project)));
      }
  }
  return { name: "index", looked: `${count(looked, "index row")} against the snapshots`, findings };
}

type Project = NonNullable<NonNullable<Awaited<ReturnType<DefinitionRegistry["find"]>>>["project"]>;

async function differences(store: SqliteStore, record: ActorRecord, project: Project): Promise<readonly Finding[]> {
  for (let now: ActorRecord | undefined = record; now !== undefined;) {
    const found: Finding[] = [];
    for (const write of project(viewOfRecord(now))) {
      const row = await rowOf(store, write);
      if (row === undefined) found.push(finding("fault", write.row.id, `${capital(write.table)}: the index row of ${write.row.id} is missing. ${putBack}`));
      else if (canonicalJson(row) !== canonicalJson(write.row))
        found.push(finding("fault", write.row.id, `${capital(write.table)}: the index row of ${write.row.id} says ${wrongFields(write.row, row)}. ${putBack}`));
    }
    if (found.length === 0) return found;
    // Beside an owner the actor may have moved between two looks.
    const [again] = await store.load([now.id]);
    if (again === undefined || again.revision === now.revision) return found;
    now = again;
  }
  return [];
}

async function rowOf(store: SqliteStore, { table, row }: RowWrite): Promise<object | undefined> {
  const projection: Projection = table;
  return (await store.query(projection, { id: row.id }, { limit: 1 })).items[0];
}

function wrongFields(expected: object, actual: object): string {
  const stored = new Map<string, unknown>(Object.entries(actual));
  return Object.entries(expected)
    .filter(([key, value]) => canonicalJson(stored.get(key) ?? null) !== canonicalJson(value ?? null))
    .map(([key, value]) => `${key} ${JSON.stringify(stored.get(key) ?? null)} where the snapshot says ${JSON.stringify(value)}`)
    .join(", ");
}

/** Every blob against its hash, and every blob that a run names outside of the columns. */
export async function checkBlobs(store: SqliteStore): Promise<Check> {
  const findings: Finding[] = [];
  let [looked, bytes] = [0, 0];
  for (let blob = await store.nextBlob(null); blob !== null; blob = await store.nextBlob(blob.hash)) {
    looked += 1;
    bytes += blob.bytes;
    if (!blob.sound)
      findings.push(finding("fault", blob.hash, `The stored value ${blob.hash} is not what was written: its content has another hash. ${putBack}`));
    // One value a turn: an owner in this process goes on between two.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  for await (const runs of everyPage((cursor) => store.query("runs", {}, { limit: 500, cursor })))
    for (const { id, graphDigest, sourceDigest } of runs) {
      const missing = (what: string, hash: string): Finding =>
        finding("fault", id, `Run ${id}: its ${what} (${hash}) is missing from the database. ${putBack}`);
      for (const graph of await graphsOf(store, graphDigest)) if (!(await store.hasBlob(graph))) findings.push(missing("graph", graph));
      const manifest = await readManifest(store, sourceDigest);
      if ("problem" in manifest) findings.push(finding("fault", id, `Run ${id}: the list of its sources (${sourceDigest}) ${manifest.problem}. ${putBack}`));
      else for (const file of manifest.files) if (!(await store.hasBlob(file))) findings.push(missing("source", file));
    }
  const references = await RunReferences.read(store);
  const unnamed = (await store.unreferencedBlobs()).filter(({ hash }) => !references.isNamed(hash));
  if (unnamed.length > 0)
    findings.push(
      finding(
        "note",
        null,
        `${count(unnamed.length, "value")} of ${unnamed.reduce((sum, blob) => sum + blob.bytes, 0)} bytes are named by no run: a machine of your own may hold them in its context.`,
      ),
    );
  return { name: "blobs", looked: `${count(looked, "value")}, ${bytes} bytes`, findings };
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

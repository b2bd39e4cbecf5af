/** What steps publish: one row for each type and key of a run. */
import type { Database } from "better-sqlite3";
import type { UpdateRow } from "../store.ts";

export const updateColumns = `id, run, type, key, visit, revision, data, basis, created_at_ms as createdAt, updated_at_ms as updatedAt`;

export const upsertUpdate = `insert into updates (id, run, type, key, visit, revision, data, basis, created_at_ms, updated_at_ms)
  values (:id, :run, :type, :key, :visit, :revision, :data, :basis, :createdAt, :updatedAt)
  on conflict (id) do update set visit = excluded.visit, revision = excluded.revision, data = excluded.data, basis = excluded.basis,
    updated_at_ms = excluded.updated_at_ms`;

export function updateWriter(db: Database): (row: UpdateRow) => void {
  const upsert = db.prepare<[UpdateRow]>(upsertUpdate);
  return (row) => {
    upsert.run(row);
  };
}

/** Rows of actors: one durable actor, one row, one revision. */
import type { Database } from "better-sqlite3";
import type { ActorRecord, ActorStatus } from "../store.ts";
import { hashText, sharedHashBytes } from "../values.ts";

export interface ActorColumns {
  readonly id: string;
  readonly revision: number;
  readonly machineId: string;
  readonly machineVersion: string;
  readonly definitionDigest: Buffer;
  readonly status: ActorStatus;
  readonly parent: string | null;
  readonly childKey: string | null;
  readonly systemId: string | null;
  readonly root: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly snapshot: string;
}

export const actorColumns = `id, revision, machine_id as machineId, machine_version as machineVersion, definition_digest as definitionDigest,
  status, parent, child_key as childKey, system_id as systemId, root, created_at_ms as createdAt, updated_at_ms as updatedAt, snapshot`;

export const selectActor = `select ${actorColumns} from actors where id = ?`;

export const selectChildren = `select ${actorColumns} from actors where parent = ? and status = 'active' order by child_key`;

export const selectRevision = "select revision from actors where id = ?";

export const insertActor = `insert into actors (id, revision, machine_id, machine_version, definition_digest, status, parent, child_key, system_id, root, created_at_ms, updated_at_ms, snapshot)
  values (:id, :revision, :machineId, :machineVersion, :definitionDigest, :status, :parent, :childKey, :systemId, :root, :createdAt, :updatedAt, :snapshot)
  on conflict (id) do nothing`;

const changes =
  "revision = :revision, machine_version = :machineVersion, definition_digest = :definitionDigest, updated_at_ms = :updatedAt, snapshot = :snapshot";

/** The usual step: no column of any index is named, so none is rewritten. */
export const updateActor = `update actors set ${changes} where id = :id and revision = :expected and status = :status`;

export const updateActorStatus = `update actors set ${changes}, status = :status where id = :id and revision = :expected`;

export const actorOf = (row: ActorColumns): ActorRecord => ({ ...row, definitionDigest: hashText(row.definitionDigest) });

/** Writes actors; a false answer means that the stored revision is not the expected one. */
export function actorWriter(db: Database): (actor: ActorRecord, expected: number) => boolean {
  const insert = db.prepare<[ActorColumns]>(insertActor);
  const update = db.prepare<[Partial<ActorColumns> & { expected: number }]>(updateActor);
  const updateStatus = db.prepare<[Partial<ActorColumns> & { expected: number }]>(updateActorStatus);
  return (actor, expected) => {
    const definitionDigest = sharedHashBytes(actor.definitionDigest);
    if (expected === 0) return insert.run({ ...actor, definitionDigest }).changes === 1;
    const { id, revision, machineVersion, status, updatedAt, snapshot } = actor;
    const values = { id, revision, machineVersion, definitionDigest, status, updatedAt, snapshot, expected };
    return update.run(values).changes === 1 || updateStatus.run(values).changes === 1;
  };
}

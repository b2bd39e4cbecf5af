/** Index rows of runs, projected from runMachine's snapshots. */
import type { Database } from "better-sqlite3";
import type { RunRow, RunState } from "../store.ts";
import { blobOf, flag, hashBytes, hashText, jsonOf, requiredValue, sizeOfBlob } from "../values.ts";

interface Stored {
  readonly id: string;
  readonly workflow: string;
  readonly sourceDigest: Buffer;
  readonly graphDigest: Buffer;
  readonly state: RunState;
  readonly session: string | null;
  readonly reserves: 0 | 1;
  readonly reason: string | null;
  readonly inputJson: string | null;
  readonly inputBlob: Buffer | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | null;
}

export interface RunColumns extends Stored {
  readonly inputBytes: number | null;
}

export const runColumns = `id, workflow, source_digest as sourceDigest, graph_digest as graphDigest, state, session, reserves, reason,
  input_json as inputJson, input_blob as inputBlob, ${sizeOfBlob("input_blob")} as inputBytes,
  created_at_ms as createdAt, updated_at_ms as updatedAt, ended_at_ms as endedAt`;

export const upsertRun = `insert into runs (id, workflow, source_digest, graph_digest, state, session, reserves, reason, input_json, input_blob, created_at_ms, updated_at_ms, ended_at_ms)
  values (:id, :workflow, :sourceDigest, :graphDigest, :state, :session, :reserves, :reason, :inputJson, :inputBlob, :createdAt, :updatedAt, :endedAt)
  on conflict (id) do update set workflow = excluded.workflow, source_digest = excluded.source_digest, graph_digest = excluded.graph_digest, state = excluded.state,
    session = excluded.session, reserves = excluded.reserves, reason = excluded.reason, input_json = excluded.input_json, input_blob = excluded.input_blob,
    created_at_ms = excluded.created_at_ms, updated_at_ms = excluded.updated_at_ms, ended_at_ms = excluded.ended_at_ms`;

export function runOf(row: RunColumns): RunRow {
  const { inputJson, inputBlob, inputBytes, ...rest } = row;
  return {
    ...rest,
    sourceDigest: hashText(row.sourceDigest),
    graphDigest: hashText(row.graphDigest),
    reserves: row.reserves === 1,
    input: requiredValue(inputJson, inputBlob, inputBytes),
  };
}

export function runWriter(db: Database): (row: RunRow) => void {
  const upsert = db.prepare<[Stored]>(upsertRun);
  return ({ input, ...row }) => {
    upsert.run({
      ...row,
      sourceDigest: hashBytes(row.sourceDigest),
      graphDigest: hashBytes(row.graphDigest),
      reserves: flag(row.reserves),
      inputJson: jsonOf(input),
      inputBlob: blobOf(input),
    });
  };
}

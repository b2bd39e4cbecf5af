/** Index rows of human decisions, projected from decisionMachine's snapshots. */
import type { Database } from "better-sqlite3";
import type { DecisionRow } from "../store.ts";

export const decisionColumns = `id, run, node, visit, state, code, title, audience, deadline_at_ms as deadlineAt, default_choice as defaultChoice, choice,
  created_at_ms as createdAt, settled_at_ms as settledAt`;

export const upsertDecision = `insert into decisions (id, run, node, visit, state, code, title, audience, deadline_at_ms, default_choice, choice, created_at_ms, settled_at_ms)
  values (:id, :run, :node, :visit, :state, :code, :title, :audience, :deadlineAt, :defaultChoice, :choice, :createdAt, :settledAt)
  on conflict (id) do update set run = excluded.run, node = excluded.node, visit = excluded.visit, state = excluded.state, code = excluded.code, title = excluded.title,
    audience = excluded.audience, deadline_at_ms = excluded.deadline_at_ms, default_choice = excluded.default_choice, choice = excluded.choice,
    created_at_ms = excluded.created_at_ms, settled_at_ms = excluded.settled_at_ms`;

export function decisionWriter(db: Database): (row: DecisionRow) => void {
  const upsert = db.prepare<[DecisionRow]>(upsertDecision);
  return (row) => {
    upsert.run(row);
  };
}

/** Records for tests of stores: small, valid, and each with what a test wants otherwise. */
import { createHash } from "node:crypto";
import type { ActorRecord, BlobWrite, Commit, DecisionRow, EffectRecord, JournalEntry, RunRow, TimerRecord, UpdateRow } from "../../persistence/store.ts";

export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

export const commitOf = (parts: Partial<Commit> = {}): Commit => ({
  eventId: "e",
  at: 1_000,
  expects: {},
  actors: [],
  journal: [],
  timers: [],
  requiresTimers: [],
  effects: [],
  inbox: [],
  rows: [],
  blobs: [],
  ...parts,
});

export const actorOf = (id: string, parts: Partial<ActorRecord> = {}): ActorRecord => ({
  id,
  revision: 1,
  machineId: "machine",
  machineVersion: "1",
  definitionDigest: sha256("definition"),
  status: "active",
  snapshot: `{"value":"a","of":"${id}"}`,
  parent: null,
  childKey: null,
  systemId: null,
  root: parts.parent ?? id,
  createdAt: 1_000,
  updatedAt: 1_000,
  ...parts,
});

export const journalOf = (actor: string, revision: number, parts: Partial<JournalEntry> = {}): JournalEntry => ({
  actor,
  revision,
  eventId: `${actor}:${revision}`,
  type: "go",
  payload: null,
  at: 1_000,
  cause: null,
  machineVersion: "1",
  definitionDigest: sha256("definition"),
  stateValue: `"s${revision}"`,
  contextHash: sha256(`context ${revision}`),
  snapshot: null,
  ...parts,
});

/** One step of an actor from `revision - 1`: its row and its journal row. */
export const stepOf = (id: string, revision: number, parts: Partial<Commit> = {}, actor: Partial<ActorRecord> = {}): Commit =>
  commitOf({
    eventId: `${id}:${revision}`,
    at: 1_000 + revision,
    expects: { [id]: revision - 1 },
    actors: [actorOf(id, { revision, updatedAt: 1_000 + revision, ...actor })],
    journal: [journalOf(id, revision)],
    ...parts,
  });

export const timerOf = (actor: string, key: string, parts: Partial<TimerRecord> = {}): TimerRecord => ({
  actor,
  key,
  dueAt: 5_000,
  to: actor,
  event: `{"type":"${key}"}`,
  revision: 1,
  ...parts,
});

export const effectOf = (actor: string, n: number, parts: Partial<EffectRecord> = {}): EffectRecord => ({
  key: `${actor}@1:${n}`,
  actor,
  root: actor,
  invokeId: `invoke${n}`,
  type: "pawl.compute",
  visit: null,
  idempotencyKey: `${actor}@1:${n}`,
  state: "planned",
  attempt: 1,
  interruptions: 0,
  once: false,
  policy: "{}",
  input: { json: `{"n":${n}}` },
  fingerprint: sha256(`input ${n}`),
  output: null,
  error: null,
  process: null,
  notBefore: null,
  createdAt: 1_000 + n,
  updatedAt: 1_000 + n,
  ambiguousSince: null,
  ...parts,
});

export const runOf = (id: string, parts: Partial<RunRow> = {}): RunRow => ({
  id,
  workflow: "ship",
  sourceDigest: sha256("sources"),
  graphDigest: sha256("graph"),
  state: "running",
  session: null,
  reserves: false,
  reason: null,
  input: { json: `{"task":"${id}"}` },
  createdAt: 1_000,
  updatedAt: 1_000,
  endedAt: null,
  ...parts,
});

export const decisionOf = (id: string, parts: Partial<DecisionRow> = {}): DecisionRow => ({
  id,
  run: "r_1",
  node: "approve",
  visit: "r_1/graph/approve.1",
  state: "open",
  code: `CODE${id}`,
  title: "Approve?",
  audience: "operator",
  deadlineAt: null,
  defaultChoice: null,
  choice: null,
  createdAt: 1_000,
  settledAt: null,
  ...parts,
});

export const blobOf = (content: string): BlobWrite => ({ hash: sha256(content), bytes: Buffer.from(content) });

export const updateOf = (run: string, key: string, change: Partial<UpdateRow> = {}): UpdateRow => ({
  id: `${run}/t/${key}`,
  run,
  type: "t",
  key,
  visit: `${run}/graph/n.1`,
  revision: 1,
  data: "1",
  basis: null,
  createdAt: 1_000,
  updatedAt: 1_000,
  ...change,
});

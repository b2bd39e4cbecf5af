/** `pawl prune`: takes finished runs out of a state directory, and gives their space back. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { RunRow, RunState } from "../../../persistence/store.ts";
import { openStore, type OpenedStore } from "../../../persistence/openStore.ts";
import { PawlError } from "../../errors.ts";
import { systemClock, type Clock } from "../../runtime/clock.ts";
import { everyPage } from "../values.ts";
import { RunReferences } from "./references.ts";

export interface PruneOptions {
  /** State directory, absolute. */
  readonly home: string;
  /** Only runs that ended longer ago than this, in ms. */
  readonly olderThanMs?: number;
  /** Only runs beyond the newest `keep` finished ones. */
  readonly keep?: number;
  /** Changes nothing, and needs no ownership. */
  readonly dryRun?: boolean;
  readonly clock?: Clock;
}

export interface PrunedRun {
  readonly id: string;
  readonly workflow: string;
  readonly state: RunState;
  /** Epoch ms. */
  readonly endedAt: number;
}

export interface PruneReport {
  readonly dryRun: boolean;
  /** What went, or would go; oldest end first. */
  readonly runs: readonly PrunedRun[];
  /** Finished and old enough, but kept: an effect of theirs has an unknown outcome. */
  readonly kept: readonly PrunedRun[];
  /** Rows and values that went; 0 in a dry run. */
  readonly rows: number;
  readonly blobs: number;
  /** Bytes by which the database file is smaller now. */
  readonly freedBytes: number;
}

const finalStates: readonly RunState[] = ["completed", "failed", "timedOut", "cancelled"];

/** @throws invalidInput when it is not said which runs; ownedElsewhere, unless it is a dry run */
export async function pruneRuns({ home, olderThanMs, keep, dryRun = false, clock = systemClock }: PruneOptions): Promise<PruneReport> {
  if (olderThanMs === undefined && keep === undefined)
    throw new PawlError("invalidInput", "Say which finished runs may go: --older-than 30d, or --keep 100 for all but the newest hundred. Nothing was pruned.", {
      path: "--older-than",
    });
  const opened = await openStore({ home, mode: dryRun || !isThere(home) ? "reader" : "owner" });
  try {
    const now = Math.max(clock.now(), await opened.store.lastAt());
    const chosen = await choose(opened, { now, ...(olderThanMs === undefined ? {} : { olderThanMs }), ...(keep === undefined ? {} : { keep }) });
    if (dryRun || opened.owner === null) return { dryRun, runs: chosen.go.map(prunedRun), kept: chosen.stay.map(prunedRun), rows: 0, blobs: 0, freedBytes: 0 };
    return await take(opened, home, chosen, now);
  } finally {
    await opened.release();
  }
}

interface Chosen {
  readonly go: readonly RunRow[];
  readonly stay: readonly RunRow[];
}

async function choose({ store }: OpenedStore, { now, olderThanMs, keep }: { now: number; olderThanMs?: number; keep?: number }): Promise<Chosen> {
  const finished: RunRow[] = [];
  for await (const rows of everyPage((cursor) => store.query("runs", { state: finalStates }, { limit: 500, cursor }))) finished.push(...rows);
  const newestFirst = finished.toSorted((a, b) => endOf(b) - endOf(a) || (a.id < b.id ? 1 : -1));
  const old = newestFirst.slice(keep ?? 0).filter((row) => olderThanMs === undefined || endOf(row) <= now - olderThanMs);
  const unsettled = new Set<string>();
  for await (const effects of everyPage((cursor) => store.query("effects", { state: ["ambiguous", "planned", "attempting"] }, { limit: 500, cursor })))
    for (const { root } of effects) unsettled.add(root);
  const oldestFirst = old.toReversed();
  return { go: oldestFirst.filter(({ id }) => !unsettled.has(id)), stay: oldestFirst.filter(({ id }) => unsettled.has(id)) };
}

async function take({ store, path }: OpenedStore, home: string, { go, stay }: Chosen, now: number): Promise<PruneReport> {
  await store.shrink();
  const before = statSync(path).size;
  const references = await RunReferences.read(store);
  const isKept = (hash: string): boolean => references.isNamed(hash);
  const gone: RunRow[] = [];
  const kept = [...stay];
  let [rows, blobs] = [0, 0];
  for (const row of go) {
    await references.release(row);
    const pruned = await store.prune({ root: row.id, blobs: await references.of(row), isKept, at: now });
    if (pruned === null) {
      await references.restore(row);
      kept.push(row);
      continue;
    }
    gone.push(row);
    rows += pruned.actors + pruned.journal + pruned.effects;
    blobs += pruned.blobs;
  }
  await store.forgetPruned(now, isKept);
  await store.shrink();
  dropCopies(join(home, "sources"), isKept);
  return { dryRun: false, runs: gone.map(prunedRun), kept: kept.map(prunedRun), rows, blobs, freedBytes: Math.max(0, before - statSync(path).size) };
}

/** Copies of sources that no run uses any more: they can be made again from the database, and there they are gone too. */
function dropCopies(directory: string, isKept: (digest: string) => boolean): void {
  if (!isThere(directory)) return;
  for (const name of readdirSync(directory)) if (/^[0-9a-f]{64}$/.test(name) && !isKept(name)) rmSync(join(directory, name), { recursive: true, force: true });
}

const endOf = (row: RunRow): number => row.endedAt ?? row.updatedAt;

const prunedRun = (row: RunRow): PrunedRun => ({ id: row.id, workflow: row.workflow, state: row.state, endedAt: endOf(row) });

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

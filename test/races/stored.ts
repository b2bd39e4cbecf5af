/** What the state directory says of a race once it is over, and what must be true of every one. */
import type { DecisionContext } from "../../machines/decisionVerdicts.ts";
import { openStore } from "../../persistence/index.ts";
import type { ActorStatus, DecisionRow, EffectRecord, JournalRow, RunRow, Store } from "../../persistence/store.ts";
import type { Entry, Ground } from "./ground.ts";
import type { Told } from "./talk.ts";

/** An answer that was sent, and what its sender was told, last time it was sent. */
export interface Candidate {
  readonly key: string;
  readonly choice: string;
  readonly actor: string;
  readonly told: Told;
}

/** What the store answered under a key. */
export interface Kept {
  readonly status: string;
  readonly code: string | null;
  /** Epoch ms at which it counts. */
  readonly at: number;
  /** Its text where it was refused: the journal has the others. */
  readonly event: string | null;
}

export interface Facts {
  readonly entry: Entry;
  readonly row: DecisionRow;
  readonly context: DecisionContext;
  readonly status: ActorStatus;
  /** Of the decision, in order. */
  readonly journal: readonly JournalRow[];
  readonly run: RunRow;
  readonly runJournal: readonly JournalRow[];
  /** Effects of the steps after the decision, however often they were entered. */
  readonly steps: readonly EffectRecord[];
  readonly ends: readonly EffectRecord[];
  /** Executions of those steps. */
  readonly marks: readonly string[];
  readonly kept: ReadonlyMap<string, Kept>;
}

const finals = ["accepted", "defaulted", "cancelled", "expired"];
const nodes: { readonly [choice: string]: string } = { go: "went", stop: "stopped", wait: "waited" };

/** Reads all races from the store of a host that has ended. `keys`: of the answers of a race. */
export async function factsOf(ground: Ground, entries: readonly Entry[], keys: (entry: Entry) => readonly string[]): Promise<Facts[]> {
  const { store, release } = await openStore({ home: ground.home, mode: "reader" });
  const marks = Map.groupBy(ground.marks, (line) => line.slice(0, line.indexOf("/")));
  try {
    const damage = await store.check();
    if (damage.length > 0) throw new Error(damage.join("\n"));
    return await Promise.all(entries.map((entry) => factOf(store, entry, keys(entry), marks.get(entry.run) ?? [])));
  } finally {
    await release();
  }
}

async function factOf(store: Store, entry: Entry, keys: readonly string[], marks: readonly string[]): Promise<Facts> {
  const [record] = await store.load([entry.decision]);
  const [row] = (await store.query("decisions", { id: entry.decision })).items;
  const [run] = (await store.query("runs", { id: entry.run })).items;
  if (record === undefined || row === undefined || run === undefined) throw new Error(`race ${entry.n} is not stored`);
  const effects = (await store.query("effects", { root: entry.run }, { limit: 100 })).items;
  const kept = new Map<string, Kept>();
  for (const key of keys) {
    const found = await store.inbox(entry.decision, `answer:${key}`);
    if (found === null) continue;
    const receipt: { status: string; reply?: { code: string } } = JSON.parse(found.receipt);
    kept.set(key, {
      status: receipt.status,
      code: receipt.reply?.code ?? null,
      at: found.at,
      event: found.event && "json" in found.event ? found.event.json : null,
    });
  }
  const { context }: { context: DecisionContext } = JSON.parse(record.snapshot);
  return {
    entry,
    row,
    context,
    status: record.status,
    journal: await store.journal(entry.decision, 1, 100),
    run,
    runJournal: await store.journal(entry.run, 1, 100),
    steps: effects.filter(({ visit }) => /\/(?:went|stopped|waited)\.\d+$/.test(visit ?? "")),
    ends: effects.filter(({ visit }) => /\/end\.\d+$/.test(visit ?? "")),
    marks: marks.filter((line) => !/\/end\.\d+ /.test(line)),
    kept,
  };
}

/** Rules that a race breaks, in words; none for a right one. `lossless`: no process was lost, so that each execution counts. */
export function faultsOf(facts: Facts, candidates: readonly Candidate[], { lossless = true } = {}): string[] {
  const { entry, row, context, journal, run, runJournal, steps, ends, marks, kept } = facts;
  const faults: string[] = [];
  const rule = (holds: boolean, text: string): void => {
    if (!holds) faults.push(`race ${entry.n} (run ${entry.run}): ${text}`);
  };
  const { resolution } = context;
  const choice = resolution?.response.choice ?? null;
  const keyOfWinner = resolution?.provenance === "human" ? resolution.idempotencyKey : null;

  // One winner, which row, snapshot, journal and audit agree on.
  rule(finals.includes(row.state), `the decision is ${row.state}`);
  rule(row.choice === choice, `its row says ${row.choice}, its snapshot ${choice}`);
  const settling = journal.filter(({ stateValue }) => finals.includes(String(JSON.parse(stateValue))));
  rule(
    journal.filter(({ type, eventId }) => type === "decision.submit" && eventId === `answer:${keyOfWinner}`).length === Number(keyOfWinner !== null),
    "the answer that won was applied otherwise than once",
  );
  const won = context.audit.filter(({ outcome }) => outcome === "won");
  const settles = row.state === "accepted" || row.state === "defaulted" ? 1 : 0;
  rule(settling.length === settles && (settles === 0 || settling[0] === journal.at(-1)), `${settling.length} events settled it`);
  rule(won.length === settles && (settles === 0 || won[0]?.choice === choice), `${won.length} candidates won`);

  // In time, and with the deadline among the candidates.
  const policy = context.audit.filter(({ kind }) => kind === "policy").map(({ outcome }) => outcome);
  const timed = row.deadlineAt !== null && settles === 1;
  rule(policy.join() === (timed ? (row.state === "accepted" ? "lost" : "won") : ""), `the audit has the deadline as ${policy.join() || "nobody"}`);
  if (row.deadlineAt !== null && resolution !== null)
    rule(
      row.state === "accepted" ? resolution.at <= row.deadlineAt : resolution.at > row.deadlineAt,
      `${row.state} at ${resolution.at - row.deadlineAt} ms after the deadline`,
    );

  // One resumption, to where the winner says, and the run ends so.
  const resumed = steps.map(({ visit }) => visit?.split("/").at(-1));
  rule(resumed.length === settles && (choice === null || resumed[0] === `${nodes[choice]}.2`), `${choice} led to ${resumed.join(", ") || "nothing"}`);
  rule(new Set(marks).size === marks.length, `an attempt was executed twice: ${marks.join(", ")}`);
  rule(!lossless || run.state === "cancelled" || marks.length === settles, `the step was executed ${marks.length} times`);
  rule(marks.length <= (steps[0]?.attempt ?? 0), `the step was executed ${marks.length} times in ${steps[0]?.attempt ?? 0} attempts`);
  if (run.state === "completed") rule(steps[0]?.state === "confirmed" && ends.length === 1 && ends[0]?.state === "confirmed", "it ended without its steps");
  else rule(run.state === "cancelled", `the run is ${run.state}`);
  rule(row.state !== "cancelled" || run.state === "cancelled", `its decision is cancelled, and it is ${run.state}`);
  rule(
    runJournal.filter(({ type }) => type === "run.cancel").length === Number(run.state === "cancelled"),
    `the run is ${run.state} otherwise than it was told to`,
  );

  // Each candidate is kept, and was told the truth.
  for (const { key, choice: wanted, actor, told } of candidates) {
    const saved = kept.get(key);
    const isWinner = keyOfWinner === key;
    const isSame = resolution?.provenance === "human" && choice === wanted && resolution.source.actor === actor;
    const said = told.code ?? told.status;
    rule(saved !== undefined, `nothing is kept of answer ${key}`);
    if (saved === undefined) continue;
    // An answer in time beats a default that is not committed yet.
    rule(said !== "defaulted" || (row.deadlineAt !== null && saved.at > row.deadlineAt), `${key} came in time and lost to the default`);
    rule(saved.status !== "applied" || context.audit.some(({ idempotencyKey }) => idempotencyKey === key), `${key} is not in the audit`);
    rule(saved.status === "applied" || (saved.event?.includes(`"choice":"${wanted}"`) ?? false), `the audit has lost what ${key} said`);
    rule(said === saved.code || (said === "duplicate" && saved.code === "accepted"), `${key} was told ${said}, and ${saved.code} is stored`);
    const truth: { readonly [code: string]: boolean } = {
      accepted: isWinner,
      duplicate: isWinner || isSame,
      alreadyDecided: row.state === "accepted" && !isWinner && !isSame && told.winner === choice,
      // Before the default is committed there is no receipt of it yet.
      defaulted: row.state === "defaulted" && (told.winner === null || told.winner === choice),
      cancelled: row.state === "cancelled" && told.winner === null,
      blocked: journal.some(({ type }) => type === "pawl.faulted"),
    };
    rule(truth[said] === true, `${key} was told ${said} (${told.winner}), and the decision is ${row.state} (${choice})`);
  }
  return faults;
}

/** Numbers of the races whose two events one commit group held. `first` and `second` find them among what a group wrote, by race. */
export function together(ground: Ground, entries: readonly Entry[], both: (entry: Entry) => readonly [first: string, second: string]): number {
  const groups = new Map<string, Set<number>>();
  for (const [at, { rows, inbox }] of ground.groups.entries())
    for (const name of [...rows, ...inbox].map(([actor, what]) => `${actor} ${what}`)) groups.set(name, (groups.get(name) ?? new Set()).add(at));
  return entries.filter((entry) => {
    const [first, second] = both(entry).map((name) => groups.get(name) ?? new Set<number>());
    return [...(first ?? [])].some((at) => second?.has(at));
  }).length;
}

/** Checks of what should move: whether each actor can be restored, and what stands still, with the command that frees it. */
import type { RunRow, RunState } from "../../../persistence/store.ts";
import type { SqliteStore } from "../../../persistence/sqliteStore.ts";
import type { DefinitionRegistry } from "../../runtime/definition.ts";
import { dryRun } from "../../runtime/dryRun.ts";
import { Replayer } from "../../runtime/replay.ts";
import type { RunSummary } from "../api.ts";
import type { Reader } from "../reader.ts";
import { everyPage } from "../values.ts";
import { count, finding, type Check, type Finding } from "./report.ts";

/** Whether each living actor goes on with the machines of this Pawl. Actors of a library user's own machines are not this command's to judge. */
export async function checkRestore(store: SqliteStore, registry: DefinitionRegistry): Promise<Check> {
  const findings: Finding[] = [];
  const roots = new Map<string, boolean>();
  let [looked, foreign] = [0, 0];
  for await (const found of dryRun(store, registry)) {
    looked += 1;
    const isRun = roots.get(found.root) ?? (await store.query("runs", { id: found.root }, { limit: 1 })).items.length > 0;
    roots.set(found.root, isRun);
    if (!isRun && found.outcome === "refused") {
      foreign += 1;
      continue;
    }
    if (found.outcome === "migrates")
      findings.push(
        finding(
          "note",
          found.actor,
          `Actor ${found.actor} is taken from version ${found.version} to ${found.to} when Pawl next runs${found.problems.length === 0 ? "." : `: ${found.problems.join("; ")}.`}`,
        ),
      );
    if (found.outcome === "gaps") findings.push(finding("fault", found.actor, `Actor ${found.actor}: ${found.problems.join("; ")}.`, ["cancel", found.root]));
    if (found.outcome === "refused") findings.push(finding("stuck", found.actor, found.problems.join(" "), ["cancel", found.root]));
  }
  if (foreign > 0)
    findings.push(
      finding("note", null, `${count(foreign, "actor")} of machines that this command does not know: the program that registers them can judge them.`),
    );
  return { name: "restore", looked: count(looked, "living actor"), findings };
}

const livingStates: readonly RunState[] = ["queued", "starting", "running", "pausing", "paused", "held", "waiting", "ambiguous", "blocked"];

/** Everything that stands still. `isOwned`: a living process may be moving it right now. */
export async function checkRuns(reader: Reader, store: SqliteStore, isOwned: boolean, now: number): Promise<Check> {
  const findings: Finding[] = [];
  let looked = 0;
  for await (const runs of everyPage((cursor) => reader.runs({ state: livingStates }, { limit: 100, ...(cursor === undefined ? {} : { cursor }) })))
    for (const run of runs) {
      looked += 1;
      findings.push(...stuckRun(run, isOwned));
    }
  findings.push(...(await unsettledEffects(store)), ...(await overdue(store, isOwned, now)));
  return { name: "runs", looked: count(looked, "living run"), findings };
}

function stuckRun(run: RunSummary, isOwned: boolean): readonly Finding[] {
  const { id, state, reason } = run;
  const [resume, cancel] = [
    ["resume", id],
    ["cancel", id],
  ];
  const where = run.current === null ? "" : ` at ${run.current}`;
  switch (state) {
    case "queued":
    case "starting":
    case "running":
    case "pausing":
      // Not while somebody drives it.
      return isOwned ? [] : [finding("stuck", id, `Run ${id} is ${state}${where}, and no process drives it.`, resume, cancel)];
    case "paused":
    case "held":
      return [finding("stuck", id, `Run ${id} is ${state}${where}: it goes on when it is resumed.`, resume, cancel)];
    case "waiting":
      return waiting(run);
    case "blocked":
      return reason?.code === "faulted"
        ? [finding("stuck", id, `Run ${id} is blocked${where}: ${reason.message}`, cancel)]
        : [finding("stuck", id, `Run ${id} is blocked${where}: ${reason?.message ?? "the reason is not known"}`, resume, cancel)];
    case "ambiguous":
      // Told with its effect.
      return run.ambiguous.length > 0 ? [] : [finding("fault", id, `Run ${id} is ambiguous, and no effect of it is.`, cancel)];
    case "completed":
    case "failed":
    case "timedOut":
    case "cancelled":
      return [];
  }
}

function waiting({ id, decisions, current, awaits, reason }: RunSummary): readonly Finding[] {
  if (reason?.code === "noAgent") return [finding("note", id, `Run ${id} waits for an agent: ${reason.message}`)];
  if (awaits?.kind === "time") return [finding("note", id, `Run ${id} waits at ${awaits.node} until ${new Date(awaits.dueAt).toISOString()}.`)];
  if (awaits?.kind === "checkpoint")
    return [finding("note", id, `Run ${id} waits for an answer at checkpoint ${awaits.node}.`, ["answer", id, "--input-json", "JSON"])];
  const open = decisions.filter(({ state }) => state === "open");
  if (open.length === 0) return [finding("fault", id, `Run ${id} waits at ${current ?? "an unknown node"}, and no decision of it is open.`, ["cancel", id])];
  return open.map((decision) =>
    finding(
      "note",
      id,
      `Run ${id} waits for ${decision.audience} to answer decision ${decision.code}.`,
      ...decision.request.choices.map((choice) => ["answer", decision.code, choice.id]),
    ),
  );
}

async function unsettledEffects(store: SqliteStore): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for await (const effects of everyPage((cursor) => store.query("effects", { state: ["ambiguous"] }, { limit: 500, cursor })))
    for (const { key, visit, root } of effects)
      findings.push(
        finding(
          "stuck",
          key,
          `Effect ${key}${visit === null ? "" : ` of visit ${visit}`} of ${root} began, and nothing proves whether it happened. Look outside, then say so.`,
          ["effect", "confirm", key, "--output", "JSON"],
          ["effect", "retry", key],
        ),
      );
  return findings;
}

/** Deadlines that passed while no process ran. */
async function overdue(store: SqliteStore, isOwned: boolean, now: number): Promise<readonly Finding[]> {
  if (isOwned) return [];
  const due = await store.due(now, 500);
  return due.length === 0
    ? []
    : [
        finding(
          "note",
          null,
          `${due.length === 500 ? "500 or more deadlines" : count(due.length, "deadline")} passed while Pawl did not run: what was due takes effect when it next runs.`,
        ),
      ];
}

/** Derives again the journals of one run, or of all. */
export async function checkReplay(store: SqliteStore, registry: DefinitionRegistry, run: RunRow | null): Promise<Check> {
  const replayer = new Replayer(store, registry);
  const findings: Finding[] = [];
  let [actors, steps] = [0, 0];
  for await (const records of everyPage((cursor) => store.query("actors", run === null ? {} : { root: run.id }, { limit: 100, cursor })))
    for (const record of records) {
      const replay = await replayer.replay(record);
      actors += 1;
      if (replay.outcome === "notReplayable") findings.push(finding("note", record.id, `Actor ${record.id} is not replayable: ${replay.reason}.`));
      else steps += replay.steps;
      if (replay.outcome === "different")
        findings.push(
          finding(
            "fault",
            record.id,
            `Actor ${record.id} differs from its journal at revision ${replay.revision} (event "${replay.event}", row ${replay.seq}): stored is ${replay.stored}, derived again from revision ${replay.base} is ${replay.derived}. The machine reads something besides its events, or the database was changed by another hand.`,
          ),
        );
    }
  return { name: "replay", looked: `${count(actors, "actor")}, ${count(steps, "step")}`, findings };
}

/** SIM-5, SIM-9: the index rows of runs and decisions, as people see them. What is final there never changes, and a decision is settled in its time. */
import type { DecisionRow, RowWrite, RunRow } from "../../../persistence/store.ts";
import { must, type Rule } from "../core/world.ts";
import type { Replay } from "./replay.ts";

export class Shelves implements Rule {
  readonly runs = new Map<string, RunRow>();
  readonly decisions = new Map<string, DecisionRow>();
  private readonly replay: Replay;

  constructor(replay: Replay) {
    this.replay = replay;
  }

  /** Takes in a row that was written. */
  put({ table, row }: RowWrite): void {
    if (table === "runs") this.putRun(row);
    else if (table === "decisions") this.putDecision(row);
  }

  /** Each settled decision has moved its step on. */
  check(): void {
    for (const { id, visit, state } of this.decisions.values()) {
      const node = this.replay.actors.get(visit);
      const isOver = state === "accepted" || state === "defaulted" || state === "expired";
      if (isOver) must(node?.status === "done", "SIM-5", () => `decision ${id} is ${state}, and its step is ${node?.status ?? "not there"}`);
    }
  }

  private putRun(row: RunRow): void {
    const before = this.runs.get(row.id);
    const mayChange = before === undefined || before.endedAt === null || JSON.stringify(before) === JSON.stringify(row);
    must(mayChange, "SIM-9", () => `run ${row.id} had ended as ${String(before?.state)}, and is now ${JSON.stringify(row)}`);
    this.runs.set(row.id, row);
  }

  private putDecision(row: DecisionRow): void {
    const before = this.decisions.get(row.id);
    const mayChange = before === undefined || before.state === "open" || JSON.stringify(before) === JSON.stringify(row);
    must(mayChange, "SIM-5", () => `decision ${row.id} was ${String(before?.state)} with "${before?.choice ?? ""}", and is now ${JSON.stringify(row)}`);
    const { id, state, deadlineAt, settledAt } = row;
    if (deadlineAt !== null && settledAt !== null) {
      if (state === "accepted") must(settledAt <= deadlineAt, "SIM-5", () => `decision ${id} was answered at ${settledAt}, after its deadline ${deadlineAt}`);
      if (state === "defaulted" || state === "expired")
        must(settledAt >= deadlineAt, "SIM-8", () => `decision ${id} was ${state} at ${settledAt}, before its deadline ${deadlineAt}`);
    }
    this.decisions.set(row.id, row);
  }
}

/** Committed changes as the events that people watch: one for each visible change, none for what only the machinery does. */
import { decisionContext, decisionState } from "../../machines/decisionView.ts";
import { decisionMachine } from "../../machines/decisionMachine.ts";
import { runMachine } from "../../machines/runMachine.ts";
import type { Change } from "../runtime/runtime.ts";
import { graphOf, nodePath, nodeVisit } from "../visitNames.ts";
import { graphMachineId, type GraphContext } from "../workflow/graph.ts";
import { actorKinds } from "../workflow/kinds.ts";
import type { RunEvent, VisitView } from "./api.ts";
import { runState } from "./runState.ts";
import { actorVisitStatus, effectVisitStatus, visitKind } from "./views.ts";

const finalStatus: readonly VisitView["status"][] = ["accepted", "failed", "timedOut", "cancelled"];

/** Translates changes; remembers only what is open, to tell nothing twice. */
export class RunEvents {
  private readonly told = new Map<string, string>();
  /** Steps whose actor was stopped: why, its graph says right after, in the same commit. */
  private readonly stopped = new Map<string, Extract<Change, { kind: "actor" }>>();

  of(change: Change): readonly RunEvent[] {
    const event = this.ofChange(change);
    return event === null ? this.ofStopped(change) : [...this.ofStopped(change), event];
  }

  private ofChange(change: Change): RunEvent | null {
    switch (change.kind) {
      case "actor":
        return this.ofActor(change);
      case "effect": {
        const { record, at } = change;
        const kind = visitKind(record);
        return kind === undefined || record.visit === null ? null : this.visit(record.root, record.visit, kind, effectVisitStatus(record), record.attempt, at);
      }
      case "line":
        return change.visit === null
          ? null
          : { kind: "line", run: change.root, visit: nodeVisit(change.visit), node: nodePath(change.visit), text: change.text, at: change.at };
      case "emitted":
      case "log":
        return null;
    }
  }

  private ofActor(change: Extract<Change, { kind: "actor" }>): RunEvent | null {
    const { view, at } = change;
    const { id, root, machineId } = view.record;
    if (machineId === runMachine.id) {
      const state = runState(view);
      return this.isNews(id, state, view.record.status !== "active") ? { kind: "run", run: id, state, at } : null;
    }
    if (machineId === decisionMachine.id) {
      const state = decisionState(view);
      return this.isNews(id, state, state !== "open") ? { kind: "decision", run: decisionContext(view).request.run, decision: id, state, at } : null;
    }
    if (!actorKinds.some((kind) => kind === machineId)) return null;
    if (view.record.status !== "stopped") return this.visit(root, id, machineId, actorVisitStatus(view), 1, at);
    this.stopped.set(id, change);
    return null;
  }

  /** Those that this change says why they were stopped: their own graph, or what stopped that too. */
  private ofStopped(change: Change): readonly RunEvent[] {
    if (change.kind !== "actor" || this.stopped.size === 0) return [];
    const { record, context } = change.view;
    const isGraph = record.machineId === graphMachineId;
    if (!isGraph && record.machineId !== runMachine.id) return [];
    const events: RunEvent[] = [];
    for (const [id, { view, at }] of this.stopped) {
      // The run's own change comes last: what no graph has told by then went with all of it.
      if (isGraph ? graphOf(id) !== record.id : view.record.root !== record.root) continue;
      this.stopped.delete(id);
      const timedOut = isGraph && Object.values((context as GraphContext).visits).some((ended) => ended.visit === id && ended.status === "timedOut"); // a graph's own
      const event = this.visit(record.root, id, view.record.machineId, timedOut ? "timedOut" : "cancelled", 1, at);
      if (event !== null) events.push(event);
    }
    return events;
  }

  private visit(run: string, visit: string, nodeKind: string, status: VisitView["status"], attempt: number, at: number): RunEvent | null {
    if (!this.isNews(visit, `${status} ${attempt}`, finalStatus.includes(status))) return null;
    return { kind: "visit", run, visit, node: nodePath(visit), nodeKind, status, attempt, at };
  }

  private isNews(id: string, state: string, isFinal: boolean): boolean {
    const isNew = this.told.get(id) !== state;
    if (isFinal) this.told.delete(id);
    else this.told.set(id, state);
    return isNew;
  }
}

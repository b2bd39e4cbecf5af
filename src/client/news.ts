/** What of the runs that are waited for was told already: after events were missed, their views tell what is new, and nothing twice. Pure; CLIENT-6. */
import type { RunEvent, RunView, VisitView } from "../host/api.ts";

export class News {
  private readonly told = new Map<string, Map<string, string>>();

  /** From now on this run is waited for. */
  follow(run: string): void {
    if (!this.told.has(run)) this.told.set(run, new Map());
  }

  forget(run: string): void {
    this.told.delete(run);
  }

  get followed(): readonly string[] {
    return [...this.told.keys()];
  }

  /** Whether the event says something that was not told. */
  isNew(event: RunEvent): boolean {
    const told = this.told.get(event.run);
    if (told === undefined || event.kind === "line") return true;
    const [key, state] = wordsOf(event);
    if (told.get(key) === state) return false;
    told.set(key, state);
    return true;
  }

  /** The events that lead to this view and were not told. */
  since(view: RunView): readonly RunEvent[] {
    const events: RunEvent[] = [
      ...view.visits.map(({ id, node, kind, status, attempt, startedAt, endedAt }): RunEvent => ({
        kind: "visit",
        run: view.id,
        visit: id,
        node,
        nodeKind: kind,
        status,
        attempt,
        at: endedAt ?? startedAt,
      })),
      ...view.decisions.map(({ id, state, createdAt, settledAt }): RunEvent => ({
        kind: "decision",
        run: view.id,
        decision: id,
        state,
        at: settledAt ?? createdAt,
      })),
      ...view.visits.flatMap((visit) => notificationOf(view.id, visit)),
      ...view.updates.map((update): RunEvent => ({ kind: "update", run: view.id, update, at: update.updatedAt })),
      { kind: "run", run: view.id, state: view.state, at: view.endedAt ?? view.updatedAt },
    ];
    return events.filter((event) => this.isNew(event));
  }
}

/** What a notify node has told, by its visit. */
function notificationOf(run: string, { id, node, kind, status, output, startedAt, endedAt }: VisitView): readonly RunEvent[] {
  if (kind !== "notify" || status !== "accepted" || typeof output !== "object" || output === null) return [];
  if (!("text" in output) || typeof output.text !== "string") return [];
  const as = "kind" in output && output.kind === "final" ? "final" : "progress";
  return [{ kind: "notification", run, visit: id, node, as, text: output.text, at: endedAt ?? startedAt }];
}

function wordsOf(event: Exclude<RunEvent, { kind: "line" }>): readonly [string, string] {
  switch (event.kind) {
    case "run":
      return [event.run, event.state];
    case "visit":
      return [event.visit, `${event.status} ${event.attempt}`];
    case "decision":
      return [event.decision, event.state];
    case "update":
      return [`update ${event.update.type} ${event.update.key}`, String(event.update.revision)];
    case "notification":
      return [`notification ${event.visit}`, "told"];
  }
}

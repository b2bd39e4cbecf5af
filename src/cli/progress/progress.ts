/** What is known of a driven run, folded from its view and the events that followed; pure. */
import type { RunState } from "../../../persistence/store.ts";
import type { RunEvent, RunView, UpdateView, VisitView } from "../../host/api.ts";

/** A visit as progress shows it. */
export interface VisitProgress {
  readonly visit: string;
  readonly node: string;
  readonly status: VisitView["status"];
  readonly attempt: number;
  /** The case taken, once known; null for a node with one way out. */
  readonly case: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** The last lines a running step printed, oldest first. */
  readonly lines: readonly string[];
  /** What it published last, by type and key: the newest. */
  readonly updates: readonly UpdateView[];
}

export interface Progress {
  readonly run: string;
  readonly workflow: string;
  readonly state: RunState;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** In the order in which they were entered. */
  readonly visits: readonly VisitProgress[];
}

const keptLines = 3;
const keptUpdates = 3;

const withUpdate = (updates: readonly UpdateView[], update: UpdateView): readonly UpdateView[] =>
  [...updates.filter(({ type, key }) => type !== update.type || key !== update.key), update].slice(-keptUpdates);

export function progressOf(view: RunView): Progress {
  return {
    run: view.id,
    workflow: view.workflow,
    state: view.state,
    startedAt: view.createdAt,
    endedAt: view.endedAt,
    visits: view.visits.map((visit) => ({
      visit: visit.id,
      node: visit.node,
      status: visit.status,
      attempt: visit.attempt,
      case: visit.case === "done" ? null : visit.case,
      startedAt: visit.startedAt,
      endedAt: visit.endedAt,
      lines: [],
      updates: view.updates.filter((update) => update.visit === visit.id).slice(-keptUpdates),
    })),
  };
}

/** The progress after one event; events of other runs change nothing. */
export function advance(progress: Progress, event: RunEvent): Progress {
  if (event.run !== progress.run) return progress;
  switch (event.kind) {
    case "run":
      return { ...progress, state: event.state };
    case "visit":
      return { ...progress, visits: withVisit(progress.visits, event) };
    case "line":
      return {
        ...progress,
        visits: progress.visits.map((visit) => (visit.visit === event.visit ? { ...visit, lines: [...visit.lines, event.text].slice(-keptLines) } : visit)),
      };
    case "update":
      return {
        ...progress,
        visits: progress.visits.map((visit) => (visit.visit === event.update.visit ? { ...visit, updates: withUpdate(visit.updates, event.update) } : visit)),
      };
    case "notification":
    case "decision":
      return progress;
  }
}

function withVisit(visits: readonly VisitProgress[], event: Extract<RunEvent, { kind: "visit" }>): readonly VisitProgress[] {
  const open = event.status === "running" || event.status === "waiting" || event.status === "ambiguous";
  const known = visits.find((visit) => visit.visit === event.visit);
  const next: VisitProgress = {
    visit: event.visit,
    node: event.node,
    status: event.status,
    attempt: event.attempt,
    case: known?.case ?? null,
    startedAt: known?.startedAt ?? event.at,
    endedAt: open ? null : event.at,
    lines: open && known?.attempt === event.attempt ? known.lines : [],
    updates: known?.updates ?? [],
  };
  return known ? visits.map((visit) => (visit === known ? next : visit)) : [...visits, next];
}

/** True while the visit's time still runs. */
export const isOpen = (visit: VisitProgress): boolean => visit.endedAt === null;

/** The deadline of a step as the graph keeps it: what is left of it while it stands still, and when it runs out while it does not. Pure.
 *  WF-33 it stands still while the run is paused, held, ambiguous or blocked, and while the node has stopped its clock. */
import type { GraphContext, StepDeadline } from "./graph.ts";

type Clocked = Pick<GraphContext, "deadline" | "frozen">;

/** Raised when a deadline runs out. `ms` is the whole of it. */
export interface StepTimedOut {
  readonly type: "step.timedOut";
  readonly ms: number;
}

/** A node names its own deadline; null: none. */
export interface DeadlineEvent {
  readonly type: "node.deadline";
  readonly ms: number | null;
}

const runs = ({ deadline, frozen }: Clocked): boolean => deadline !== null && !frozen && !deadline.stopped;

/** A deadline of so many ms from now on. */
export function givenDeadline(context: Clocked, ms: number | null, at: number): StepDeadline | null {
  return ms === null ? null : ticking({ ...context, deadline: { ms, leftMs: ms, dueAt: null, stopped: context.deadline?.stopped ?? false } }, at);
}

/** The same deadline, going on or standing still as the context says now. */
export function ticking(context: Clocked, at: number): StepDeadline | null {
  const { deadline } = context;
  if (deadline === null) return null;
  if (runs(context)) return deadline.dueAt === null ? { ...deadline, dueAt: at + deadline.leftMs } : deadline;
  return deadline.dueAt === null ? deadline : { ...deadline, dueAt: null, leftMs: Math.max(1, deadline.dueAt - at) };
}

/** True for the end of a deadline that runs: one that came while it stands still is not due yet. */
export const isDue = ({ deadline }: Clocked): boolean => deadline !== null && deadline.dueAt !== null;

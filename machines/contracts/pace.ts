/** How fast work goes on and when it ends, from what its step told. Apart from the schema: what only reads state needs no validator. */
import type { Progress } from "./progress.ts";

/** Schema id, and the type of the update that carries it. */
export const progressType = "pawl.progress.v1";

/** The first observation of the series that the rate is taken over. */
export interface ProgressBasis {
  /** Epoch ms. */
  readonly at: number;
  readonly completed: number;
  readonly phase: string | null;
  readonly unit: string | null;
}

export interface Pace {
  /** Units a second; null while it cannot be told. */
  readonly perSecond: number | null;
  /** ms from the latest observation to the end at this rate; null while it cannot be told. */
  readonly remainingMs: number | null;
}

/** The basis after one more observation: a series ends where what is counted changes or falls. */
export function basisAfter(basis: ProgressBasis | null, { completed, phase, unit }: Progress, latest: number | null, at: number): ProgressBasis | null {
  if (completed === undefined) return null;
  const goesOn = basis !== null && basis.phase === (phase ?? null) && basis.unit === (unit ?? null) && latest !== null && completed >= latest;
  return goesOn ? basis : { at, completed, phase: phase ?? null, unit: unit ?? null };
}

/** What is further away than a hundred years is not told. */
const longestRemainingMs = 100 * 365 * 86_400_000;

/** From the first to the latest observation; only work that has grown has a pace, and only work with a total has an end. */
export function paceOf(basis: ProgressBasis | null, { completed, total, status }: Progress, at: number): Pace {
  if (basis === null || completed === undefined || completed <= basis.completed || at <= basis.at || (status !== undefined && status !== "running"))
    return { perSecond: null, remainingMs: null };
  const perMs = (completed - basis.completed) / (at - basis.at);
  const perSecond = perMs * 1_000;
  if (!(perMs > 0 && Number.isFinite(perSecond))) return { perSecond: null, remainingMs: null };
  const remaining = total === undefined || total <= completed ? null : (total - completed) / perMs;
  return { perSecond, remainingMs: remaining !== null && remaining <= longestRemainingMs ? Math.round(remaining) : null };
}

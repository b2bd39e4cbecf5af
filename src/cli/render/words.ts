/** The words, marks and tones of states: one table each. */
import type { DecisionState, EffectState, RunState } from "../../../persistence/store.ts";
import type { RunSummary, VisitView } from "../../host/api.ts";
import { isFinal } from "../exitCodes.ts";
import type { Tone } from "./style.ts";

interface Look {
  readonly word: string;
  readonly tone: Tone;
}

export const runLooks: Readonly<Record<RunState, Look>> = {
  queued: { word: "queued", tone: "plain" },
  starting: { word: "starting", tone: "plain" },
  running: { word: "running", tone: "plain" },
  pausing: { word: "pausing", tone: "attention" },
  paused: { word: "paused", tone: "attention" },
  held: { word: "held", tone: "attention" },
  waiting: { word: "waiting", tone: "attention" },
  ambiguous: { word: "ambiguous", tone: "bad" },
  blocked: { word: "blocked", tone: "bad" },
  completed: { word: "completed", tone: "good" },
  failed: { word: "failed", tone: "bad" },
  timedOut: { word: "timed out", tone: "bad" },
  cancelled: { word: "cancelled", tone: "quiet" },
};

/** Marks are one cell wide in every terminal font. */
export const visitLooks: Readonly<Record<VisitView["status"], Look & { readonly mark: string }>> = {
  running: { mark: "▸", word: "running", tone: "strong" },
  waiting: { mark: "?", word: "waiting", tone: "attention" },
  accepted: { mark: "✓", word: "completed", tone: "good" },
  failed: { mark: "✗", word: "failed", tone: "bad" },
  timedOut: { mark: "✗", word: "timed out", tone: "bad" },
  cancelled: { mark: "-", word: "cancelled", tone: "quiet" },
  ambiguous: { mark: "!", word: "ambiguous", tone: "bad" },
};

export const decisionLooks: Readonly<Record<DecisionState, Look>> = {
  open: { word: "open", tone: "attention" },
  accepted: { word: "answered", tone: "good" },
  defaulted: { word: "defaulted", tone: "plain" },
  cancelled: { word: "cancelled", tone: "quiet" },
  expired: { word: "expired", tone: "bad" },
};

export const effectLooks: Readonly<Record<EffectState, Look>> = {
  planned: { word: "planned", tone: "plain" },
  attempting: { word: "attempting", tone: "strong" },
  confirmed: { word: "confirmed", tone: "good" },
  failed: { word: "failed", tone: "bad" },
  ambiguous: { word: "ambiguous", tone: "bad" },
  dropped: { word: "dropped", tone: "quiet" },
};

/** A pause that stands beside the state and does not show in it. */
export const isPausedBeside = ({ state, pausedAt }: Pick<RunSummary, "state" | "pausedAt">): boolean =>
  pausedAt !== null && state !== "paused" && state !== "pausing" && !isFinal(state);

/** What a step published, as people and programs see it: progress with its rate and its remaining time. */
import { paceOf, progressType, type Pace, type ProgressBasis } from "../../../machines/contracts/pace.ts";
import type { Progress } from "../../../machines/contracts/progress.ts";
import type { UpdateRow } from "../../../persistence/store.ts";
import { nodePath } from "../../visitNames.ts";

/** Progress as its step told it, and what follows from that. */
export type ProgressView = Progress & Pace;

export interface UpdateView {
  readonly type: string;
  readonly key: string;
  readonly visit: string;
  /** As people call it. */
  readonly node: string;
  /** 1, and one more each time it is replaced. */
  readonly revision: number;
  readonly data: unknown;
  /** Of an update that tells progress; null for any other. */
  readonly progress: ProgressView | null;
  /** Epoch ms of the first and of the latest one. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const basisIn = (row: Pick<UpdateRow, "basis">): ProgressBasis | null => (row.basis === null ? null : (JSON.parse(row.basis) as ProgressBasis)); // written by the desk

export function updateView(row: UpdateRow): UpdateView {
  const { type, key, visit, revision, createdAt, updatedAt } = row;
  const data: unknown = JSON.parse(row.data);
  const progress = type === progressType ? (data as Progress) : null; // it was checked by that schema before it was stored
  return {
    type,
    key,
    visit,
    node: nodePath(visit),
    revision,
    data,
    progress: progress === null ? null : { ...progress, ...paceOf(basisIn(row), progress, updatedAt) },
    createdAt,
    updatedAt,
  };
}

/** How far a step's work has come, as it says itself; rate and remaining time are computed from what it said, and absent where that does not allow them. */
import { z } from "zod";
import { plainString } from "./strings.ts";

export const Progress = z.strictObject({
  /** What is being done, for people. */
  label: plainString({ max: 120 }).optional(),
  status: z.enum(["running", "completed", "failed"]).optional(),
  /** The part of the work that it is in; each has a count of its own. */
  phase: plainString({ max: 120 }).optional(),
  completed: z.number().min(0).optional(),
  total: z.number().positive().optional(),
  /** What is counted: `files`. */
  unit: plainString({ max: 32 }).optional(),
});
export type Progress = z.infer<typeof Progress>;

/** What a step hands over: progress of a key, `main` unless set. */
export type ProgressRequest = Progress & { readonly key?: string | undefined };

/** Names that stand in rows and in compiled graphs. */

/** Effect and machine names the compiled graph invokes; the host registers one executor or machine for each. */
export const graphEffects = {
  compute: "pawl.compute",
  action: "pawl.action",
  shell: "pawl.shell",
  /** Runs a decision's callbacks and returns the request, or throws. */
  prepareDecision: "pawl.decision.prepare",
  /** Loads a run's stored sources, checks them against the graph digest, validates the input. */
  prepareRun: "pawl.run.prepare",
} as const;

/** Names that stand in rows and in compiled graphs. */

/** Effect and machine names the compiled graph invokes; the host registers one executor or machine for each. */
export const graphEffects = {
  compute: "pawl.compute",
  action: "pawl.action",
  shell: "pawl.shell",
  notify: "pawl.notify",
  /** Runs the callbacks of a step that an agent works on, brings its message to an agent, and looks at what that submitted. */
  prepareAgent: "pawl.agent.prepare",
  deliverAgent: "pawl.agent.deliver",
  checkAgent: "pawl.agent.check",
  /** Runs a decision's callbacks and returns the request, or throws. */
  prepareDecision: "pawl.decision.prepare",
  /** Runs the callback that gives an author's machine its input, and looks at what the machine ended with. */
  prepareMachine: "pawl.machine.prepare",
  acceptMachine: "pawl.machine.accept",
  /** Runs a wait's callbacks and returns its time. */
  prepareWait: "pawl.wait.prepare",
  /** Runs a checkpoint's callbacks and returns what it asks for. */
  prepareCheckpoint: "pawl.checkpoint.prepare",
  /** Gives an included workflow its input. */
  prepareInclude: "pawl.include.prepare",
  /** Runs the callback that gives a batch its commands, runs one of them, and puts the results together. */
  prepareBatch: "pawl.batch.prepare",
  batchItem: "pawl.batch.item",
  collectBatch: "pawl.batch.collect",
  /** Loads a run's stored sources, checks them against the graph digest, validates the input. */
  prepareRun: "pawl.run.prepare",
} as const;

/** What executes the effects that compiled graphs and runs name. Author code runs here and nowhere else. */
import path from "node:path";
import type { Store } from "../../persistence/store.ts";
import type { PrepareRunInput } from "../../machines/runMachine.ts";
import type { ActorView } from "../runtime/definition.ts";
import type { Clock } from "../runtime/clock.ts";
import { EffectFailure, type EffectTask, type Executor, type Executors } from "../runtime/executor.ts";
import { isPawlError } from "../errors.ts";
import { limited } from "../workflow/deadline.ts";
import { prepareDecision } from "../workflow/decisionStep.ts";
import { executeNode, type Executed } from "../workflow/execute.ts";
import { graphEffects, type NodeInput } from "../workflow/graph.ts";
import { parseShell, shellSpec } from "../workflow/shellStep.ts";
import { nodeContext, VisitResults, type NodeFacts } from "./nodeContext.ts";
import { runShell } from "./shell.ts";
import type { RunFacts, RunSources } from "./sources.ts";
import { everyPage } from "./values.ts";

export interface ExecutorOptions {
  readonly store: Store;
  readonly sources: RunSources;
  readonly clock: Clock;
  /** The runtime's view of an actor: from memory while it is there. */
  readonly view: (actor: string) => Promise<ActorView | null>;
}

export function hostExecutors({ store, sources, clock, view }: ExecutorOptions): Executors {
  const results = new VisitResults(store);

  const node =
    (work: (facts: RunFacts & NodeFacts, task: EffectTask) => Promise<Awaited<ReturnType<Executor>>>): Executor =>
    async (task) => {
      const input = task.input as NodeInput; // the effects named below are invoked by compiled graphs and node machines only, with this
      const run = await runFacts(sources, input.run);
      const done = await work({ ...run, ...(await nodeContext(view, results, run.definition, run.input, input, task)) }, task);
      if (task.visit !== null && "value" in done) results.remember(task.visit, done.value);
      return done;
    };

  const callback = node(async ({ definition, node: id, context }) => outcome(await executeNode(definition, id, context, clock)));

  return {
    [graphEffects.compute]: callback,
    [graphEffects.action]: callback,
    [graphEffects.shell]: node(async (facts, task) => outcome(await shellStep(facts, task, clock))),
    [graphEffects.prepareDecision]: node(async ({ definition, node: id, context }, task) => {
      const { run, visit } = task.input as NodeInput; // as above
      // The effect belongs to the node's own actor: its visit is the actor.
      return prepareDecision(
        definition,
        id,
        { ...context, idempotencyKey: `${run}/graph/${visit}` },
        { run, isTaken: async (code) => (await store.query("decisions", { code, state: ["open"] }, { limit: 1 })).items.length > 0 },
      );
    }),
    [graphEffects.prepareRun]: async (task) => {
      const { run } = task.input as PrepareRunInput; // runMachine invokes it with this
      return { output: { ready: true }, value: await sources.prepare(run) };
    },
  };
}

/** The event carries only the case; the value stays in the effect's row. */
const outcome = (executed: Executed) => ({ output: { case: executed.case }, value: executed.value });

async function runFacts(sources: RunSources, run: string): Promise<RunFacts> {
  try {
    return await sources.facts(run);
  } catch (error) {
    throw isPawlError(error) && error.code === "sourceUnloadable" ? new EffectFailure("sourceUnloadable", error.message) : error;
  }
}

async function shellStep({ definition, node, context, cwd }: RunFacts & NodeFacts, task: EffectTask, clock: Clock): Promise<Executed> {
  const spec = await shellSpec(definition, node, context, clock);
  const limit = limited(task.signal, spec.timeoutMs, clock);
  try {
    const result = await runShell(
      { ...spec, cwd: path.resolve(cwd, spec.cwd ?? ".") },
      { signal: limit.signal, leftover: task.leftover, saveProcess: (process) => task.saveProcess(process), report: (line) => task.report(line) },
    );
    return await parseShell(definition, node, context, result);
  } finally {
    limit.stop();
  }
}

/** Codes of all open decisions: a new one must differ. */
export async function openCodes(store: Pick<Store, "query">): Promise<readonly string[]> {
  const codes: string[] = [];
  for await (const rows of everyPage((cursor) => store.query("decisions", { state: ["open"] }, { limit: 500, cursor })))
    codes.push(...rows.map(({ code }) => code));
  return codes;
}

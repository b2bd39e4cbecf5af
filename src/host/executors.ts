/** What executes the effects that compiled graphs and runs name: hands author code what is stored, and the runtime what it gave. */
import path from "node:path";
import type { Store } from "../../persistence/store.ts";
import type { BuiltDecision } from "../../machines/contracts/buildRequest.ts";
import type { PrepareRunInput } from "../../machines/runMachine.ts";
import type { ActorView } from "../runtime/definition.ts";
import type { Clock } from "../runtime/clock.ts";
import { EffectFailure, Interrupted, type EffectOutcome, type EffectTask, type Executor, type Executors } from "../runtime/executor.ts";
import { isPawlError } from "../errors.ts";
import { limited } from "../workflow/deadline.ts";
import { withCode } from "../workflow/decisionStep.ts";
import type { Executed } from "../workflow/execute.ts";
import { graphEffects, type NodeInput } from "../workflow/graph.ts";
import type { MachineStart } from "../workflow/machineStep.ts";
import type { PreparedNode } from "../workflow/prepareNode.ts";
import { checkSubmit } from "./agents/check.ts";
import { publishing } from "./updates/sources.ts";
import type { UpdateDesk } from "./updates/updateDesk.ts";
import type { CheckpointQuestion } from "../workflow/checkpointStep.ts";
import type { AuthorCode, VisitCall } from "./author/authorCode.ts";
import { machineVersion } from "./author/authorMachine.ts";
import { Batches } from "./batches.ts";
import { begun } from "./begun.ts";
import { visitCall, VisitResults } from "./nodeContext.ts";
import { runShell } from "./shell.ts";
import type { RunSources } from "./sources.ts";
import { WeightedCache } from "./weightedCache.ts";

export interface ExecutorOptions {
  readonly store: Store;
  readonly sources: RunSources;
  readonly author: AuthorCode;
  readonly clock: Clock;
  /** The runtime's view of an actor: from memory while it is there. */
  readonly view: (actor: string) => Promise<ActorView | null>;
  /** Brings messages to agents. */
  readonly deliver: Executor;
  readonly updates: UpdateDesk;
}

/** How often a compute may take its process down with it. */
const computeLosses = 3;

export function hostExecutors({ store, sources, author, clock, view, deliver, updates }: ExecutorOptions): Executors {
  const results = new VisitResults(store);
  const losses = new Losses(computeLosses);

  const batches = new Batches({
    store,
    project: (run) => sources.project(run),
    accept: async (task, found) => {
      const input = task.input as NodeInput; // batchNode gives it
      return begun(async () => {
        const call = await visitCall(view, results, await sources.facts(input.run), input, task);
        return author.acceptNode({ ...call, idempotencyKey: call.visit }, found, task);
      });
    },
  });

  const node =
    (work: (call: VisitCall, task: EffectTask) => Promise<EffectOutcome>): Executor =>
    async (task) => {
      const input = task.input as NodeInput; // the effects named below are invoked by compiled graphs and node machines only, with this
      const done = await begun(async () => work(await visitCall(view, results, await sources.facts(input.run), input, task), task));
      if (task.visit !== null && "value" in done) results.remember(task.visit, done.value);
      return done;
    };

  return {
    [graphEffects.compute]: node((call, task) => losses.counted(task.key, async () => outcome(await author.execute(call, task)))),
    [graphEffects.action]: node(async (call, task) => outcome(await publishing(call, task, updates, view, (watch) => author.execute(call, watch)))),
    [graphEffects.notify]: node(async (call, task) => outcome(await author.execute(call, task))),
    [graphEffects.prepareAgent]: node(async (call, task) => {
      const { timeoutMs, value } = await author.prepareNode({ ...call, idempotencyKey: call.visit }, task);
      return { output: { timeoutMs }, value };
    }),
    [graphEffects.deliverAgent]: deliver,
    [graphEffects.checkAgent]: node((call, task) => checkSubmit(author, call, task)),
    [graphEffects.shell]: node(async (call, task) => outcome(await shellStep(author, call, task, clock))),
    [graphEffects.prepareDecision]: node(async (call, task) => {
      // The effect belongs to the node's own actor: its visit is the actor.
      const { timeoutMs, value } = await author.prepareNode({ ...call, idempotencyKey: call.visit }, task);
      const built = value as BuiltDecision; // this effect is invoked for decisions only
      const prepared = await withCode(built, async (code) => (await store.query("decisions", { code, state: ["open"] }, { limit: 1 })).items.length > 0);
      return { ...prepared, output: { ...prepared.output, timeoutMs } };
    }),
    [graphEffects.prepareMachine]: node(async (call, task) => {
      const { timeoutMs, value } = await prepareNode(author, call, task);
      const { source, graph, node: of } = call;
      const start = value as MachineStart; // this effect is invoked for machines only
      return { output: { timeoutMs, version: machineVersion({ source, graph, node: of, path: [] }), ...start } };
    }),
    [graphEffects.acceptMachine]: node(async (call, task) => {
      const { output } = task.input as { readonly output: unknown }; // machineNode gives it
      return outcome(await author.acceptNode({ ...call, idempotencyKey: call.visit }, output, task));
    }),
    [graphEffects.prepareWait]: node(async (call, task) => {
      const { timeoutMs, value } = await prepareNode(author, call, task);
      return { output: { timeoutMs, wait: value } };
    }),
    [graphEffects.prepareCheckpoint]: node(async (call, task) => {
      const { timeoutMs, value } = await prepareNode(author, call, task);
      return { output: { timeoutMs, ...(value as CheckpointQuestion) } }; // this effect is invoked for checkpoints only
    }),
    [graphEffects.prepareInclude]: node(async (call, task) => {
      const { timeoutMs, value } = await prepareNode(author, call, task);
      return { output: { timeoutMs }, value };
    }),
    [graphEffects.prepareBatch]: node(async (call, task) => {
      const { timeoutMs, value } = await prepareNode(author, call, task);
      return { output: { timeoutMs, count: (value as readonly unknown[]).length }, value }; // this effect is invoked for batches only
    }),
    [graphEffects.batchItem]: batches.item,
    [graphEffects.collectBatch]: batches.collect,
    [graphEffects.prepareRun]: async (task) => {
      const { run } = task.input as PrepareRunInput; // runMachine invokes it with this
      return {
        output: { ready: true },
        value: await prepared(async () => author.prepare(await sources.given(run), task)),
      };
    },
  };
}

/** The effect belongs to the node's own actor: its visit is the actor. */
const prepareNode = (author: AuthorCode, call: VisitCall, task: EffectTask): Promise<PreparedNode> =>
  author.prepareNode({ ...call, idempotencyKey: call.visit }, task);

/** The event carries only the case; the value stays in the effect's row. */
const outcome = (executed: Executed): EffectOutcome => ({ output: { case: executed.case }, value: executed.value });

/** What keeps a run from starting: what can be mended blocks it. */
async function prepared<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isPawlError(error)) throw error;
    if (error.code === "invalidInput") throw new EffectFailure(error.code, error.message);
    throw error.code === "sourceUnloadable" || error.code === "workerUnavailable" ? new EffectFailure("sourceUnloadable", error.message) : error;
  }
}

async function shellStep(author: AuthorCode, call: VisitCall, task: EffectTask, clock: Clock): Promise<Executed> {
  const spec = await author.shellSpec(call, task);
  const limit = limited(task.signal, spec.timeoutMs, clock);
  try {
    const result = await runShell(
      { ...spec, cwd: path.resolve(call.cwd, spec.cwd ?? ".") },
      { signal: limit.signal, leftover: task.leftover, saveProcess: (process) => task.saveProcess(process), report: (line) => task.report(line) },
    );
    return await author.parseShell(call, result, task).catch((error: unknown) => {
      // The command has run: what is lost now is more than a beginning.
      throw isPawlError(error) && error.code === "workerUnavailable" ? new Interrupted(error.message) : error;
    });
  } finally {
    limit.stop();
  }
}

/**
 * Bounds how often an effect without a bound of its own may lose its worker. In memory: a loss of the host counts for nothing here, and a loop
 * of worker losses is one of this host's life.
 */
class Losses {
  private readonly limit: number;
  private readonly counts = new WeightedCache<number>(10_000);

  constructor(limit: number) {
    this.limit = limit;
  }

  async counted<T>(key: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      const count = (this.counts.get(key) ?? 0) + 1;
      this.counts.set(key, count, 1);
      if (count < this.limit) throw error;
      throw new EffectFailure(error.reason, error.message);
    }
  }
}

/** A host in the process of who uses it: the owner of a state directory, or a reader beside one. The same runtime as a daemon's, without a socket. */
import type { EffectRecord, RunState } from "../../persistence/store.ts";
import { openStore, type OpenedStore } from "../../persistence/openStore.ts";
import { isPawlError, messageOf, PawlError } from "../errors.ts";
import { systemClock, type Clock } from "../runtime/clock.ts";
import { createRuntime } from "../runtime/createRuntime.ts";
import type { ActorView } from "../runtime/definition.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { RunCommand } from "../../machines/runMachine.ts";
import { nodePath } from "../visitNames.ts";
import type { Executed } from "../workflow/execute.ts";
import type { NodeInput } from "../workflow/graph.ts";
import { graphEffects } from "../workflow/graphEffects.ts";
import type { AuthorCode } from "./author/authorCode.ts";
import { submitAnswer } from "./answers.ts";
import { ConfiguredAudiences, mayAnswer, type Audiences } from "./channels/audiences.ts";
import { confirmedItem } from "./batches.ts";
import { answerCheckpoint } from "./checkpoints.ts";
import type { AnswerRequest, AnswerResult, CheckpointAnswer, CheckpointResult, EffectView, EmbeddedHost, OpenOptions, RunEvent, RunView } from "./api.ts";
import { Agents } from "./agents/agents.ts";
import type { AgentExecutor } from "./agents/agentExecutor.ts";
import { authorMachines } from "./authorMachines.ts";
import { hostRegistry } from "./catalog.ts";
import { RunEvents } from "./events.ts";
import { hostExecutors } from "./executors.ts";
import { Halt } from "./halt.ts";
import { launch, type Launched, type LaunchRequest } from "./launch.ts";
import { findRun } from "./lookup.ts";
import { endLeftOver } from "./processes.ts";
import { backUp } from "../../persistence/backup.ts";
import { Reader } from "./reader.ts";
import { runState } from "./runState.ts";
import { SessionQueue } from "./sessionQueue.ts";
import { RunSources } from "./sources.ts";
import { standingOf, type Standing } from "./standing.ts";
import { everyPage, readValue } from "./values.ts";
import { effectView, visitKind } from "./views.ts";
import { WorkerPool, type WorkerLimits } from "./workers/workerPool.ts";

export { openReader } from "./openReader.ts";

export interface EmbeddedOptions extends OpenOptions {
  /** The machine's own unless given. */
  readonly clock?: Clock;
  /** `all`: queued runs begin, interrupted ones go on, and every run goes on until it rests, whether it is driven or not. Only driven ones when left out. */
  readonly adopt?: "all";
  /** How the owner introduces itself to whom it keeps out; no arguments, no input. The script's name when left out. */
  readonly command?: string;
  /** Where author code runs: in this process, or in worker processes of its own. `inProcess` when left out. */
  readonly author?: "workers" | "inProcess";
  readonly workerLimits?: WorkerLimits;
  /** Works on the agent steps of runs without a session; without one they wait, and say so. */
  readonly agent?: AgentExecutor;
  /** Hears that the store refused for good: nothing more is accepted until it is opened again. */
  readonly onHalted?: (error: PawlError) => void;
  /** Hears errors that nobody awaits; a warning of this process when left out. */
  readonly onProblem?: (error: unknown) => void;
  /** Crash points of the store, for tests. */
  readonly hooks?: Parameters<typeof openStore>[0]["hooks"];
}

/** What a daemon and a test need besides. */
export interface DaemonHost extends EmbeddedHost {
  standing(): Promise<Standing>;
  /** Resolves when nothing works: what goes on goes on by time or by people alone. @throws aborted */
  idle(signal: AbortSignal): Promise<void>;
}

const finalStates: readonly RunState[] = ["completed", "failed", "timedOut", "cancelled"];
const restingStates: readonly RunState[] = [...finalStates, "waiting", "ambiguous", "paused", "held", "blocked"];

/**
 * Opens a state directory as its one owner; a missing one is made. Deadlines that passed meanwhile take effect; runs go on only when they are driven.
 * @throws ownedElsewhere naming the owner, storageForeign, storageNewer, storageDamaged, storageReadOnly, storageFull
 */
export async function openEmbedded({
  home,
  clock = systemClock,
  author: where = "inProcess",
  workerLimits,
  agent,
  hooks,
  adopt,
  command,
  onHalted,
  onProblem = (error) => process.emitWarning(`Pawl: ${messageOf(error)}`),
}: EmbeddedOptions): Promise<DaemonHost> {
  const opened = await openStore({ home, mode: "owner", ...(command === undefined ? {} : { command }), ...(hooks === undefined ? {} : { hooks }) });
  const sources = new RunSources(opened.store, home);
  const directoryOf = (source: string): Promise<string> => sources.directory(source);
  const author: AuthorCode = where === "workers" ? new WorkerPool({ directoryOf, limits: workerLimits }) : await inThisProcess(directoryOf, clock);
  try {
    const halt = new Halt();
    const agents = new Agents({ store: opened.store, agent: agent ?? null, clock, runtime: () => runtime });
    const runtime: Runtime = await createRuntime({
      store: opened.store,
      definitions: hostRegistry(opened.store, authorMachines({ author, sources, onProblem })),
      executors: hostExecutors({
        store: opened.store,
        sources,
        author,
        clock,
        view: (actor) => runtime.peek(actor),
        deliver: agents.deliver,
        updates: agents.updates,
      }),
      clock,
      // What cannot be ended is met again by the next attempt, which refuses to run beside it.
      endProcess: async (process) => void (await endLeftOver(process)),
      beforeMigration: async () => void (await backUp(opened.store, home, clock.now())),
      onHalted: (error) => {
        halt.set(error);
        onHalted?.(error);
      },
      // Once the store refuses, everything that still comes in meets the same refusal: it is told where the run is driven.
      onError: (error) => void (halt.isReason(error) || onProblem(error)),
    });
    const host = new Embedded({ opened, audiences: new ConfiguredAudiences(home), sources, author, halt, runtime, clock, agents });
    await runtime.recover();
    if (adopt === "all") await host.adoptAll();
    return host;
  } catch (error) {
    await author.close();
    await opened.release();
    throw error;
  }
}

/** Loaded only where it is used: a host whose author code runs in workers holds no loader of it. */
async function inThisProcess(directoryOf: (source: string) => Promise<string>, clock: Clock): Promise<AuthorCode> {
  const { InProcess } = await import("./author/inProcess.ts");
  return new InProcess({ directoryOf, clock });
}

interface Parts {
  readonly opened: OpenedStore;
  readonly audiences: Audiences;
  readonly sources: RunSources;
  readonly author: AuthorCode;
  readonly halt: Halt;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly agents: Agents;
}

class Embedded extends Reader implements DaemonHost {
  private readonly opened: OpenedStore;
  private readonly sources: RunSources;
  private readonly author: AuthorCode;
  private readonly halt: Halt;
  private readonly runtime: Runtime;
  private readonly clock: Clock;
  private readonly queue: SessionQueue;
  private readonly agents: Agents;
  private readonly listeners = new Set<(event: RunEvent) => void>();
  /** How many drives each run has now: the last to leave stops it. */
  private readonly drives = new Map<string, number>();
  /** Runs go on although nobody drives them. */
  private adoptsAll = false;
  private closing: Promise<void> | undefined;
  private readonly closers = new Set<(error: PawlError) => void>();

  constructor({ opened, audiences, sources, author, halt, runtime, clock, agents }: Parts) {
    super(opened.store, audiences);
    this.opened = opened;
    this.sources = sources;
    this.author = author;
    this.halt = halt;
    this.runtime = runtime;
    this.clock = clock;
    this.queue = new SessionQueue(opened.store, runtime);
    this.agents = agents;
    const tell = (event: RunEvent): void => {
      for (const listener of this.listeners) listener(event);
    };
    agents.onEvent(tell);
    const events = new RunEvents();
    runtime.subscribe((change) => {
      for (const event of events.of(change)) tell(event);
      agents.heard(change);
    });
  }

  async start(request: LaunchRequest): Promise<Launched> {
    const begin = (): Promise<Launched> => launch({ runtime: this.runtime, store: this.store, author: this.author }, request, this.clock.now());
    if (request.session !== undefined) return this.queue.taking(request.session, begin);
    const launched = await begin();
    // Whoever started it may be gone already.
    if (this.adoptsAll && !launched.duplicate) await this.runtime.send(launched.id, { type: "run.activate" });
    return launched;
  }

  /** Takes up every run, those that start later included. */
  async adoptAll(): Promise<void> {
    this.adoptsAll = true;
    await this.runtime.adoptAll();
    for await (const rows of everyPage((cursor) => this.store.query("runs", { state: ["queued"] }, { limit: 500, cursor })))
      // One that belongs to a conversation begins when that is idle.
      for (const { id, session } of rows) if (session === null) await this.runtime.send(id, { type: "run.activate" });
    await this.queue.offerAll();
    await this.agents.connectAll();
  }

  idle(signal: AbortSignal): Promise<void> {
    return this.runtime.settled({ signal });
  }

  standing(): Promise<Standing> {
    return standingOf(this.store);
  }

  async drive(id: string, { signal }: { signal?: AbortSignal } = {}): Promise<RunView> {
    const { id: run, state } = await findRun(this.store, id);
    if (finalStates.includes(state) || signal?.aborted) return this.run(run);
    this.halt.check();
    if (!(await this.canMove(run, state))) return this.run(run);
    this.drives.set(run, (this.drives.get(run) ?? 0) + 1);
    try {
      await this.rest(run, signal, () => this.wake(run, state));
    } finally {
      const left = (this.drives.get(run) ?? 1) - 1;
      if (left > 0) this.drives.set(run, left);
      else {
        this.drives.delete(run);
        if (!this.adoptsAll) await this.runtime.release(run);
      }
    }
    return this.run(run);
  }

  async answer(request: AnswerRequest): Promise<AnswerResult> {
    const find = async (): Promise<{ readonly id: string; readonly isAllowed: boolean }> => {
      const { id, audience } = await this.findDecision(request.decision);
      // Whoever is no person is refused by the decision itself, whatever the configuration says.
      return { id, isAllowed: request.source.kind !== "human" || mayAnswer(await this.audiences.policy(audience), request.source.channel) };
    };
    return submitAnswer(this.runtime, request, { now: this.clock.now(), find, read: (id) => this.decision(id) });
  }

  async answerCheckpoint(request: CheckpointAnswer): Promise<CheckpointResult> {
    const { id: run } = await findRun(this.store, request.run);
    const accept = async ({ record }: ActorView, output: unknown): Promise<Executed> => {
      const workflow = await this.sources.facts(run);
      return this.author.acceptOutput(workflow, nodePath(record.id), output);
    };
    return answerCheckpoint({ store: this.store, runtime: this.runtime, accept, now: () => this.clock.now() }, run, request);
  }

  async cancel(id: string, by: "user" | "agent"): Promise<RunView> {
    const { id: run, state } = await findRun(this.store, id);
    if (finalStates.includes(state)) return this.run(run);
    const begun = await this.begunEffects(run);
    try {
      const receipt = await this.runtime.send(run, { type: "run.cancel", by });
      // It may have ended between being read and being cancelled: then its outcome stands and is shown.
      if (receipt.status === "refused" && receipt.code !== "finished")
        throw new PawlError("refused", `Run ${run} cannot be cancelled now: ${receipt.code ?? "refused"}. Try again.`, { subject: run });
    } catch (error) {
      await this.endProcesses(run, begun);
      if (isPawlError(error) && error.kind === "environment")
        throw new PawlError(error.code, `The processes of run ${run} were ended, but its cancellation is not saved: ${error.message} Then cancel it again.`, {
          subject: run,
          cause: error,
        });
      throw error;
    }
    await this.endProcesses(run, begun);
    return this.run(run);
  }

  async pause(id: string, key?: string): Promise<RunView> {
    const { id: run, state } = await findRun(this.store, id);
    if (!finalStates.includes(state)) await this.command(run, { type: "run.pause" }, key);
    return this.run(run);
  }

  async resume(id: string, key?: string): Promise<RunView> {
    const { id: run, state } = await findRun(this.store, id);
    if (finalStates.includes(state)) return this.run(run);
    const faulted = await this.faultedActors(run);
    for (const actor of faulted) await this.runtime.retryFault(actor);
    const resume = (): Promise<void> => this.command(run, { type: "run.resume" }, key);
    // One that has not begun takes its session at once, if it has one by then.
    if (faulted.length === 0) await this.queue.taking(async () => (await findRun(this.store, run)).session, resume);
    return this.run(run);
  }

  async hold(id: string, key?: string): Promise<RunView> {
    const { id: run } = await findRun(this.store, id);
    await this.command(run, { type: "run.hold" }, key);
    return this.run(run);
  }

  async adoptRun(id: string, session: string, key?: string): Promise<RunView> {
    const { id: run } = await findRun(this.store, id);
    await this.queue.taking(session, () => this.command(run, { type: "run.adopt", session }, key));
    return this.run(run);
  }

  async confirmEffect(key: string, output: unknown): Promise<EffectView> {
    const record = await this.ambiguousEffect(key);
    if (record.type === graphEffects.batchItem) return effectView(await this.runtime.confirmEffect(key, confirmedItem(key, output)));
    if (visitKind(record) === undefined) return effectView(await settledHere(record, "confirmEffect", this.runtime.confirmEffect(key, { output })));
    const { run } = (await readValue(this.store, record.input)) as NodeInput; // visitKind: a compiled graph invoked it
    const node = nodePath(record.visit ?? "");
    const workflow = await this.sources.facts(run);
    const accepted = await this.author.acceptOutput(workflow, node, output).catch((error: unknown) => {
      throw new PawlError(
        "invalidInput",
        `Effect "${key}" was not confirmed: ${messageOf(error)} It stays ambiguous; give the output that the step would have returned.`,
        { subject: key, path: "output", cause: error },
      );
    });
    return effectView(await this.runtime.confirmEffect(key, { output: { case: accepted.case }, value: accepted.value }));
  }

  async retryEffect(key: string): Promise<EffectView> {
    const record = await this.ambiguousEffect(key);
    return effectView(await settledHere(record, "retryEffect", this.runtime.retryEffect(key)));
  }

  subscribe(listener: (event: RunEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): Promise<void> {
    for (const tell of this.closers)
      tell(new PawlError("closed", "The host was closed while the run was being driven. The run is safe: open the state directory again and drive it on."));
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    try {
      await this.runtime.close();
      await this.agents.updates.settled();
      await this.author.close();
    } finally {
      await this.opened.release();
    }
  }

  /** Whether a run's steps could be executed. One that waits anyway goes on waiting. @throws sourceUnloadable for one that would go on; nothing is changed then */
  private async canMove(run: string, state: RunState): Promise<boolean> {
    // These load the sources in an effect of their own, and are blocked when that fails.
    if (state === "queued" || state === "starting" || state === "blocked") return true;
    try {
      await this.author.ready(await this.sources.facts(run));
      return true;
    } catch (error) {
      if (restingStates.includes(state)) return false;
      throw error;
    }
  }

  /** Adopted first: what a command asks for then runs without a commit of its own to begin it. */
  private async wake(run: string, state: RunState): Promise<void> {
    await this.runtime.adopt(run);
    if (state === "queued") await this.runtime.send(run, { type: "run.activate" });
    if (state === "blocked") await this.runtime.send(run, { type: "run.resume" });
    if (state === "waiting") await this.queue.offer(run);
    await this.agents.connect(run);
  }

  /** @throws refused, saying the state, when the run has no use for it now */
  private async command(run: string, event: RunCommand, key: string | undefined): Promise<void> {
    const { code } = await this.runtime.send(run, event, key === undefined ? {} : { eventId: key });
    // A refusal that is told again carries its code too.
    if (code === undefined || code === "finished") return;
    const view = await this.runtime.view(run);
    throw new PawlError("refused", `Run ${run} is ${view === null ? "gone" : runState(view)}: "${event.type}" has no meaning now. Nothing was changed.`, {
      subject: run,
    });
  }

  private async faultedActors(run: string): Promise<readonly string[]> {
    return (await this.store.query("actors", { root: run, status: ["faulted"] }, { limit: 500 })).items.map(({ id }) => id);
  }

  /** Resolves when the run rests, or the signal aborts. @throws when the store refuses to go on */
  private async rest(run: string, signal: AbortSignal | undefined, begin: () => Promise<void>): Promise<void> {
    const stops: (() => void)[] = [];
    const rested = new Promise<void>((resolve, reject) => {
      stops.push(
        this.runtime.subscribe((change) => {
          if (change.kind === "actor" && change.view.record.id === run && restingStates.includes(runState(change.view))) resolve();
        }),
        this.halt.onHalt(reject),
        () => this.closers.delete(reject),
      );
      this.closers.add(reject);
      if (signal !== undefined) {
        const abort = (): void => resolve();
        signal.addEventListener("abort", abort, { once: true });
        stops.push(() => signal.removeEventListener("abort", abort));
      }
    });
    // Awaited below; a rejection before that must not count as unhandled.
    rested.catch(() => undefined);
    try {
      await begin();
      const view = await this.runtime.view(run);
      if (view !== null && restingStates.includes(runState(view))) return;
      await rested;
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** @throws unknownEffect; refused, with the state, for one that is not ambiguous */
  private async ambiguousEffect(key: string): Promise<EffectRecord> {
    const [record] = await this.store.effects([key]);
    if (record === undefined)
      throw new PawlError("unknownEffect", `There is no effect "${key}". List those with an unknown outcome: \`pawl effect list\``, { subject: key });
    if (record.state !== "ambiguous") {
      const open = record.state === "planned" || record.state === "attempting";
      const first = open ? ` If whatever was working on it is gone, go on with the run first, which finds out: \`pawl resume ${record.root}\`` : "";
      throw new PawlError("refused", `Effect "${key}" is ${record.state}: only an ambiguous effect waits for a person's word. Nothing was changed.${first}`, {
        subject: key,
      });
    }
    return record;
  }

  private async begunEffects(run: string): Promise<readonly EffectRecord[]> {
    return (await this.store.query("effects", { root: run, state: ["planned", "attempting"] }, { limit: 500 })).items.filter(({ process }) => process !== null);
  }

  /** Ends what a run's attempts have running: those of this process by their signal, those of a lost owner by their recorded group. */
  private async endProcesses(run: string, begun: readonly EffectRecord[]): Promise<void> {
    await Promise.all([this.runtime.release(run), ...begun.map(({ process }) => (process === null ? [] : endLeftOver(process)))]);
  }
}

/** A machine that a program brought itself is known to that program alone: only there can its effects move it on. */
async function settledHere({ key, actor }: EffectRecord, method: string, work: Promise<EffectRecord>): Promise<EffectRecord> {
  try {
    return await work;
  } catch (error) {
    if (!isPawlError(error) || error.code !== "restoreRefused") throw error;
    throw new PawlError(
      "restoreRefused",
      `Effect "${key}" belongs to actor "${actor}", whose machine is known only to the program that started it: settle it there, with ${method} of what openPawl gives. It stays ambiguous; nothing was changed.`,
      { subject: key, cause: error },
    );
  }
}

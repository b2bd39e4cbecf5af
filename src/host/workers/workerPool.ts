/** Author code in worker processes: one for each project and source digest, a few at once, ended when they idle. Rules WORKER-*; why: docs/decisions/0018-workers.md. */
import { NotApplied } from "../../../machines/define.ts";
import { sha256Hex } from "../../digest.ts";
import { isPawlError, messageOf, PawlError } from "../../errors.ts";
import { jsonText, readBack } from "../../json.ts";
import { systemClock } from "../../runtime/clock.ts";
import { Interrupted, type EffectOutcome, type Observed } from "../../runtime/executor.ts";
import { maxValueBytes, type Executed } from "../../workflow/execute.ts";
import { digestOfGraph } from "../../workflow/graph.ts";
import type { PreparedNode } from "../../workflow/prepareNode.ts";
import type { ShellResult } from "../../workflow/nodes/shell.ts";
import type { ShellSpec } from "../../workflow/shellStep.ts";
import type { AuthorCode, LoadedSources, LoadRequest, PreparedRun, StoredRun, StoredWorkflow, VisitCall, Watch } from "../author/authorCode.ts";
import type { AuthorMachine, PromiseCall, StepAnswer, StepRequest } from "../author/authorMachine.ts";
import { WeightedCache } from "../weightedCache.ts";
import { MachineCalls, type Limited, type Question } from "./machineCalls.ts";
import type { Answer, Body, Method } from "./messages.ts";
import { GivenUp, Places, type Place } from "./places.ts";
import type { StartedWorker } from "./startWorker.ts";
import { packRun, packVisit } from "./texts.ts";
import type { WorkerProcess } from "./workerProcess.ts";

export interface PoolOptions {
  /** Where the stored sources of this digest stand as files. @throws sourceUnloadable */
  readonly directoryOf: (source: string) => Promise<string>;
  readonly limits?: WorkerLimits | undefined;
}

/** Times in ms. */
export interface WorkerLimits {
  /** How long a worker may block its event loop; 30,000. */
  readonly blockedMs?: number | undefined;
  /** How long one is kept that has nothing to do; 60,000. */
  readonly idleMs?: number | undefined;
  /** How long a workflow's file may take to load for a launch; 60,000. */
  readonly loadMs?: number | undefined;
  /** Heap of one worker in MiB; Node's own limit when left out. */
  readonly memoryMb?: number | undefined;
  /** How long one step of an author's machine may take; 10,000. */
  readonly stepMs?: number | undefined;
  /** Workers at once; 8. */
  readonly atOnce?: number | undefined;
  /** One more stands by, this one first where it was started already; none when left out. */
  readonly spare?: boolean | StartedWorker | undefined;
}

/** For calls that nobody can take back. */
const unwatched = (): Watch => ({ signal: new AbortController().signal, report: () => undefined });

/** How often a visit, and the start of a run, may be interrupted: as their effects say. */
const visitChances = 3;
const startChances = 2;
/** Visits and starts that have lost a worker: so many are remembered. */
const lossesKept = 10_000;

/** Loading does nothing outside: a process that is lost at it may be somebody else's doing, and only one that is lost each time is the file's. */
const loadTries = 3;

const isLoss = (error: unknown): boolean => error instanceof Interrupted || (isPawlError(error) && error.code === "workerUnavailable");

export class WorkerPool implements AuthorCode {
  private readonly options: PoolOptions;
  private readonly places: Places;
  /** Where each worker finds its sources: looked after once for it, since a step must not read all of them again. */
  private readonly directories = new WeakMap<WorkerProcess, Promise<string>>();
  private readonly losses = new WeightedCache<number>(lossesKept);
  private launches = 0;
  private readonly loadMs: number;
  private readonly machines: MachineCalls;

  constructor(options: PoolOptions) {
    const { blockedMs = 30_000, idleMs = 60_000, memoryMb, atOnce = 8, spare = false, loadMs = 60_000, stepMs = 10_000 } = options.limits ?? {};
    this.options = options;
    this.loadMs = loadMs;
    this.machines = new MachineCalls({
      stepMs,
      loadMs,
      ask: (method, question, watch, limited) => this.ask(method, question, watch, limited),
      guarded: (workflow, id, work) => this.guarded(workflow, id, visitChances, work),
      sharedPlace,
    });
    this.places = new Places({ blockedMs, idleMs, atOnce, spare, memoryMb: memoryMb ?? null });
  }

  async load({ workflow, cwd, userHome, input, isLook = false }: LoadRequest): Promise<LoadedSources> {
    const texts = input === undefined ? [] : [{ key: null, json: fitting(input, "run's input") }];
    const { loadMs } = this;
    const limit = new AbortController();
    const stop = systemClock.schedule(systemClock.now() + loadMs, () => limit.abort("cancelled"));
    const body = (): Body<"load"> => ({ workflow, cwd, userHome, input: input === undefined ? null : 0, isLook });
    const once = (): Promise<Answer<"load">> => {
      // A process of its own each time: what the file imports is then what stands there now.
      this.launches += 1;
      const place: Place = { kind: "launch", key: `launch ${this.launches}`, cwd };
      // What it has loaded is what the run will run: it goes on as that run's worker.
      const next = ({ source }: Answer<"load">): Place => sharedPlace({ source, cwd });
      return this.ask("load", { place, source: null, body, texts, ...(isLook ? {} : { next }) }, { ...unwatched(), signal: limit.signal });
    };
    try {
      for (let left = loadTries - 1; ; left -= 1) {
        try {
          return checked(await once());
        } catch (error) {
          if (left === 0 || limit.signal.aborted || !isLoss(error)) throw error;
        }
      }
    } catch (error) {
      const failed = (what: string): PawlError =>
        new PawlError("loadFailed", `Cannot load workflow "${workflow}": ${what}`, { subject: workflow, cause: error });
      if (limit.signal.aborted) throw failed(`it took longer than ${loadMs} ms. Nothing was started.`);
      if (error instanceof Interrupted) throw failed(`${messageOf(error)} Nothing was started.`);
      throw error;
    } finally {
      stop();
    }
  }

  /** A file that takes its process down is told where it counts: by the step that runs it. */
  async ready(run: StoredRun): Promise<void> {
    try {
      await this.guarded(run, run.run, startChances, (place) => this.ask("ready", runQuestion(run, place), unwatched()));
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
    }
  }

  async prepare(run: StoredRun, watch: Watch): Promise<PreparedRun> {
    const json = await this.guarded(run, run.run, startChances, (place) => this.ask("prepare", runQuestion(run, place), watch));
    return json === null ? null : { input: JSON.parse(json) };
  }

  async execute(visit: VisitCall, watch: Watch): Promise<Executed> {
    return executed(await this.askOfVisit("execute", visit, (common) => common, watch));
  }

  async shellSpec(visit: VisitCall, watch: Watch): Promise<ShellSpec> {
    const { cwd, env, stdin, ...spec } = await this.askOfVisit("shellSpec", visit, (common) => common, watch);
    const variables = Object.fromEntries(env.map(([name, value]) => [name, value ?? undefined]));
    return { ...spec, cwd: cwd ?? undefined, env: variables, stdin: stdin ?? undefined };
  }

  async parseShell(visit: VisitCall, { exitCode, signal, stdout, stderr, truncated }: ShellResult, watch: Watch): Promise<Executed> {
    const result = { exitCode, signal, stdout, stderr, truncated: { ...truncated } };
    return executed(await this.askOfVisit("parseShell", visit, (common) => ({ ...common, result }), watch));
  }

  async prepareNode(visit: VisitCall, watch: Watch): Promise<PreparedNode> {
    return readBack(await this.askOfVisit("prepareNode", visit, (common) => common, watch));
  }

  async acceptNode(visit: VisitCall, output: unknown, watch: Watch): Promise<Executed> {
    const { call, texts } = packVisit(visit);
    const all = [...texts, { key: null, json: fitting(output, "output") }];
    const body = (directory: string): Body<"acceptNode"> => ({ directory, call, output: texts.length });
    return executed(
      await this.guarded(visit, visit.visit, visitChances, (place) => this.ask("acceptNode", { place, source: visit.source, body, texts: all }, watch)),
    );
  }

  async acceptOutput({ source, graph, cwd }: StoredWorkflow, node: string, output: unknown): Promise<Executed> {
    const workflow = { source, graph, cwd };
    const texts = [{ key: null, json: fitting(output, "output") }];
    const body = (directory: string): Body<"acceptOutput"> => ({ directory, workflow, node, output: 0 });
    return executed(await this.ask("acceptOutput", { place: sharedPlace(workflow), source, body, texts }, unwatched()));
  }

  step(machine: AuthorMachine, request: StepRequest): Promise<StepAnswer> {
    return this.machines.step(machine, request);
  }

  perform(machine: AuthorMachine, name: string): Promise<void> {
    return this.machines.perform(machine, name);
  }

  promise(machine: AuthorMachine, call: PromiseCall, watch: Watch): Promise<EffectOutcome> {
    return this.machines.promise(machine, call, watch);
  }

  observe(machine: AuthorMachine, call: PromiseCall, watch: Watch): Promise<Observed> {
    return this.machines.observe(machine, call, watch);
  }

  close(): Promise<void> {
    return this.places.close();
  }

  private async askOfVisit<M extends "execute" | "shellSpec" | "parseShell" | "prepareNode">(
    method: M,
    visit: VisitCall,
    body: (common: Body<"execute">) => Body<M>,
    watch: Watch,
  ): Promise<Answer<M>> {
    const { call, texts } = packVisit(visit);
    return this.guarded(visit, visit.visit, visitChances, (place) =>
      this.ask(method, { place, source: visit.source, body: (directory) => body({ directory, call }), texts }, watch),
    );
  }

  /** The last chance is had alone: a loss then is nobody else's, and what another did to it before is not met again. */
  private async guarded<T>(workflow: StoredWorkflow, id: string, chances: number, work: (place: Place) => Promise<T>): Promise<T> {
    const shared = sharedPlace(workflow);
    const lost = this.losses.get(id) ?? 0;
    try {
      return await work(lost < chances - 1 ? shared : { ...shared, kind: "own", key: `${shared.key} ${id}` });
    } catch (error) {
      if (error instanceof Interrupted) this.losses.set(id, lost + 1, 1);
      throw error;
    }
  }

  private async ask<M extends Method>(method: M, { place, source, body, texts, next }: Question<M>, watch: Watch, limited?: Limited): Promise<Answer<M>> {
    const { signal } = watch;
    for (;;) {
      const { worker, leave } = await this.places.take(place, signal).catch((error: unknown) => {
        throw error instanceof GivenUp ? new NotApplied("It had not begun.") : error;
      });
      try {
        const directory = source === null ? "" : await this.directoryFor(worker, source);
        await limited?.before(worker, directory);
        // It may have ended meanwhile, and then knows nothing of this.
        if (worker.isThere) {
          const answer = await worker.call(method, body(directory), texts, {
            signal,
            report: (line) => watch.report(line),
            heartbeat: () => watch.heartbeat?.(),
            ...(watch.update ? { update: watch.update } : {}),
            onAbandoned: () => leave(),
            ...(limited ? { deadline: limited.deadline } : {}),
          });
          leave(next?.(answer));
          return answer;
        }
      } finally {
        leave();
      }
    }
  }

  private directoryFor(worker: WorkerProcess, source: string): Promise<string> {
    const known = this.directories.get(worker) ?? this.options.directoryOf(source);
    this.directories.set(worker, known);
    known.catch(() => this.directories.delete(worker));
    return known;
  }
}

const sharedPlace = ({ source, cwd }: Pick<StoredWorkflow, "source" | "cwd">): Place => ({ kind: "shared", key: `${source} ${cwd}`, cwd });

function runQuestion(run: StoredRun, place: Place): Question<"ready" | "prepare"> {
  const { call, texts } = packRun(run);
  return { place, source: run.source, body: (directory) => ({ directory, call }), texts };
}

const executed = ({ case: taken, json }: Answer<"execute">): Executed => ({ case: taken, value: JSON.parse(json) });

/** JSON text that the channel surely carries. */
function fitting(value: unknown, what: string): string {
  const json = jsonText(value, what);
  const bytes = Buffer.byteLength(json);
  if (bytes <= maxValueBytes) return json;
  throw new PawlError("invalidInput", `The ${what} has ${bytes} bytes of JSON; the limit is ${maxValueBytes}. Put it into a file and give its path.`, {
    path: "",
  });
}

/** What is stored under a digest must be what has it, whoever says so. */
function checked(loaded: Answer<"load">): LoadedSources {
  const [manifest] = loaded.blobs;
  if (manifest !== undefined && sha256Hex(manifest) === loaded.source && digestOfGraph(loaded.graph) === loaded.graphDigest) return loaded;
  throw new PawlError("internal", `The worker that loaded workflow "${loaded.name}" gave digests that are not those of what it loaded.`, {
    subject: loaded.name,
  });
}

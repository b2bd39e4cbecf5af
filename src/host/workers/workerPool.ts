/** Author code in worker processes: one for each project and source digest, a few at once, ended when they idle. Rules WORKER-*; why: docs/decisions/0018-workers.md. */
import type { BuiltDecision } from "../../../machines/contracts/buildRequest.ts";
import { NotApplied } from "../../../machines/define.ts";
import { sha256Hex } from "../../digest.ts";
import { isPawlError, messageOf, PawlError } from "../../errors.ts";
import { jsonText, readBack } from "../../json.ts";
import { systemClock } from "../../runtime/clock.ts";
import { Interrupted } from "../../runtime/executor.ts";
import { maxValueBytes, type Executed } from "../../workflow/execute.ts";
import { digestOfGraph } from "../../workflow/graph.ts";
import type { ShellResult } from "../../workflow/nodes/shell.ts";
import type { ShellSpec } from "../../workflow/shellStep.ts";
import type { AuthorCode, LoadedSources, LoadRequest, PreparedRun, StoredRun, StoredWorkflow, VisitCall, Watch } from "../author/authorCode.ts";
import type { Answer, Body, Method } from "./messages.ts";
import { Places, type Place } from "./places.ts";
import { packRun, packVisit, type Text } from "./texts.ts";

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
  /** Workers at once; 8. */
  readonly atOnce?: number | undefined;
}

const never: Watch = { signal: new AbortController().signal, report: () => undefined };

export class WorkerPool implements AuthorCode {
  private readonly options: PoolOptions;
  private readonly places: Places;

  constructor(options: PoolOptions) {
    const { blockedMs = 30_000, idleMs = 60_000, memoryMb, atOnce = 8 } = options.limits ?? {};
    this.options = options;
    this.places = new Places({ blockedMs, idleMs, atOnce, memoryMb: memoryMb ?? null });
  }

  async load({ workflow, cwd, userHome, input }: LoadRequest): Promise<LoadedSources> {
    const texts = input === undefined ? [] : [{ key: null, json: fitting(input, "run's input") }];
    const loadMs = this.options.limits?.loadMs ?? 60_000;
    const limit = new AbortController();
    const stop = systemClock.schedule(systemClock.now() + loadMs, () => limit.abort("cancelled"));
    try {
      // A process of its own each time: what the file imports is then what stands there now.
      const place = { key: null, cwd };
      const loaded = await this.ask(place, "load", { workflow, cwd, userHome, input: input === undefined ? null : 0 }, texts, {
        ...never,
        signal: limit.signal,
      });
      return checked(loaded);
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
    const { call, texts } = packRun(run);
    try {
      await this.ask(placeOf(run), "ready", { directory: await this.directory(run), call }, texts, never);
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
    }
  }

  async prepare(run: StoredRun, watch: Watch): Promise<PreparedRun> {
    const { call, texts } = packRun(run);
    const json = await this.ask(placeOf(run), "prepare", { directory: await this.directory(run), call }, texts, watch);
    return json === null ? null : { input: JSON.parse(json) };
  }

  async execute(visit: VisitCall, watch: Watch): Promise<Executed> {
    const { call, texts } = packVisit(visit);
    return executed(await this.ask(placeOf(visit), "execute", { directory: await this.directory(visit), call }, texts, watch));
  }

  async shellSpec(visit: VisitCall, watch: Watch): Promise<ShellSpec> {
    const { call, texts } = packVisit(visit);
    const { cwd, env, stdin, ...spec } = await this.ask(placeOf(visit), "shellSpec", { directory: await this.directory(visit), call }, texts, watch);
    const variables = Object.fromEntries(env.map(([name, value]) => [name, value ?? undefined]));
    return { ...spec, cwd: cwd ?? undefined, env: variables, stdin: stdin ?? undefined };
  }

  async parseShell(visit: VisitCall, { exitCode, signal, stdout, stderr, truncated }: ShellResult, watch: Watch): Promise<Executed> {
    const { call, texts } = packVisit(visit);
    const result = { exitCode, signal, stdout, stderr, truncated: { ...truncated } };
    return executed(await this.ask(placeOf(visit), "parseShell", { directory: await this.directory(visit), call, result }, texts, watch));
  }

  async buildDecision(visit: VisitCall, watch: Watch): Promise<BuiltDecision> {
    const { call, texts } = packVisit(visit);
    return readBack(await this.ask(placeOf(visit), "buildDecision", { directory: await this.directory(visit), call }, texts, watch));
  }

  async acceptOutput(stored: StoredWorkflow, node: string, output: unknown): Promise<Executed> {
    const { source, graph, cwd } = stored;
    const workflow = { source, graph, cwd };
    const texts = [{ key: null, json: fitting(output, "output") }];
    return executed(await this.ask(placeOf(stored), "acceptOutput", { directory: await this.directory(stored), workflow, node, output: 0 }, texts, never));
  }

  close(): Promise<void> {
    return this.places.close();
  }

  private directory({ source }: StoredWorkflow): Promise<string> {
    return this.options.directoryOf(source);
  }

  private async ask<M extends Method>(place: Place, method: M, body: Body<M>, texts: readonly Text[], watch: Watch): Promise<Answer<M>> {
    const { signal } = watch;
    const notBegun = (): Error => new NotApplied("It had not begun.");
    if (signal.aborted) throw notBegun();
    const { worker, leave } = await this.places.take(place, signal).catch((error: unknown) => {
      throw signal.aborted && !isPawlError(error) ? notBegun() : error;
    });
    try {
      return await worker.call(method, body, texts, { signal, report: (line) => watch.report(line), onAbandoned: leave });
    } finally {
      leave();
    }
  }
}

const placeOf = ({ source, cwd }: StoredWorkflow): Place => ({ key: `${source} ${cwd}`, cwd });

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

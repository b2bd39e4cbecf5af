/** What the pool asks for authors' machines: steps, in a worker of their own for each source and project and within a time, and promises, where the
 *  workflow's other code runs. Rules MACH-*; why: docs/decisions/0020-author-machines.md. */
import { messageOf, PawlError } from "../../errors.ts";
import { Interrupted, type EffectOutcome, type Observed } from "../../runtime/executor.ts";
import type { StoredWorkflow, Watch } from "../author/authorCode.ts";
import { describeStep, type AuthorMachine, type PromiseCall, type StepAnswer, type StepRequest } from "../author/authorMachine.ts";
import type { Answer, Body, Method } from "./messages.ts";
import type { Place } from "./places.ts";
import { packPromise, type Text } from "./texts.ts";
import type { CallOptions, WorkerProcess } from "./workerProcess.ts";

/** A call with everything but its directory. */
export interface Question<M extends Method> {
  readonly place: Place;
  /** Digest of the sources that it needs as files; null for a launch. */
  readonly source: string | null;
  readonly body: (directory: string) => Body<M>;
  readonly texts: readonly Text[];
  /** What its worker may go on as, once it has answered; it ends, or stays what it is, when left out. */
  readonly next?: (answer: Answer<M>) => Place;
}

/** A call that must be answered within a time. `before` is done first, and has its own. */
export interface Limited {
  readonly deadline: NonNullable<CallOptions["deadline"]>;
  readonly before: (worker: WorkerProcess, directory: string) => Promise<void>;
}

export interface MachineCallsOptions {
  /** How long one step may take, and the loading of its workflow's file, ms. */
  readonly stepMs: number;
  readonly loadMs: number;
  readonly ask: <M extends Method>(method: M, question: Question<M>, watch: Watch, limited?: Limited) => Promise<Answer<M>>;
  /** The place for an attempt of a promise, by how often its process was lost. */
  readonly guarded: <T>(workflow: StoredWorkflow, id: string, work: (place: Place) => Promise<T>) => Promise<T>;
  readonly sharedPlace: (workflow: StoredWorkflow) => Place;
}

/** How often a step is tried. */
const stepChances = 3;

const unwatched = (): Watch => ({ signal: new AbortController().signal, report: () => undefined });

export class MachineCalls {
  private readonly options: MachineCallsOptions;
  /** Workflows that a worker has loaded for steps, by the digest of their graphs. */
  private readonly open = new WeakMap<WorkerProcess, Map<string, Promise<unknown>>>();
  private steps = 0;

  constructor(options: MachineCallsOptions) {
    this.options = options;
  }

  /** @throws stepLost */
  async step(machine: AuthorMachine, request: StepRequest): Promise<StepAnswer> {
    const { from, given, names, ...more } = request;
    const texts = [given, ...(from === null ? [] : [from])].map((json) => ({ key: null, json }));
    const wire = { ...more, names: names && names.map(([name, actor]): [string, string] => [name, actor]), given: 0, from: from === null ? null : 1 };
    const body = (directory: string): Body<"step"> => ({ directory, machine: wireMachine(machine), request: wire });
    const ms = this.options.stepMs;
    const limited: Limited = {
      deadline: { ms, lastWords: `${describeStep(request)} took longer than ${ms} ms` },
      before: (worker, directory) => this.opened(worker, machine, directory),
    };
    // Work of the workflow's other code holds up no step, and a step that does not end takes none of that with it.
    const place = stepsPlace(machine);
    this.steps += 1;
    const own: Place = { ...place, kind: "own", key: `${place.key} ${this.steps}` };
    for (let left = stepChances - 1; ; left -= 1) {
      try {
        // As with visits: the last chance is had alone.
        return await this.options.ask("step", { place: left === 0 ? own : place, source: machine.source, body, texts }, unwatched(), limited);
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        if (left > 0) continue;
        const message = `${messageOf(error)} It was tried ${stepChances} times at ${describeStep(request)}. Resume the run to have it tried again.`;
        throw new PawlError("stepLost", message, { subject: request.actor, cause: error });
      }
    }
  }

  async perform(machine: AuthorMachine, name: string): Promise<void> {
    const body = (directory: string): Body<"perform"> => ({ directory, machine: wireMachine(machine), name });
    await this.options.ask("perform", { place: stepsPlace(machine), source: machine.source, body, texts: [] }, unwatched());
  }

  async promise(machine: AuthorMachine, given: PromiseCall, watch: Watch): Promise<EffectOutcome> {
    const { ask, guarded } = this.options;
    const { call, texts } = packPromise(given);
    const body = (directory: string): Body<"promise"> => ({ directory, machine: wireMachine(machine), call });
    const json = await guarded(machine, given.key, (place) => ask("promise", { place, source: machine.source, body, texts }, watch));
    return { output: json === null ? undefined : JSON.parse(json) };
  }

  async observe(machine: AuthorMachine, given: PromiseCall, watch: Watch): Promise<Observed> {
    const { ask, sharedPlace } = this.options;
    const { call, texts } = packPromise(given);
    const body = (directory: string): Body<"observe"> => ({ directory, machine: wireMachine(machine), call });
    const seen = await ask("observe", { place: sharedPlace(machine), source: machine.source, body, texts }, watch);
    if (!seen?.happened) return seen;
    return { happened: true, output: seen.output === null ? undefined : JSON.parse(seen.output) };
  }

  /** Loads a workflow's file where it is needed for the first time: that may take longer than a step. */
  private async opened(worker: WorkerProcess, { source, graph, cwd }: StoredWorkflow, directory: string): Promise<void> {
    const known = this.open.get(worker) ?? new Map<string, Promise<unknown>>();
    this.open.set(worker, known);
    const ms = this.options.loadMs;
    const opening =
      known.get(graph) ??
      worker.call("open", { directory, workflow: { source, graph, cwd } }, [], {
        ...unwatched(),
        onAbandoned: () => undefined,
        deadline: { ms, lastWords: `loading the workflow's file took longer than ${ms} ms` },
      });
    known.set(graph, opening);
    opening.catch(() => known.delete(graph));
    await opening;
  }
}

const stepsPlace = ({ source, cwd }: StoredWorkflow): Place => ({ kind: "shared", key: `${source} ${cwd} steps`, cwd });

const wireMachine = ({ source, graph, cwd, node, path }: AuthorMachine): Body<"step">["machine"] => ({ source, graph, cwd, node, path: [...path] });

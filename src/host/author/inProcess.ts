/** Author code in the process that asks: of an embedded host, and of a worker. Keeps definitions and parsed inputs ready. */
import type { AnyStateMachine } from "xstate";
import { PawlError } from "../../errors.ts";
import { jsonText } from "../../json.ts";
import type { Clock } from "../../runtime/clock.ts";
import { callbackContext, type AnyContext, type NodeResult } from "../../workflow/context.ts";
import type { AnyWorkflow } from "../../workflow/definition.ts";
import { acceptOutput, executeNode, type Executed } from "../../workflow/execute.ts";
import { resolveWorkflow } from "../../workflow/find.ts";
import { loadStoredWorkflow, loadWorkflow } from "../../workflow/loader.ts";
import { acceptNode } from "../../workflow/acceptNode.ts";
import { prepareNode, type PreparedNode } from "../../workflow/prepareNode.ts";
import type { ShellResult } from "../../workflow/nodes/shell.ts";
import { includedGraphs, workflowOf } from "../../workflow/included.ts";
import { parseShell, shellSpec, type ShellSpec } from "../../workflow/shellStep.ts";
import { parsedInput } from "../input.ts";
import { nodeMachine } from "../../workflow/machineStep.ts";
import type { EffectOutcome, Observed } from "../../runtime/executor.ts";
import { machinePromise, type MachinePromise } from "../../runtime/promises.ts";
import { StepAnswers } from "../../runtime/stepAnswers.ts";
import type { StepAnswer, StepRequest } from "../../runtime/stepWire.ts";
import { WeightedCache } from "../weightedCache.ts";
import { machineAt, type AuthorMachine, type PromiseCall } from "./authorMachine.ts";
import type {
  AuthorCode,
  LoadedSources,
  LoadRequest,
  PreparedRun,
  StoredInput,
  StoredResult,
  StoredRun,
  StoredWorkflow,
  VisitCall,
  Watch,
} from "./authorCode.ts";

/** Definitions that are kept ready. */
const definitionLimit = 32;
/** Parsed inputs that are kept ready: characters of their JSON, and so much besides. */
const inputWeightLimit = 16 * 1024 * 1024;
const inputWeight = 1024;

export interface InProcessOptions {
  /** Where the stored sources of this digest stand as files. @throws sourceUnloadable */
  readonly directoryOf: (source: string) => Promise<string>;
  readonly clock: Clock;
}

export class InProcess implements AuthorCode {
  private readonly options: InProcessOptions;
  private readonly definitions = new Map<string, Promise<AnyWorkflow>>();
  /** Those of them that are loaded. */
  private readonly loaded = new Map<string, AnyWorkflow>();
  private readonly answers = new StepAnswers();
  private readonly inputs = new WeightedCache<{ readonly value: unknown }>(inputWeightLimit);

  constructor(options: InProcessOptions) {
    this.options = options;
  }

  async load({ workflow, cwd, userHome, input, isLook = false }: LoadRequest): Promise<LoadedSources> {
    const { definition, sources } = await loadWorkflow(resolveWorkflow(workflow, { cwd, home: userHome }));
    if (!isLook) await parsedInput(definition, input, workflow);
    const { name, graph, graphDigest } = definition;
    return {
      name,
      graph,
      graphDigest,
      included: [...includedGraphs(definition).values()],
      source: sources.digest,
      blobs: sources.blobs.map(({ bytes }) => bytes),
    };
  }

  async ready(run: StoredRun): Promise<void> {
    await this.inputOf(await this.definition(run), run);
  }

  async prepare(run: StoredRun): Promise<PreparedRun> {
    const given: unknown = JSON.parse(run.input.json);
    const parsed = await parsedInput(await this.definition(run), given);
    return sameJson(parsed, given) ? null : jsonOrNull(parsed);
  }

  async execute(call: VisitCall, watch: Watch): Promise<Executed> {
    const { definition, context } = await this.visit(call, watch);
    return executeNode(definition, call.node, context, this.options.clock, watch.update);
  }

  async shellSpec(call: VisitCall, watch: Watch): Promise<ShellSpec> {
    const { definition, context } = await this.visit(call, watch);
    return shellSpec(definition, call.node, context, this.options.clock);
  }

  async parseShell(call: VisitCall, result: ShellResult, watch: Watch): Promise<Executed> {
    const { definition, context } = await this.visit(call, watch);
    return parseShell(definition, call.node, context, result);
  }

  async prepareNode(call: VisitCall, watch: Watch): Promise<PreparedNode> {
    const { definition, context } = await this.visit(call, watch);
    return prepareNode(definition, call.node, context, call.run, this.options.clock);
  }

  async acceptNode(call: VisitCall, output: unknown, watch: Watch): Promise<Executed> {
    const { definition, context } = await this.visit(call, watch);
    return acceptNode(definition, call.node, context, output);
  }

  /** Loads a workflow before it is needed. @throws sourceUnloadable */
  async open(workflow: StoredWorkflow): Promise<void> {
    await this.definition(workflow);
  }

  step(machine: AuthorMachine, request: StepRequest): StepAnswer | Promise<StepAnswer> {
    const there = this.loaded.get(nameOf(machine));
    if (there) return this.answers.answer(machineIn(there, machine), request);
    return this.definition(machine).then((definition) => this.answers.answer(machineIn(definition, machine), request));
  }

  async perform(_machine: AuthorMachine, name: string): Promise<void> {
    this.answers.perform(name);
  }

  async promise(machine: AuthorMachine, call: PromiseCall, watch: Watch): Promise<EffectOutcome> {
    const { run } = await this.promiseOf(machine, call.src);
    return run({ ...call, signal: watch.signal, report: (line) => watch.report(line), heartbeat: () => watch.heartbeat?.() });
  }

  async observe(machine: AuthorMachine, call: PromiseCall, { signal }: Watch): Promise<Observed> {
    const { observe } = await this.promiseOf(machine, call.src);
    return observe ? observe({ ...call, signal }) : null;
  }

  async acceptOutput(workflow: StoredWorkflow, node: string, output: unknown): Promise<Executed> {
    return acceptOutput(await this.definition(workflow), node, output);
  }

  /** What runs here ends with its process. */
  async close(): Promise<void> {}

  /** Loads once for all that ask at the same time; a failure is not kept. */
  private definition({ source, graph }: Pick<StoredWorkflow, "source" | "graph">): Promise<AnyWorkflow> {
    const key = nameOf({ source, graph });
    const there = this.definitions.get(key);
    if (there) return there;
    const loading = this.options.directoryOf(source).then((directory) => loadStoredWorkflow(directory, { sourceDigest: source, graphDigest: graph }));
    this.definitions.set(key, loading);
    loading.then(
      (definition) => this.definitions.get(key) === loading && this.loaded.set(key, definition),
      () => this.definitions.delete(key),
    );
    const [oldest] = this.definitions.keys();
    if (this.definitions.size > definitionLimit && oldest !== undefined) {
      this.definitions.delete(oldest);
      this.loaded.delete(oldest);
    }
    return loading;
  }

  private async promiseOf(machine: AuthorMachine, src: string): Promise<MachinePromise> {
    const of = machineIn(await this.definition(machine), machine);
    const promise = machinePromise(of, src);
    if (!promise) throw new PawlError("internal", `Machine "${of.id}" has no promise "${src}".`, { subject: of.id });
    return promise;
  }

  private async inputOf(definition: AnyWorkflow, { run, input }: StoredRun): Promise<unknown> {
    const of = input.of ?? run;
    const known = this.inputs.get(of);
    if (known) return known.value;
    const value = await readInput(definition, input);
    this.inputs.set(of, { value }, inputWeight + input.json.length);
    return value;
  }

  private async visit(call: VisitCall, { signal }: Watch): Promise<{ readonly definition: AnyWorkflow; readonly context: AnyContext }> {
    const { node, visit, attempt, idempotencyKey, now } = call;
    const definition = await this.definition(call);
    const { workflow } = workflowOf(definition, node);
    const nodes = workflow.graph.nodes.map(({ id }) => id);
    const input = await this.inputOf(workflow, call);
    const results = Object.fromEntries(Object.entries(call.results).map(([name, result]) => [name, readResult(result)]));
    return { definition, context: callbackContext(node, nodes, { input, results, signal, visit, attempt, idempotencyKey, now }) };
  }
}

const nameOf = ({ source, graph }: Pick<StoredWorkflow, "source" | "graph">): string => `${source} ${graph}`;

const machineIn = (definition: AnyWorkflow, { node, path }: AuthorMachine): AnyStateMachine => machineAt(nodeMachine(definition, node), path);

async function readInput(definition: AnyWorkflow, { json, isParsed }: StoredInput): Promise<unknown> {
  const value: unknown = JSON.parse(json);
  return isParsed ? value : parsedInput(definition, value);
}

/** An output is parsed when it is first read, and anew for each context: nobody sees what another callback did to it. */
function readResult(stored: StoredResult): NodeResult {
  if (stored.status !== "accepted") return stored;
  let parsed: { readonly value: unknown } | undefined;
  return {
    status: "accepted",
    visit: stored.visit,
    get output() {
      parsed ??= { value: JSON.parse(stored.json) };
      return parsed.value;
    },
  };
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A schema may give what JSON cannot carry, a Date for one: then it is applied again each time. */
function jsonOrNull(input: unknown): PreparedRun {
  try {
    jsonText(input, "input");
    return { input };
  } catch {
    return null;
  }
}

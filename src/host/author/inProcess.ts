/** Author code in the process that asks: of an embedded host, and of a worker. Keeps definitions and parsed inputs ready. */
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
import { parseShell, shellSpec, type ShellSpec } from "../../workflow/shellStep.ts";
import { parsedInput } from "../input.ts";
import { WeightedCache } from "../weightedCache.ts";
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
  private readonly inputs = new WeightedCache<{ readonly value: unknown }>(inputWeightLimit);

  constructor(options: InProcessOptions) {
    this.options = options;
  }

  async load({ workflow, cwd, userHome, input }: LoadRequest): Promise<LoadedSources> {
    const { definition, sources } = await loadWorkflow(resolveWorkflow(workflow, { cwd, home: userHome }));
    await parsedInput(definition, input, workflow);
    const { name, graph, graphDigest } = definition;
    return { name, graph, graphDigest, source: sources.digest, blobs: sources.blobs.map(({ bytes }) => bytes) };
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
    return executeNode(definition, call.node, context, this.options.clock);
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

  async acceptOutput(workflow: StoredWorkflow, node: string, output: unknown): Promise<Executed> {
    return acceptOutput(await this.definition(workflow), node, output);
  }

  /** What runs here ends with its process. */
  async close(): Promise<void> {}

  /** Loads once for all that ask at the same time; a failure is not kept. */
  private definition({ source, graph }: Pick<StoredWorkflow, "source" | "graph">): Promise<AnyWorkflow> {
    const key = `${source} ${graph}`;
    const there = this.definitions.get(key);
    if (there) return there;
    const loading = this.options.directoryOf(source).then((directory) => loadStoredWorkflow(directory, { sourceDigest: source, graphDigest: graph }));
    this.definitions.set(key, loading);
    loading.catch(() => this.definitions.delete(key));
    const [oldest] = this.definitions.keys();
    if (this.definitions.size > definitionLimit && oldest !== undefined) this.definitions.delete(oldest);
    return loading;
  }

  private async inputOf(definition: AnyWorkflow, { run, input }: StoredRun): Promise<unknown> {
    const known = this.inputs.get(run);
    if (known) return known.value;
    const value = await readInput(definition, input);
    this.inputs.set(run, { value }, inputWeight + input.json.length);
    return value;
  }

  private async visit(call: VisitCall, { signal }: Watch): Promise<{ readonly definition: AnyWorkflow; readonly context: AnyContext }> {
    const { node, visit, attempt, idempotencyKey, now } = call;
    const definition = await this.definition(call);
    const nodes = definition.graph.nodes.map(({ id }) => id);
    const input = await this.inputOf(definition, call);
    const results = Object.fromEntries(Object.entries(call.results).map(([name, result]) => [name, readResult(result)]));
    return { definition, context: callbackContext(node, nodes, { input, results, signal, visit, attempt, idempotencyKey, now }) };
  }
}

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

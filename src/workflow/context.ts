/** What an author's callbacks are given, and how the executor makes it. */
import { closestTo } from "../text/closest.ts";

/** Why a visit failed: a closed reason (or the author's own code) and a sentence for people. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
}

/** How the latest visit of a node ended. `visit` is its id, `<run>/graph/<node>.<n>`. */
export type NodeResult<Output = unknown> =
  | { readonly status: "accepted"; readonly output: Output; readonly visit: string }
  | { readonly status: "failed" | "timedOut"; readonly error: Failure; readonly visit: string };

/** The context of every callback. `Outputs` holds the nodes defined earlier, `Promised` those announced with `later()`. */
export interface CallbackContext<Input = unknown, Outputs = unknown, Promised = unknown> {
  /** The run's input, as the workflow's schema gave it. */
  readonly input: Input;
  /** Output of the latest visit of an earlier node. Reading one that has not run, or whose latest visit failed, throws. */
  readonly outputs: { readonly [Node in keyof Outputs]: Outputs[Node] };
  /** How the latest visit of a node ended; undefined while there is none. */
  readonly results: { readonly [Node in keyof (Outputs & Promised)]: NodeResult<(Outputs & Promised)[Node]> | undefined };
  /** Aborted by cancel, timeout and shutdown. Long work must watch it. */
  readonly signal: AbortSignal;
  /** Id of this visit. */
  readonly visit: string;
  /** 1, and one more for each time the visit's work runs again. */
  readonly attempt: number;
  /** The same over all attempts of a visit: hand it to outside systems. */
  readonly idempotencyKey: string;
  /** Epoch ms, from the runtime's clock. */
  readonly now: number;
}

/** A context whose types are not known any more. */
export type AnyContext = CallbackContext<unknown, { readonly [node: string]: unknown }, unknown>;

export type Callback<Context, Result> = (context: Context) => Result;

/** A callback of one node as stored with the others. */
export function forget<Context, Result>(callback: Callback<Context, Result>): Callback<AnyContext, Result> {
  // The executor gives a node's callback the context of that very node, which is what the builder typed it with.
  return callback as unknown as Callback<AnyContext, Result>;
}

/** Everything a context is made of. `results`: by node id, only nodes that have run. */
export interface ContextFacts {
  readonly input: unknown;
  readonly results: { readonly [node: string]: NodeResult };
  readonly signal: AbortSignal;
  readonly visit: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly now: number;
}

/** The context of one visit. `node` is the visit's node and `nodes` are all ids of the graph, for messages. */
export function callbackContext(node: string, nodes: readonly string[], facts: ContextFacts): AnyContext {
  const results = { ...facts.results };
  return {
    ...facts,
    outputs: readable(accepted(results), (name) => missingOutput(node, name, nodes, Object.hasOwn(results, name) ? results[name] : undefined)),
    results: readable(results, (name) => (nodes.includes(name) ? undefined : unknownNode(node, "results", name, nodes))),
  };
}

/** Outputs are read when the callback reads them: one of 64 MiB costs nothing to those that do not. */
function accepted(results: { readonly [node: string]: NodeResult }): { readonly [node: string]: unknown } {
  const outputs: { [node: string]: unknown } = {};
  for (const [name, result] of Object.entries(results))
    if (result.status === "accepted") Object.defineProperty(outputs, name, { enumerable: true, get: () => result.output });
  return outputs;
}

/** Names that JavaScript itself asks any object for; a node that has one of them is found before. */
const askedByJavaScript: readonly string[] = ["then", "toJSON", "constructor", "toString", "valueOf", "inspect", "asymmetricMatch", "nodeType", "$$typeof"];

/** The values, and for a name that is not among them what `absent` gives or why it throws. */
function readable<T>(values: { readonly [node: string]: T }, absent: (name: string) => undefined | Error): { readonly [node: string]: T } {
  // Not copied: that would read every output.
  return new Proxy(Object.freeze(values), {
    get(target, name) {
      if (typeof name === "string" && Object.hasOwn(target, name)) return target[name];
      if (typeof name !== "string" || askedByJavaScript.includes(name)) return undefined;
      const problem = absent(name);
      if (problem) throw problem;
      return undefined;
    },
  });
}

function missingOutput(node: string, name: string, nodes: readonly string[], result: NodeResult | undefined): Error {
  if (!nodes.includes(name)) return unknownNode(node, "outputs", name, nodes);
  if (!result || result.status === "accepted")
    return new Error(
      `Node "${node}" read outputs.${name}, but "${name}" has not run yet. Route through "${name}" first, or read results.${name}, which is undefined until then.`,
    );
  return new Error(
    `Node "${node}" read outputs.${name}, but the latest visit of "${name}" ${result.status === "failed" ? "failed" : "timed out"} (${result.error.reason}). Read results.${name} and look at its status.`,
  );
}

const unknownNode = (node: string, where: string, name: string, nodes: readonly string[]): Error =>
  new Error(`Node "${node}" read ${where}.${name}, but no node is named "${name}". ${closestTo(name, nodes)}`);

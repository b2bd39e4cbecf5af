/** The builder: adds named nodes with their routes, checks them in types and again at `build()`. */
import type { ZodType, z } from "zod";
import { checkedGraph, type Draft } from "./checks.ts";
import type { ChoiceResponse, Choices } from "./choices.ts";
import { compileGraph, standalone } from "./compile.ts";
import type { CallbackContext } from "./context.ts";
import { branded, type AnyNode, type AnyWorkflow, type WorkflowDefinition } from "./definition.ts";
import { digestOfGraph } from "./graph.ts";
import type { NodeDefinition } from "./nodes/node.ts";
import type { AnyExit, Build, CheckedId, CheckedNext, ExitOf, Mistake, NextFor, RoutesOf, Unkept } from "./routes.ts";

export interface WorkflowOptions<Schema extends ZodType> {
  /** At most 256 characters; not a name of a command. */
  readonly name: string;
  /** What the workflow is started with. Callbacks see what the schema gives. */
  readonly input: Schema;
  /** Entries into nodes before the run fails; 100 unless set. */
  readonly maxSteps?: number;
}

/**
 * A workflow being written. Every method gives a new builder; the first node is the entry.
 * `Defined` and `Promised` hold the outputs of nodes by id, `Routes` every target named so far, `Exits` the end nodes.
 */
export interface WorkflowBuilder<RunInput, Input, Defined, Promised, Routes, Exits extends AnyExit> {
  /** Promises a node that comes later, so that a loop can read its last result. `shape` is its output's schema, or a decision's choices. */
  later<const Id extends string, Output>(
    id: Id extends keyof Defined | keyof Promised ? Mistake<`node "${Id}" is there already`> : Id,
    shape: ZodType<Output>,
  ): WorkflowBuilder<RunInput, Input, Defined, Promised & Record<Id, Output>, Routes, Exits>;
  later<const Id extends string, const Offered extends Choices>(
    id: Id extends keyof Defined | keyof Promised ? Mistake<`node "${Id}" is there already`> : Id,
    shape: Offered,
  ): WorkflowBuilder<RunInput, Input, Defined, Promised & Record<Id, ChoiceResponse<Offered>>, Routes, Exits>;

  /**
   * Adds a node. `next` is its target, or targets by case; `failed` and `timedOut` are cases of every node.
   * Without `next` the run completes here with the node's output as its result.
   */
  node<const Id extends string, Output, Cases extends string, const Next extends NextFor<NoInfer<Cases>> | undefined = undefined>(
    id: CheckedId<Id, Defined, Promised, NoInfer<Output>, NoInfer<Cases>, NoInfer<Next>> & Id,
    definition: NodeDefinition<CallbackContext<Input, Defined, Promised>, Output, Cases>,
    next?: Next & CheckedNext<NoInfer<Id>, NoInfer<Cases>, NoInfer<Next>>,
  ): WorkflowBuilder<RunInput, Input, Defined & Record<Id, Output>, Promised, Routes | RoutesOf<Id, Next>, Exits | ExitOf<Id, Output, Cases, Next>>;

  /** The finished definition. @throws invalidWorkflow naming each wrong node and the mend, for authors without a compiler. */
  readonly build: Build<Unkept<Routes, Promised, Defined>, WorkflowDefinition<RunInput, Exits>>;
}

/** Starts a workflow; add nodes, then `build()`, and export that as the file's default. */
export function workflow<const Schema extends ZodType>(
  options: WorkflowOptions<Schema>,
): WorkflowBuilder<z.input<Schema>, z.output<Schema>, unknown, unknown, never, never> {
  // The types count what the values only collect: each call gives the same kind of object.
  return builder({ name: options?.name, input: options?.input, maxSteps: options?.maxSteps, promised: [], nodes: [] }) as ReturnType<typeof workflow<Schema>>;
}

function builder(draft: Draft): unknown {
  return {
    later: (id: string) => builder({ ...draft, promised: [...draft.promised, id] }),
    node: (id: string, definition: AnyNode, next?: unknown) => builder({ ...draft, nodes: [...draft.nodes, { id, definition, next }] }),
    build: () => built(draft),
  };
}

function built(draft: Draft): AnyWorkflow {
  const graph = checkedGraph(draft);
  const graphDigest = digestOfGraph(graph);
  return branded({
    name: graph.name,
    graph,
    graphDigest,
    machine: standalone(compileGraph(graph, graphDigest)),
    input: draft.input,
    nodes: Object.fromEntries(draft.nodes.map(({ id, definition }) => [id, definition])),
  });
}

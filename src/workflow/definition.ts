/** What a workflow file exports: the graph as data, the machine made of it, and the author's callbacks by node. */
import type { AnyStateMachine } from "xstate";
import type { ZodType } from "zod";
import type { Graph } from "./graph.ts";
import type { NodeDefinition } from "./nodes/node.ts";
import type { AnyExit } from "./routes.ts";

/** A built workflow. `Input` is what it is started with, `Exits` the ways it may end. */
export interface WorkflowDefinition<in Input = never, out Exits extends AnyExit = AnyExit> {
  readonly name: string;
  readonly graph: Graph;
  /** SHA-256 (hex) of the graph's canonical JSON. */
  readonly graphDigest: string;
  /** A plain XState machine: a state per node, each invoking an actor of the node's id. Give it actors by `provide()` to run it alone. */
  readonly machine: AnyStateMachine;
  readonly input: ZodType;
  readonly nodes: { readonly [id: string]: AnyNode };
  /** For the compiler only. */
  readonly types?: { readonly input: (input: Input) => void; readonly exits: Exits };
}

export type AnyNode = NodeDefinition<never, unknown, string>;
export type AnyWorkflow = WorkflowDefinition<never, AnyExit>;

/** Known by key, not by class: a definition of another copy of the package is one too, and is told apart by its version. */
const brand: unique symbol = Symbol.for("pawl.workflow");

/** Makes the object of `build()` recognisable. */
export function branded<W extends AnyWorkflow>(definition: W): W {
  return Object.freeze(Object.defineProperty(definition, brand, { value: 1, enumerable: false }));
}

export function isWorkflow(value: unknown): value is AnyWorkflow {
  return typeof value === "object" && value !== null && brand in value && value[brand] === 1;
}

/** Nodes that are machines of their author's. */
import type { AnyStateMachine, InputFrom, OutputFrom } from "xstate";
import type { ZodType, z } from "zod";
import { forget, type AnyContext, type Callback } from "../context.ts";
import { doneCase } from "../graph.ts";
import type { CommonOptions, NodeDefinition, Routing, Stored, Timeout } from "./node.ts";
import { forgetTimeout } from "./setting.ts";

type Given<Machine extends AnyStateMachine> = InputFrom<Machine> | Promise<InputFrom<Machine>>;

/** What the machine is started with; may be left out for one that takes nothing. */
type InputOption<Context, Machine extends AnyStateMachine> =
  undefined extends InputFrom<Machine> ? { readonly input?: (context: Context) => Given<Machine> } : { readonly input: (context: Context) => Given<Machine> };

interface RoutingOptions<Output, Cases extends string> {
  /** Names the case to take, by the output. */
  readonly route?: (output: Output) => Cases | Promise<Cases>;
  /** The cases that `route` may name; without a list, those that `next` names. */
  readonly cases?: readonly Cases[];
}

export interface MachineNodeOptions<Context, Output, Cases extends string> extends CommonOptions, RoutingOptions<Output, Cases> {
  /** No deadline unless set. */
  readonly timeoutMs?: Timeout<Context>;
}

/** A schema for what a machine ends with. */
type SchemaFor<Machine extends AnyStateMachine> = ZodType<unknown, OutputFrom<Machine>>;

/**
 * A machine of your own as a node. Its states, delays, promises, child machines and messages are durable; it ends with its output, which is the
 * node's. `output` validates that and types it anew. A machine that ends in an error fails the visit.
 */
export function machineNode<Context, Machine extends AnyStateMachine, Schema extends SchemaFor<Machine>, const Cases extends string = "done">(
  machine: Machine,
  options: MachineNodeOptions<Context, z.output<Schema>, Cases> & InputOption<Context, Machine> & { readonly output: Schema },
): NodeDefinition<Context, z.output<Schema>, Cases>;
export function machineNode<Context, Machine extends AnyStateMachine, const Cases extends string = "done">(
  machine: Machine,
  options: MachineNodeOptions<Context, Stored<OutputFrom<Machine>>, Cases> & InputOption<Context, Machine> & { readonly output?: undefined },
): NodeDefinition<Context, Stored<OutputFrom<Machine>>, Cases>;
export function machineNode<Context>(
  machine: AnyStateMachine,
  options: MachineNodeOptions<Context, never, string> & {
    readonly input?: Callback<Context, unknown>;
    readonly output?: ZodType | undefined;
  },
): NodeDefinition<Context, never, never> {
  const { input, output, route, cases, timeoutMs = null, statusDetail } = options;
  return {
    settings: {
      cases: route ? (cases ?? null) : (cases ?? [doneCase]),
      timeoutMs: forgetTimeout(timeoutMs),
      once: false,
      retry: undefined,
      statusDetail,
    },
    behaviour: {
      kind: "machine",
      machine,
      input: input ? forget<Context, unknown>(input) : null,
      output: output ?? null,
      route: (route as Routing | undefined) ?? null, // the executor gives `route` this node's own output
    },
  };
}

/** A node kind of your own: a machine, and what whoever uses it must give and gets. */
export interface NodeContract<
  Machine extends AnyStateMachine,
  Input extends ZodType,
  Output extends SchemaFor<Machine>,
  Cases extends string,
> extends RoutingOptions<z.output<Output>, Cases> {
  readonly machine: Machine;
  /** What the node's `input` callback gives; the machine is started with what the schema makes of it. */
  readonly input: Input;
  /** What the machine ends with. */
  readonly output: Output;
  readonly statusDetail?: string;
}

/** What a workflow says where it uses such a kind. */
export interface ContractOptions<Context, Input> extends CommonOptions {
  readonly input: (context: Context) => Input | Promise<Input>;
  /** No deadline unless set. */
  readonly timeoutMs?: Timeout<Context>;
}

/**
 * Makes a node kind of a machine: `const approval = defineNode({ machine, input, output })`, and in workflows `approval({ input: … })`.
 * Both schemas are applied in each visit, so that what does not fit fails it by name.
 */
export function defineNode<
  Machine extends AnyStateMachine,
  Input extends ZodType<InputFrom<Machine>>,
  Output extends SchemaFor<Machine>,
  const Cases extends string = "done",
>(
  contract: NodeContract<Machine, Input, Output, Cases>,
): <Context>(options: ContractOptions<Context, z.input<Input>>) => NodeDefinition<Context, z.output<Output>, Cases> {
  return <Context>({ input, timeoutMs = null, statusDetail }: ContractOptions<Context, z.input<Input>>): NodeDefinition<Context, z.output<Output>, Cases> => ({
    settings: {
      cases: contract.route ? (contract.cases ?? null) : (contract.cases ?? [doneCase]),
      timeoutMs: forgetTimeout(timeoutMs),
      once: false,
      retry: undefined,
      statusDetail: statusDetail ?? contract.statusDetail,
    },
    behaviour: {
      kind: "machine",
      machine: contract.machine,
      input: parsedBy(contract.input, forget<Context, unknown>(input)),
      output: contract.output,
      route: (contract.route as Routing | undefined) ?? null, // as in machineNode()
    },
  });
}

const parsedBy =
  (schema: ZodType, input: Callback<AnyContext, unknown>): Callback<AnyContext, unknown> =>
  async (context) =>
    schema.parseAsync(await input(context));

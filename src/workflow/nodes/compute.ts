import type { ZodType, z } from "zod";
import { forget } from "../context.ts";
import { doneCase } from "../graph.ts";
import type { CommonOptions, NodeDefinition, Routing, Stored, Timeout } from "./node.ts";
import { forgetTimeout } from "./setting.ts";

export interface ComputeOptions<Context, Output, Cases extends string> extends CommonOptions {
  /** 15 minutes unless set. */
  readonly timeoutMs?: Timeout<Context>;
  /** Names the case to take, by the output. */
  readonly route?: (output: Output) => Cases | Promise<Cases>;
  /** The cases that `route` may name; without a list, those that `next` names. */
  readonly cases?: readonly Cases[];
}

/**
 * A function of the context without outside effect; it runs again when interrupted.
 * What it returns must be JSON; with `output` it is validated and typed by that schema.
 */
export function compute<Context, Output, const Cases extends string = "done">(
  run: (context: Context) => Output | Promise<Output>,
  options?: ComputeOptions<Context, Stored<Output>, Cases> & { readonly output?: undefined },
): NodeDefinition<Context, Stored<Output>, Cases>;
export function compute<Context, Schema extends ZodType, const Cases extends string = "done">(
  run: (context: Context) => z.input<Schema> | Promise<z.input<Schema>>,
  options: ComputeOptions<Context, z.output<Schema>, Cases> & { readonly output: Schema },
): NodeDefinition<Context, z.output<Schema>, Cases>;
export function compute<Context>(
  run: (context: Context) => unknown,
  options: ComputeOptions<Context, never, string> & { readonly output?: ZodType | undefined } = {},
): NodeDefinition<Context, never, never> {
  return {
    settings: {
      cases: options.route ? (options.cases ?? null) : (options.cases ?? [doneCase]),
      timeoutMs: forgetTimeout(options.timeoutMs),
      once: false,
      retry: undefined,
      statusDetail: options.statusDetail,
    },
    behaviour: { kind: "compute", run: forget(run), output: options.output ?? null, route: (options.route as Routing | undefined) ?? null }, // the executor gives `route` this node's own output
  };
}

import type { ZodType, z } from "zod";
import type { RetryPolicy } from "../../../machines/define.ts";
import { forget } from "../context.ts";
import { doneCase } from "../graph.ts";
import type { Publishing } from "../publishing.ts";
import type { ComputeOptions } from "./compute.ts";
import type { NodeDefinition, Routing, Stored } from "./node.ts";
import { forgetTimeout } from "./setting.ts";

export interface ActionOptions<Context, Output, Cases extends string> extends ComputeOptions<Context, Output, Cases> {
  /** At most once: never repeated by itself; an unknown outcome waits for `confirm` or `retry`. */
  readonly once?: boolean;
  /** Tries again after an error that is not terminal. */
  readonly retry?: RetryPolicy;
}

/**
 * A function with an outside effect. At least once by default, with the same `idempotencyKey` each time (an interrupted one runs at most 3 times a visit).
 * What `run` returns must be JSON; with `output` it is validated and typed by that schema.
 * `run` may throw `TerminalError`, `RetryableError`, or `NotApplied` when surely nothing happened outside.
 */
export function action<Context, Output, const Cases extends string = "done">(
  options: ActionOptions<Context, Stored<Output>, Cases> & {
    readonly run: (context: Context & Publishing) => Output | Promise<Output>;
    readonly output?: undefined;
  },
): NodeDefinition<Context, Stored<Output>, Cases>;
export function action<Context, Schema extends ZodType, const Cases extends string = "done">(
  options: ActionOptions<Context, z.output<Schema>, Cases> & {
    readonly run: (context: Context & Publishing) => z.input<Schema> | Promise<z.input<Schema>>;
    readonly output: Schema;
  },
): NodeDefinition<Context, z.output<Schema>, Cases>;
export function action<Context>(
  options: ActionOptions<Context, never, string> & { readonly run: (context: Context & Publishing) => unknown; readonly output?: ZodType | undefined },
): NodeDefinition<Context, never, never> {
  return {
    settings: {
      cases: options.route ? (options.cases ?? null) : (options.cases ?? [doneCase]),
      timeoutMs: forgetTimeout(options.timeoutMs),
      once: options.once ?? false,
      retry: options.retry,
      statusDetail: options.statusDetail,
    },
    behaviour: { kind: "action", run: forget(options.run), output: options.output ?? null, route: (options.route as Routing | undefined) ?? null }, // the executor gives `route` this node's own output
  };
}

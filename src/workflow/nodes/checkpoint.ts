import type { ZodType, z } from "zod";
import { doneCase } from "../graph.ts";
import type { CommonOptions, NodeDefinition, Routing, Setting, Timeout } from "./node.ts";
import { forgetSetting, forgetTimeout } from "./setting.ts";

/** In UTF-16 units. */
export const checkpointLimits = { titleUnits: 256, promptUnits: 16_000 } as const;

export interface CheckpointOptions<Context, Schema extends ZodType, Cases extends string> extends CommonOptions {
  /** What the answer must be; what the schema makes of it is the output. At most 1 MiB of JSON. */
  readonly output: Schema;
  /** At most 256 characters; the node's id unless set. */
  readonly title?: Setting<Context, string>;
  /** What is asked for, at most 16,000 characters. */
  readonly prompt?: Setting<Context, string>;
  /** How long it waits; for ever unless set. */
  readonly timeoutMs?: Timeout<Context>;
  /** Names the case to take, by the output. */
  readonly route?: (output: z.output<Schema>) => Cases | Promise<Cases>;
  /** The cases that `route` may name; without a list, those that `next` names. */
  readonly cases?: readonly Cases[];
}

/**
 * Parks the run until somebody answers: a person, a program or a model (`pawl answer <run> --input-json`). An answer that does not fit is
 * refused with the wrong path, and the run stays parked. What only people may decide is a `humanDecision`.
 */
export function checkpoint<Context, Schema extends ZodType, const Cases extends string = "done">(
  options: CheckpointOptions<Context, Schema, Cases>,
): NodeDefinition<Context, z.output<Schema>, Cases> {
  return {
    settings: {
      cases: options.route ? (options.cases ?? null) : (options.cases ?? [doneCase]),
      timeoutMs: forgetTimeout(options.timeoutMs ?? null),
      once: false,
      retry: undefined,
      statusDetail: options.statusDetail,
    },
    behaviour: {
      kind: "checkpoint",
      title: options.title === undefined ? undefined : forgetSetting(options.title),
      prompt: options.prompt === undefined ? undefined : forgetSetting(options.prompt),
      output: options.output,
      route: (options.route as Routing | undefined) ?? null, // it is given this node's own output
    },
  };
}

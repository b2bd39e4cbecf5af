import { isWorkflow, type WorkflowDefinition } from "../definition.ts";
import { exitsOf } from "../included.ts";
import type { AnyExit } from "../routes.ts";
import type { CommonOptions, NodeDefinition, Setting, Timeout } from "./node.ts";
import { forgetSetting, forgetTimeout } from "./setting.ts";

export interface IncludeOptions<Context, Input> extends CommonOptions {
  /** What the included workflow is started with; its own schema checks it. */
  readonly input: Setting<Context, Input>;
  /** How long the whole of it may take; no limit unless set. */
  readonly timeoutMs?: Timeout<Context>;
}

/**
 * Mounts another workflow in the same run: its nodes are visits of this run, its callbacks see their own input, outputs and results only.
 * The cases to route on are the ids of its end nodes, the output is that of the end node it came to. Where it fails or times out, so does this node.
 */
export function include<Context, Input, Exits extends AnyExit>(
  child: WorkflowDefinition<Input, Exits>,
  options: IncludeOptions<Context, NoInfer<Input>>,
): NodeDefinition<Context, Exits["output"], Exits["exit"]> {
  return {
    settings: {
      cases: isWorkflow(child) ? exitsOf(child.graph) : [],
      timeoutMs: forgetTimeout(options?.timeoutMs ?? null),
      once: false,
      retry: undefined,
      statusDetail: options?.statusDetail,
    },
    behaviour: { kind: "include", child, input: forgetSetting<Context, unknown>(options?.input) },
  };
}

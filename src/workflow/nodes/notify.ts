import { doneCase } from "../graph.ts";
import { forgetSetting } from "./setting.ts";
import type { CommonOptions, NodeDefinition, Setting } from "./node.ts";

export interface NotifyOptions<Context> extends CommonOptions {
  /** What people read, at most 16,000 characters. */
  readonly text: Setting<Context, string>;
  /** How the work stands, or what came of it. */
  readonly kind: "progress" | "final";
}

export interface Notification {
  readonly kind: "progress" | "final";
  readonly text: string;
}

/** Tells people something, once a visit, and goes on at once. It asks nobody and starts no work. */
export function notify<Context>(options: NotifyOptions<Context>): NodeDefinition<Context, Notification, "done"> {
  return {
    settings: { cases: [doneCase], timeoutMs: undefined, once: false, retry: undefined, statusDetail: options.statusDetail },
    behaviour: { kind: "notify", text: forgetSetting(options.text), as: options.kind },
  };
}

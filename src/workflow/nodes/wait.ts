import { doneCase } from "../graph.ts";
import type { CommonOptions, NodeDefinition, Setting, Timeout } from "./node.ts";
import { forgetSetting, forgetTimeout } from "./setting.ts";

/** When a wait ends: so many ms after it was entered (positive, finite), or at a moment (epoch ms, or a Date). */
export type WaitTime<Context> =
  | { readonly forMs: Setting<Context, number>; readonly until?: undefined }
  | { readonly until: Setting<Context, number | Date>; readonly forMs?: undefined };

export type WaitOptions<Context> = WaitTime<Context> &
  CommonOptions & {
    /** Ends the visit as timed out before its time; none unless set. It stands still while the run is paused, the wait does not. */
    readonly timeoutMs?: Timeout<Context>;
  };

/** What a wait gives: the moment that it waited for, in epoch ms. */
export interface WaitOutput {
  readonly dueAt: number;
}

/**
 * Waits, for seconds or for years, without a process: the due time is saved, and nothing moves it. A moment that has passed ends the wait at once.
 * While the run is paused the wait goes on, and the run goes on from there when it is resumed.
 */
export function wait<Context>(options: WaitOptions<Context>): NodeDefinition<Context, WaitOutput, "done"> {
  return {
    settings: {
      cases: [doneCase],
      timeoutMs: forgetTimeout(options.timeoutMs ?? null),
      once: false,
      retry: undefined,
      statusDetail: options.statusDetail,
    },
    behaviour: {
      kind: "wait",
      forMs: options.forMs === undefined ? undefined : forgetSetting(options.forMs),
      until: options.until === undefined ? undefined : forgetSetting(options.until),
    },
  };
}

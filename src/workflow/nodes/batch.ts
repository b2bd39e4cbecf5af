import { doneCase } from "../graph.ts";
import type { CommonOptions, NodeDefinition, Routing, Setting, Timeout } from "./node.ts";
import { forgetSetting, forgetTimeout } from "./setting.ts";

/** One command of a batch. What stands here is stored with the run: secrets belong into the environment that Pawl itself runs in. */
export interface BatchCommand {
  /** The program, found on PATH; with `shell: true` a line for /bin/sh. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Has /bin/sh read `command`; the args are its $1, $2, …. */
  readonly shell?: boolean;
  /** The directory it runs in; the run's own unless set. */
  readonly cwd?: string;
  /** Added to the inherited environment; undefined takes a variable away. */
  readonly env?: { readonly [name: string]: string | undefined };
  readonly stdin?: string;
}

/** What one command left behind. Texts hold at most 1,000,000 characters each; `truncated` says which were cut. */
export interface BatchResult {
  /** `ok`: it ended with exit code 0. `skipped`: it never began, since another one had failed. */
  readonly status: "ok" | "failed" | "skipped";
  /** Null when a signal ended it, or it never began. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: { readonly stdout: boolean; readonly stderr: boolean };
  /** Why it could not be run; null when it ran. */
  readonly error: string | null;
}

export interface BatchOptions<Context, Cases extends string> extends CommonOptions {
  /** At most 256. */
  readonly commands: Setting<Context, readonly BatchCommand[]>;
  /** How many run at a time: 1 to 32, 4 unless set. */
  readonly concurrency?: number;
  /** After one has failed no other begins; those that run end. Without it all are tried. */
  readonly stopOnFailure?: boolean;
  /** Failed commands do not fail the node: their results say so. */
  readonly allowNonZeroExit?: boolean;
  /** At most once for each command: an unknown outcome waits for `confirm` or `retry` of that command. */
  readonly once?: boolean;
  /** For all of them together: 15 minutes unless set. It stands still while the run is paused, held, ambiguous or blocked. */
  readonly timeoutMs?: Timeout<Context>;
  /** Names the case to take, by the results. */
  readonly route?: (output: readonly BatchResult[]) => Cases | Promise<Cases>;
  /** The cases that `route` may name; without a list, those that `next` names. */
  readonly cases?: readonly Cases[];
}

/**
 * Runs many commands, some at a time. The output is their results in the order of the commands. Each result is saved as its command ends: interrupted, only
 * those that had not ended run again (at most 3 times each, after what is left of the earlier one was ended), or with `once` never by themselves.
 * A command that ends with another exit code than 0 fails the node after all were tried, unless `allowNonZeroExit`.
 */
export function batch<Context, const Cases extends string = "done">(
  options: BatchOptions<Context, Cases>,
): NodeDefinition<Context, readonly BatchResult[], Cases> {
  return {
    settings: {
      cases: options.route ? (options.cases ?? null) : (options.cases ?? [doneCase]),
      timeoutMs: forgetTimeout(options.timeoutMs),
      once: options.once ?? false,
      retry: undefined,
      statusDetail: options.statusDetail,
    },
    behaviour: {
      kind: "batch",
      commands: forgetSetting(options.commands),
      concurrency: options.concurrency ?? 4,
      stopOnFailure: options.stopOnFailure ?? false,
      allowNonZeroExit: options.allowNonZeroExit ?? false,
      route: (options.route as Routing | undefined) ?? null, // it is given this node's own output
    },
  };
}

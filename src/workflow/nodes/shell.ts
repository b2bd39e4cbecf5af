import { type AnyContext } from "../context.ts";
import { doneCase } from "../graph.ts";
import type { CommonOptions, NodeDefinition, Routing, Setting, Stored, Timeout } from "./node.ts";
import { forgetTimeout } from "./setting.ts";

/** What a command left behind. Texts hold at most 1,000,000 characters each; `truncated` says which were cut. */
export interface ShellResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: { readonly stdout: boolean; readonly stderr: boolean };
}

/** The command of a shell node. */
export interface ShellOptions<Context> extends CommonOptions {
  /** The program, found on PATH; with `shell: true` a line for /bin/sh. */
  readonly command: Setting<Context, string>;
  readonly args?: Setting<Context, readonly string[]>;
  /** Has /bin/sh read `command`; the args are its $1, $2, …. */
  readonly shell?: boolean;
  /** The directory it runs in; the run's own unless set. */
  readonly cwd?: Setting<Context, string>;
  /** Added to the inherited environment; undefined takes a variable away. */
  readonly env?: Setting<Context, { readonly [name: string]: string | undefined }>;
  readonly stdin?: Setting<Context, string>;
  /** 15 minutes unless set. */
  readonly timeoutMs?: Timeout<Context>;
  /** An exit code other than 0 is no failure. */
  readonly allowNonZeroExit?: boolean;
  /** At most once: never repeated by itself; an unknown outcome waits for `confirm` or `retry`. */
  readonly once?: boolean;
}

/**
 * Runs a command. Interrupted, it runs again (at most 3 times a visit, after what is left of the earlier one was ended), or with `once` never by itself.
 * The output is what `parse` makes of the result, else the result itself.
 */
export function shell<Context, Output = ShellResult, const Cases extends string = "done">(
  options: ShellOptions<Context> & {
    readonly parse?: (result: ShellResult, context: Context) => Output | Promise<Output>;
    /** Names the case to take, by the output. */
    readonly route?: (output: Stored<Output>) => Cases | Promise<Cases>;
    /** The cases that `route` may name; without a list, those that `next` names. */
    readonly cases?: readonly Cases[];
  },
): NodeDefinition<Context, Stored<Output>, Cases> {
  const { parse, route, cases, ...command } = options;
  return {
    settings: {
      cases: route ? (cases ?? null) : (cases ?? [doneCase]),
      timeoutMs: forgetTimeout(options.timeoutMs),
      once: options.once ?? false,
      retry: undefined,
      statusDetail: options.statusDetail,
    },
    behaviour: {
      kind: "shell",
      // The executor gives these callbacks the context and the output of this very node.
      command: command as unknown as ShellOptions<AnyContext>,
      parse: (parse as ((result: ShellResult, context: AnyContext) => unknown) | undefined) ?? null,
      route: (route as Routing | undefined) ?? null,
    },
  };
}

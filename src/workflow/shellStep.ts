/** What the executor of a shell node needs of its author's callbacks: the command before, the output after. The process itself is the host's. */
import type { Clock } from "../runtime/clock.ts";
import { messageOf } from "../errors.ts";
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { ownTimeout } from "./deadline.ts";
import { acceptOutput, findNode, type Executed } from "./execute.ts";
import { callbackFailed, notBegun } from "./failures.ts";
import type { Setting } from "./nodes/node.ts";
import type { ShellResult } from "./nodes/shell.ts";

/** A command ready to run; no shell reads it unless it is /bin/sh itself. */
export interface ShellSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  readonly stdin: string | undefined;
  /** ms that the executor must hold; null where the runtime does, or nobody. */
  readonly timeoutMs: number | null;
  readonly allowNonZeroExit: boolean;
}

/** Runs the callbacks of a shell node's settings. @throws nodeFailed naming the setting; nothing was run then. */
export async function shellSpec(definition: AnyWorkflow, id: string, context: AnyContext, clock: Clock): Promise<ShellSpec> {
  const { node, settings, behaviour } = findNode(definition, id, "shell");
  const options = behaviour.command;
  const setting = async <T>(
    name: string,
    value: Setting<AnyContext, T> | undefined,
    fits: (value: unknown) => value is T,
    wanted: string,
  ): Promise<T | undefined> => {
    const given: unknown = await resolved(value, context).catch((error: unknown) => {
      throw notBegun(id, node.once, "nodeFailed", `has a ${name} callback that threw: ${messageOf(error)}`);
    });
    if (given === undefined || fits(given)) return given;
    throw notBegun(id, node.once, "nodeFailed", `has a setting ${name} that is not ${wanted}.`);
  };
  const command = await setting("command", options.command, isProgram, "text without NUL characters");
  if (command === undefined) throw notBegun(id, node.once, "nodeFailed", "has a command callback that gave nothing.");
  const args = (await setting("args", options.args, isArgs, "a list of texts without NUL characters")) ?? [];
  return {
    ...(options.shell ? { command: "/bin/sh", args: ["-c", command, "sh", ...args] } : { command, args }),
    cwd: await setting("cwd", options.cwd, isProgram, "text without NUL characters"),
    env: (await setting("env", options.env, isEnvironment, "an object of texts")) ?? {},
    stdin: await setting("stdin", options.stdin, (value): value is string => typeof value === "string", "text"),
    timeoutMs: await ownTimeout(id, node.once, settings.timeoutMs, context, clock),
    allowNonZeroExit: options.allowNonZeroExit ?? false,
  };
}

/** The node's output for what the command left behind. @throws nodeFailed, invalidOutput, outputTooLarge, routing */
export async function parseShell(definition: AnyWorkflow, id: string, context: AnyContext, result: ShellResult): Promise<Executed> {
  const { behaviour } = findNode(definition, id, "shell");
  let output: unknown = result;
  if (behaviour.parse) {
    try {
      output = await behaviour.parse(result, context);
    } catch (error) {
      throw callbackFailed(id, error);
    }
  }
  return acceptOutput(definition, id, output);
}

async function resolved<T>(value: Setting<AnyContext, T> | undefined, context: AnyContext): Promise<T | undefined> {
  return typeof value === "function" ? (value as (context: AnyContext) => T | Promise<T>)(context) : value; // a setting's value is never a function itself
}

const hasNoNul = (value: unknown): value is string => typeof value === "string" && !value.includes("\0");
const isProgram = (value: unknown): value is string => hasNoNul(value) && value !== "";
const isArgs = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(hasNoNul);
const isEnvironment = (value: unknown): value is { readonly [name: string]: string | undefined } =>
  typeof value === "object" &&
  value !== null &&
  Object.entries(value).every(([name, text]) => name !== "" && !/[=\0]/.test(name) && (text === undefined || hasNoNul(text)));

/** Runs one command of a shell step in a process group of its own that is recorded before the command begins,
 *  so that no crash leaves a process of which nothing is known. Rules EFFECT-10 to EFFECT-18. */
import { spawn, type ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { EffectFailure, type AbortReason, type EffectTask } from "../runtime/executor.ts";
import { sentenceOf } from "../errors.ts";
import type { ShellResult } from "../workflow/nodes/shell.ts";
import { BoundedOutput } from "./boundedOutput.ts";
import { checkDirectory, commandEnvironment, NotStarted, resolveCommand } from "./commands.ts";
import { endGroup, endLeftOver, groupGone, startTokenOf, watchGroup, within } from "./processes.ts";

/** A command to run; no shell reads it. */
export interface ShellCommand {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Absolute, or relative to the host's working directory. */
  readonly cwd?: string | undefined;
  /** Added to the host's environment; undefined takes a variable away. */
  readonly env?: { readonly [name: string]: string | undefined } | undefined;
  /** Text for standard input; empty when left out. */
  readonly stdin?: string | undefined;
  readonly allowNonZeroExit?: boolean | undefined;
}

export type ShellTask = Pick<EffectTask, "signal" | "leftover" | "saveProcess" | "report">;

/** Waits for the word, then becomes the command: same process, same group. If the host dies first the read ends without the word. */
const launcher = 'IFS= read -r word <&3 && [ "$word" = go ] && exec "$@" 3<&-';

/** How long output may still come after the command itself ended, from children that are about to end too. */
const lingerMs = 500;

const abortTexts: { readonly [reason in AbortReason]: readonly [reason: string, text: string] } = {
  cancelled: ["userCancelled", "was cancelled"],
  timedOut: ["nodeTimedOut", "ran into its time limit"],
  silent: ["workerCrashed", "gave no sign of life"],
  shutdown: ["workerCrashed", "was interrupted because Pawl is stopping"],
};

function aborted(signal: AbortSignal, name: string): EffectFailure {
  const reason: unknown = signal.reason;
  const [code, text] = abortTexts[reason === "timedOut" || reason === "silent" || reason === "shutdown" ? reason : "cancelled"];
  return new EffectFailure(code, `The command ${name} ${text}.`);
}

interface Launched {
  readonly child: ChildProcess;
  readonly pgid: number;
  readonly startToken: string;
  readonly word: Writable;
}

function launch(file: string, command: ShellCommand, cwd: string, env: { [name: string]: string }): Promise<Launched> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(new NotStarted(`The command ${command.command} could not be started: ${sentenceOf(error)}`));
    let child: ChildProcess;
    try {
      child = spawn("/bin/sh", ["-c", launcher, "pawl", file, ...(command.args ?? [])], {
        cwd,
        env,
        detached: true,
        stdio: [command.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe", "pipe"],
      });
    } catch (error) {
      fail(error);
      return;
    }
    child.on("error", fail);
    child.once("spawn", () => {
      const pgid = child.pid;
      const startToken = pgid === undefined ? null : startTokenOf(pgid);
      const word = child.stdio[3];
      if (pgid === undefined || startToken === null || !word || !("write" in word)) {
        child.kill("SIGKILL");
        fail(new Error("its process ended at once"));
        return;
      }
      // A launcher that was killed while it waits must not bring the host down by a broken pipe.
      word.on("error", () => undefined);
      resolve({ child, pgid, startToken, word });
    });
  });
}

interface Ended {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

function feed(stream: Readable | null, output: BoundedOutput): Promise<void> {
  return new Promise((resolve) => {
    if (stream === null) {
      resolve();
      return;
    }
    stream.on("data", (chunk: Uint8Array) => output.add(chunk));
    // A read error ends the stream as its end does; what came before it is kept.
    stream.on("error", () => undefined);
    stream.on("close", resolve);
  });
}

function giveInput(child: ChildProcess, text: string | undefined): void {
  if (child.stdin === null || text === undefined) return;
  // A command need not read its input: a broken pipe is no failure of ours.
  child.stdin.on("error", () => undefined);
  child.stdin.end(text);
}

function failureText(name: string, ended: Ended, stderr: string): string {
  const how = ended.signal === null ? `ended with exit code ${ended.exitCode}` : `was ended by ${ended.signal}`;
  const tail = stderr.trim();
  return tail === ""
    ? `The command ${name} ${how} and wrote nothing to standard error.`
    : `The command ${name} ${how}. The end of its standard error:\n${tail}`;
}

async function endEarlierAttempt(task: ShellTask): Promise<void> {
  if (task.leftover === null) return;
  const alive = await endLeftOver(task.leftover);
  if (alive.length > 0)
    throw new NotStarted(
      `Processes of an earlier attempt are alive and could not be ended: ${alive.join(", ")}. End them, then start the run again.`,
      "workerCrashed",
    );
}

/**
 * Runs a command to its end and gives what it wrote. What is left of an earlier attempt is ended first; what the command leaves running is ended after it.
 * Lines of both streams go to `task.report`. Cancel, timeout and shutdown (`task.signal`) end the whole group within 2 s.
 * @throws NotStarted for a command that cannot start; EffectFailure `effectFailed` for one that ends with another exit code than 0, `userCancelled`, `nodeTimedOut`, `workerCrashed` after an abort.
 */
export async function runShell(command: ShellCommand, task: ShellTask): Promise<ShellResult> {
  await endEarlierAttempt(task);
  const cwd = command.cwd ?? process.cwd();
  checkDirectory(cwd);
  const env = commandEnvironment(process.env, command.env);
  const file = resolveCommand(command.command, cwd, env);
  if (task.signal.aborted) throw aborted(task.signal, command.command);
  const launched = await launch(file, command, cwd, env);
  const { child, pgid, word } = launched;
  const forget = watchGroup(pgid);

  const stdout = new BoundedOutput(task.report);
  const stderr = new BoundedOutput(task.report);
  const streams = Promise.all([feed(child.stdout, stdout), feed(child.stderr, stderr)]);
  const exit = new Promise<Ended>((resolve) => child.once("exit", (exitCode, signal) => resolve({ exitCode, signal })));
  let ending: Promise<unknown> | undefined;
  const end = (): Promise<unknown> => (ending ??= endGroup(pgid));
  let onAbort = (): void => undefined;
  const abortDone = new Promise<null>((resolve) => {
    onAbort = () => void end().then(() => resolve(null));
  });
  task.signal.addEventListener("abort", onAbort, { once: true });
  if (task.signal.aborted) onAbort();
  try {
    try {
      await task.saveProcess({ pgid, startToken: launched.startToken });
    } catch (error) {
      word.destroy();
      await end();
      throw error;
    }
    if (task.signal.aborted) word.destroy();
    else word.end("go\n");
    giveInput(child, command.stdin);
    // A process that even KILL does not end (waiting in the kernel) must not hold the cancel up.
    const ended = await Promise.race([exit, abortDone]);
    // Children that only finish writing get their time; whoever goes on after that is ended: a step leaves no orphans.
    if (!task.signal.aborted) await Promise.all([within(streams, lingerMs), groupGone(pgid, lingerMs)]);
    await end();
    if (!task.signal.aborted) await within(streams, lingerMs);
    child.stdout?.destroy();
    child.stderr?.destroy();
    stdout.end();
    stderr.end();
    if (task.signal.aborted || ended === null) throw aborted(task.signal, command.command);
    if (ended.exitCode !== 0 && command.allowNonZeroExit !== true) throw new EffectFailure("effectFailed", failureText(command.command, ended, stderr.tail()));
    return { ...ended, stdout: stdout.text(), stderr: stderr.text(), truncated: { stdout: stdout.truncated, stderr: stderr.truncated } };
  } finally {
    task.signal.removeEventListener("abort", onAbort);
    child.stdin?.destroy();
    word.destroy();
    forget();
  }
}

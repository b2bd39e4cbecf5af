/** What executes the effects of a batch: one command as a shell step does it, and all results put together. BATCH-2, BATCH-4. */
import path from "node:path";
import { z } from "zod";
import { batchCommandsVisit, batchItemVisit, type BatchCollectInput, type BatchItemInput } from "../../machines/nodes/batchNode.ts";
import type { EffectRecord, Store } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import { EffectFailure, type EffectOutcome, type EffectTask, type Executor } from "../runtime/executor.ts";
import type { StoredCommand } from "../workflow/batchCommands.ts";
import { doneCase } from "../workflow/graph.ts";
import { maxValueBytes, type Executed } from "../workflow/execute.ts";
import type { BatchResult } from "../workflow/nodes/batch.ts";
import { NotStarted } from "./commands.ts";
import { runShell } from "./shell.ts";
import { readValue } from "./values.ts";
import { WeightedCache } from "./weightedCache.ts";

export interface BatchOptions {
  readonly store: Pick<Store, "visits" | "blob">;
  /** The directory that a run was started in. */
  readonly project: (run: string) => string | Promise<string>;
  /** What the node's route makes of the results. */
  readonly accept: (task: EffectTask, results: readonly BatchResult[]) => Promise<Executed>;
}

const neverRan = { exitCode: null, signal: null, stdout: "", stderr: "", truncated: { stdout: false, stderr: false } } as const;

/** Commands of batches that are kept ready: characters of their JSON. */
const commandsUnits = 4 * 1024 * 1024;

/** How many failed commands the reason of a failed batch names. */
const namedFailures = 3;
const tailUnits = 400;

export class Batches {
  private readonly options: BatchOptions;
  private readonly commands = new WeightedCache<readonly StoredCommand[]>(commandsUnits);

  constructor(options: BatchOptions) {
    this.options = options;
  }

  /** Runs one command. Its exit code is a result, whatever it is; so is that it could not begin. */
  readonly item: Executor = async (task) => {
    const { run, item } = task.input as BatchItemInput; // batchNode gives it
    const command = (await this.commandsOf(task.actor))[item];
    if (command === undefined) throw new EffectFailure("nodeFailed", `The batch has no command ${item}.`);
    const cwd = path.resolve(await this.options.project(run), command.cwd ?? ".");
    const env = Object.fromEntries(Object.entries(command.env).map(([name, value]) => [name, value ?? undefined]));
    try {
      const result = await runShell(
        { command: command.command, args: command.args, cwd, env, stdin: command.stdin ?? undefined, allowNonZeroExit: true },
        { signal: task.signal, leftover: task.leftover, saveProcess: (process) => task.saveProcess(process), report: (line) => task.report(line) },
      );
      return itemOutcome({ status: result.exitCode === 0 ? "ok" : "failed", ...result, error: null });
    } catch (error) {
      // A cancelled, timed-out or lost command is no result.
      if (!(error instanceof NotStarted) || task.signal.aborted) throw error;
      return itemOutcome({ status: "failed", ...neverRan, error: error.message });
    }
  };

  /** All results in the order of the commands. @throws effectFailed naming the first failed commands, outputTooLarge */
  readonly collect: Executor = async (task) => {
    const { count, allowNonZeroExit, routes } = task.input as BatchCollectInput; // batchNode gives it
    const results = await this.resultsOf(task.actor, count);
    const failed = results.flatMap((result, item) => (result.status === "failed" ? [{ result, item }] : []));
    if (failed.length > 0 && !allowNonZeroExit) throw new EffectFailure("effectFailed", await this.failureText(task.actor, failed, count));
    const executed = routes ? await this.options.accept(task, results) : { case: doneCase, value: results };
    return { output: { case: executed.case }, value: executed.value };
  };

  private async commandsOf(actor: string): Promise<readonly StoredCommand[]> {
    const known = this.commands.get(actor);
    if (known) return known;
    const [record] = await this.options.store.visits([`${actor}/${batchCommandsVisit}`]);
    const commands = (await readValue(this.options.store, record?.output ?? null)) as readonly StoredCommand[]; // written by the executor of that effect
    this.commands.set(actor, commands, JSON.stringify(commands).length);
    return commands;
  }

  private async resultsOf(actor: string, count: number): Promise<readonly BatchResult[]> {
    const visits = Array.from({ length: count }, (_, item) => `${actor}/${batchItemVisit(item)}`);
    const records = new Map((await this.options.store.visits(visits)).map((record) => [record.visit, record]));
    const results: BatchResult[] = [];
    let bytes = 0;
    for (const visit of visits) {
      const result = await this.resultOf(records.get(visit));
      bytes += Buffer.byteLength(JSON.stringify(result));
      if (bytes > maxValueBytes)
        throw new EffectFailure(
          "outputTooLarge",
          `The results of the commands have more than ${maxValueBytes} bytes of JSON, the limit of one output. Have them write to files, or make several batches.`,
        );
      results.push(result);
    }
    return results;
  }

  private async resultOf(record: EffectRecord | undefined): Promise<BatchResult> {
    if (record === undefined) return { status: "skipped", ...neverRan, error: null };
    if (record.state === "confirmed") return (await readValue(this.options.store, record.output)) as BatchResult; // written by `item` above, or by a person's word that was checked
    return { status: "failed", ...neverRan, error: record.error?.message ?? "Its outcome is not known." };
  }

  private async failureText(actor: string, failed: readonly { readonly result: BatchResult; readonly item: number }[], count: number): Promise<string> {
    const commands = await this.commandsOf(actor);
    const named = failed.slice(0, namedFailures).map(({ result, item }) => {
      const how = result.error ?? (result.signal === null ? `exit code ${result.exitCode}` : `signal ${result.signal}`);
      const tail = result.stderr.trimEnd().slice(-tailUnits);
      return `[${item}] ${commands[item]?.command ?? ""}: ${how}${tail === "" ? "" : `: ${tail}`}`;
    });
    const more = failed.length > namedFailures ? `; and ${failed.length - namedFailures} more` : "";
    return `${failed.length} of ${count} commands failed: ${named.join("; ")}${more}.`;
  }
}

const itemOutcome = (result: BatchResult): EffectOutcome => ({ output: { status: result.status }, value: result });

/** What a person says of a command whose outcome is unknown; what is left out is empty. */
const Confirmed = z
  .strictObject({
    exitCode: z.int().min(0).max(255).nullable(),
    signal: z.string().nullable().default(null),
    stdout: z.string().max(1_000_000).default(""),
    stderr: z.string().max(1_000_000).default(""),
  })
  .partial();

/** @throws invalidInput with the path */
export function confirmedItem(key: string, output: unknown): EffectOutcome {
  const parsed = Confirmed.safeParse(output ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new PawlError(
      "invalidInput",
      `Effect "${key}" was not confirmed: ${issue?.message ?? "wrong"}. It stays ambiguous; say how the command ended, as in {"exitCode":0,"stdout":""}.`,
      { subject: key, path: ["output", ...(issue?.path ?? []).map(String)].join(".") },
    );
  }
  const { exitCode = 0, signal = null, stdout = "", stderr = "" } = parsed.data;
  return itemOutcome({ ...neverRan, status: exitCode === 0 ? "ok" : "failed", exitCode, signal, stdout, stderr, error: null });
}

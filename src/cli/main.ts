/** The command line: from the process's arguments to its exit code. */
import { writeSync } from "node:fs";
import { CommanderError } from "commander";
import { killGroups } from "../host/processes.ts";
import { systemClock } from "../runtime/clock.ts";
import { visible } from "../text/visible.ts";
import { environmentOf, type Environment } from "./environment.ts";
import { exitCodes, failureOf, strayText, typable, type ExitCode, type Failure } from "./exitCodes.ts";
import { watchInterrupts, type Interrupts } from "./interrupts.ts";
import { jsonLine } from "./json.ts";
import { processOutput, type ProcessOutput } from "./processOutput.ts";
import type { CommandLine } from "./render/next.ts";
import { parseCommandLine, type Request } from "./program.ts";
import { programName } from "./programName.ts";

/** Does what this process's arguments ask for and ends the process. */
export async function runCommandLine(): Promise<void> {
  const output = processOutput(process.stdout, process.stderr, () => interrupts.abandon());
  let isDone = false;
  const end = (code: number): never => {
    isDone = true;
    process.exit(code);
  };
  const interrupts = watchInterrupts(process, systemClock, (code, lastWords) => {
    output.err(lastWords);
    end(code);
  });
  // Code of workflows runs in this process: it may end it, break it, or leave it with nothing to do, and none of that is a result.
  process.exitCode = exitCodes.ended;
  process.on("exit", () => {
    killGroups();
    if (!isDone) process.exitCode = endedFromInside(interrupts);
  });
  process.on("uncaughtException", (error) => {
    if (interrupts.stray(error)) return;
    output.err(errorText({ ...failureOf(error), message: strayText(error) }, isJson()));
    output.err(stackText(error));
    end(exitCodes.ended);
  });
  const leave = systemClock.schedule(Number.POSITIVE_INFINITY, () => {});
  const code = await commandLine(process.argv.slice(2), output, interrupts);
  interrupts.close();
  await output.flush();
  leave();
  // Code of workflows may have left timers or sockets open: nothing waits for those.
  end(code);
}

/** Says that something called `process.exit`; the exit code for it. Nothing asynchronous is done any more here. */
function endedFromInside(interrupts: Interrupts): ExitCode {
  const words = interrupts.held();
  const message = `code that ran in this process ended it before the command was done. ${words === null ? "What was saved is safe." : words.trim()}`;
  try {
    writeSync(2, errorText({ exitCode: exitCodes.interrupted, code: "aborted", message }, isJson()));
  } catch {
    // Nobody can be told.
  }
  return words === null ? exitCodes.ended : exitCodes.interrupted;
}

// Needed before the line is understood: a line that is not must be refused as JSON too.
const isJson = (): boolean => process.argv.includes("--json");

const programOfProcess = (): string => programName({ script: process.argv[1] ?? "pawl", cwd: process.cwd(), env: process.env });

const errorText = (failure: Failure, json: boolean): string =>
  json
    ? jsonLine({ error: { code: failure.code, message: failure.message, subject: failure.subject, path: failure.path } })
    : failureText(failure, programOfProcess());

const stackText = (error: unknown): string => (process.env["PAWL_DEBUG"] === "1" && error instanceof Error ? `${visible(error.stack ?? "")}\n` : "");

async function commandLine(argv: readonly string[], output: ProcessOutput, interrupts: Interrupts): Promise<ExitCode> {
  const program = programOfProcess();
  let command: CommandLine = (...words) => [program, ...words].join(" ");
  let request: Request | null = null;
  try {
    let help = "";
    const parsed = parse(
      argv,
      program,
      (text) => {
        help += text;
      },
      output.screen?.columns ?? 80,
    );
    if (parsed === "incomplete") {
      output.err(help);
      return exitCodes.usage;
    }
    if (parsed === null) {
      output.out(help);
      return exitCodes.completed;
    }
    const environment = environmentOf({ home: parsed.home, json: parsed.json, embedded: parsed.embedded, interrupts, output });
    command = environment.command;
    ({ request } = parsed);
    return await perform(request, environment);
  } catch (error) {
    const known = failureOf(error);
    const failure = { ...known, message: `${typable(known.message, command)}${checkedAgain(known.code, request, command)}` };
    output.err(errorText(failure, isJson()));
    output.err(stackText(error));
    return failure.exitCode;
  }
}

/** A file that must be mended first can be tried without starting anything. */
function checkedAgain(code: string, request: Request | null, command: CommandLine): string {
  const workflow = request !== null && "workflow" in request ? request.workflow : undefined;
  const isOfFile = code === "loadFailed" || code === "invalidWorkflow";
  return isOfFile && workflow !== undefined ? `\nCheck it again with: ${command("graph", workflow)}` : "";
}

/** `incomplete`: only part of a command was given, and its help was written. */
function parse(argv: readonly string[], program: string, write: (text: string) => void, width: number): ReturnType<typeof parseCommandLine> | "incomplete" {
  try {
    return parseCommandLine(argv, program, write, width);
  } catch (error) {
    if (error instanceof CommanderError && error.code === "commander.help") return "incomplete";
    throw error;
  }
}

/** Each command is loaded when it is asked for: most of the time of a short one is loading. */
async function perform(request: Request, environment: Environment): Promise<ExitCode> {
  switch (request.command) {
    case "run":
      return (await import("./commands/runCommand.ts")).startRun(request.workflow, request.options, environment);
    case "runs":
      return (await import("./commands/listCommands.ts")).listRuns(request.options, environment);
    case "show":
      return (await import("./commands/listCommands.ts")).showRun(request.run, request.options, environment);
    case "decisions":
      return (await import("./commands/listCommands.ts")).listDecisions(request.options, environment);
    case "answerCheckpoint":
      return (await import("./commands/checkpointCommand.ts")).answerCheckpoint(request, environment);
    case "answer":
      return (await import("./commands/answerCommand.ts")).answerDecision(request, environment);
    case "resume":
      return (await import("./commands/runCommand.ts")).resumeRun(request.run, environment);
    case "pause":
      return (await import("./commands/runCommand.ts")).pauseRun(request.run, environment);
    case "cancel":
      return (await import("./commands/runCommand.ts")).cancelRun(request.run, environment);
    case "effectList":
      return (await import("./commands/listCommands.ts")).listEffects(request.options, environment);
    case "effectConfirm":
      return (await import("./commands/effectCommands.ts")).confirmEffect(request.key, request.options, environment);
    case "effectRetry":
      return (await import("./commands/effectCommands.ts")).retryEffect(request.key, environment);
    case "doctor":
      return (await import("./commands/maintenanceCommands.ts")).doctor(request.options, environment);
    case "prune":
      return (await import("./commands/maintenanceCommands.ts")).prune(request.options, environment);
    case "export":
      return (await import("./commands/maintenanceCommands.ts")).exportCopy(request.run, request.options, environment);
    case "reset":
      return (await import("./commands/maintenanceCommands.ts")).reset(environment);
    case "hostStart":
      return (await import("./commands/hostCommands.ts")).startHost(environment);
    case "hostStatus":
      return (await import("./commands/hostCommands.ts")).statusOfHost(environment);
    case "hostStop":
      return (await import("./commands/hostCommands.ts")).stopHost(environment);
    case "hostLogs":
      return (await import("./commands/hostCommands.ts")).hostLogs(request.options, environment);
    case "workflows":
      return (await import("./commands/workflowCommands.ts")).listWorkflows(environment);
    case "graph":
      return (await import("./commands/workflowCommands.ts")).showGraph(request.workflow, request.options, environment);
    case "version":
      return (await import("./commands/version.ts")).showVersion(environment);
  }
}

/** More than this nobody reads, and it would push what matters off the screen. */
const longestMessage = 8192;

const bounded = (message: string): string =>
  message.length > longestMessage
    ? `${message.slice(0, longestMessage).toWellFormed()} … (${message.length - longestMessage} more characters; all of them with --json)`
    : message;

/** The sentence for a person, made safe: it may hold what a workflow threw. Not wrapped, since people copy the commands in it. */
export function failureText(failure: Failure, program: string): string {
  const hint = failure.code === "invalidInput" && failure.path === undefined ? `\nSee: ${program} help` : "";
  return `${visible(`pawl: ${bounded(failure.message)}${hint}`)}\n`;
}

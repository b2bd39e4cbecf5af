/** The commands, their options and their help. What they do stands in commands/. */
import { Command, CommanderError, InvalidArgumentError } from "commander";
import type { DecisionState, EffectState, RunState } from "../../persistence/store.ts";
import { didYouMean } from "../text/closest.ts";
import { examples } from "./help.ts";
import { addHostCommands, type HostRequest } from "./hostProgram.ts";
import { addMaintenanceCommands, type MaintenanceRequest } from "./maintenance.ts";
import { decisionLooks, effectLooks, runLooks } from "./render/words.ts";
import { addWorkflowCommands, type WorkflowRequest } from "./workflowProgram.ts";

export interface ListOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly inputFile?: string;
  readonly task?: string;
  readonly idKey?: string;
}

export interface RunsOptions extends ListOptions {
  readonly state?: readonly RunState[];
  readonly workflow?: string;
}

export interface ShowOptions {
  readonly audit?: boolean;
}

/** `all` shows every state; without it and `state` only what waits for somebody. */
export interface DecisionsOptions extends ListOptions {
  readonly state?: readonly DecisionState[];
  readonly all?: boolean;
  readonly run?: string;
}

export interface EffectsOptions extends ListOptions {
  readonly state?: readonly EffectState[];
  readonly all?: boolean;
  readonly run?: string;
}

export interface CheckpointOptions {
  readonly inputJson?: string;
  readonly inputFile?: string;
  readonly idKey?: string;
}

/** A parsed command line, ready to be done. */
export type Request =
  | { readonly command: "run"; readonly workflow: string; readonly options: RunOptions }
  | { readonly command: "runs"; readonly options: RunsOptions }
  | { readonly command: "show"; readonly run: string; readonly options: ShowOptions }
  | { readonly command: "decisions"; readonly options: DecisionsOptions }
  | {
      readonly command: "answer";
      readonly decision: string;
      readonly choice: string;
      readonly text: string | undefined;
      readonly options: { readonly textFile?: string };
    }
  | { readonly command: "answerCheckpoint"; readonly run: string; readonly options: CheckpointOptions }
  | { readonly command: "resume"; readonly run: string }
  | { readonly command: "pause"; readonly run: string }
  | { readonly command: "cancel"; readonly run: string }
  | { readonly command: "effectList"; readonly options: EffectsOptions }
  | { readonly command: "effectConfirm"; readonly key: string; readonly options: { readonly output?: string; readonly outputFile?: string } }
  | { readonly command: "effectRetry"; readonly key: string }
  | HostRequest
  | MaintenanceRequest
  | WorkflowRequest
  | { readonly command: "version" };

export interface Parsed {
  readonly request: Request;
  readonly json: boolean;
  readonly home: string | undefined;
  /** Without a host, in this process. */
  readonly embedded: boolean;
}

const exitCodesHelp = `
Exit codes:
  0    completed
  1    ended otherwise: failed, timed out, cancelled
  2    wrong usage, or refused; nothing was changed
  3    the run waits for somebody, and the command that goes on is printed
  4    the machine or the state directory stands in the way
  130  interrupted; the run is safe`;

/**
 * Parses `argv` (without node and script); null when it asked for help, which was then written to `write`.
 * `program` is what examples begin with; `width` in cells.
 * @throws CommanderError for a line that means nothing.
 */
export function parseCommandLine(argv: readonly string[], program: string, write: (text: string) => void, width: number): Parsed | null {
  let request: Request | null = null;
  const root = new Command("pawl")
    .description("Runs agent workflows that survive anything: closed windows, crashes, kill -9.")
    .option("--json", "one JSON document (run, resume and answer: one JSON object a line); errors as JSON on standard error")
    .option("--home <directory>", "state directory (default: PAWL_HOME, else ~/.pawl)")
    .option("--embedded", "do it in this process, without a host (also PAWL_EMBEDDED=1)")
    .version("", "-V, --version", "print the versions, as `pawl version` does")
    .helpCommand("help [command]", "what a command does, with examples")
    .addHelpText("after", `${exitCodesHelp}\n${examples(program, ["run ./ship.workflow.ts", "decisions", "help answer"])}`)
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: 20, subcommandTerm: commandTerm })
    .configureOutput({
      writeOut: write,
      writeErr: write,
      outputError: () => {},
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      getOutHasColors: () => false,
    })
    .exitOverride();
  addCommands(root, program, (found) => {
    request = found;
  });
  const unknown = unknownHelp(root, argv);
  if (unknown !== null) throw unknown;
  try {
    root.parse([...argv], { from: "user" });
  } catch (error) {
    // Commander takes the process's exit code for its own, and that one is pessimistic until the command is done.
    const askedForHelp = error instanceof CommanderError && error.code === "commander.help" && argv.find((word) => !word.startsWith("-")) === "help";
    if (!(error instanceof CommanderError) || (error.exitCode !== 0 && !askedForHelp)) throw error;
    if (error.code !== "commander.version") return null;
    request = { command: "version" };
  }
  const { json, home, embedded } = root.opts<{ json?: boolean; home?: string; embedded?: boolean }>();
  return request && { request, json: json ?? false, home, embedded: embedded ?? false };
}

/** Commander answers help about a command that there is not with help about everything. */
function unknownHelp(root: Command, argv: readonly string[]): CommanderError | null {
  const [word, ...names] = argv.filter((word) => !word.startsWith("-"));
  if (word !== "help") return null;
  let command = root;
  for (const name of names) {
    const found = command.commands.find((other) => other.name() === name);
    if (command.commands.length === 0 || (name === "help" && command === root)) return null;
    if (found === undefined)
      return new CommanderError(
        2,
        "commander.unknownCommand",
        `unknown command '${name}'.${didYouMean(
          name,
          command.commands.map((other) => other.name()),
        )}`,
      );
    command = found;
  }
  return null;
}

function addCommands(root: Command, program: string, found: (request: Request) => void): void {
  root
    .command("run <workflow>")
    .description("start a workflow and drive it until it ends or waits; open decisions are asked right here in a terminal")
    .option("--input <json>", "the run's input")
    .option("--input-file <file>", "the run's input, from a JSON file (- for standard input)")
    .option("--task <text>", 'short for --input {"task": text}')
    .option("--id-key <key>", "start once: the same key and request give the same run")
    .addHelpText(
      "after",
      examples(program, [
        "run ship",
        'run ship --task "Add a dark mode"',
        'run ./deploy.workflow.ts --input \'{"env":"test"}\'',
        "run ship --input-file input.json --json",
      ]),
    )
    .action((workflow: string, options: RunOptions) => found({ command: "run", workflow, options }));
  listOptions(root.command("runs"))
    .description("list runs, newest last, with what each waits for")
    .option("--state <states>", `only these, separated by commas: ${Object.keys(runLooks).join(", ")}`, states(runLooks))
    .option("--workflow <name>", "only runs of this workflow")
    .addHelpText("after", examples(program, ["runs", "runs --state waiting,ambiguous", "runs --limit 10"]))
    .action((options: RunsOptions) => found({ command: "runs", options }));
  root
    .command("show <run>")
    .description("everything about one run: visits, outputs, decisions, unknown outcomes, what to type next")
    .option("--audit", "everybody who tried to answer its decisions, and what each was told")
    .addHelpText("after", examples(program, ["show r_01JZ8Q4D2M6T3W9X5Y7A8B9C0D", "show 8B9C0D", "show 8B9C0D --audit", "show 8B9C0D --json"]))
    .action((run: string, options: ShowOptions) => found({ command: "show", run, options }));
  listOptions(root.command("decisions"))
    .description("list the decisions that wait for an answer")
    .option("--all", "settled ones too")
    .option("--state <states>", `only these, separated by commas: ${Object.keys(decisionLooks).join(", ")}`, states(decisionLooks))
    .option("--run <run>", "only those of this run")
    .addHelpText("after", examples(program, ["decisions", "decisions --all --run 8B9C0D"]))
    .action((options: DecisionsOptions) => found({ command: "decisions", options }));
  root
    .command("answer <code-or-run> [choice] [text]")
    .description("answer a decision, or the checkpoint that a run waits at, then drive the run on; a decision only a person at a terminal can answer")
    .option("--text-file <file>", "the text of a choice that asks for one, from a UTF-8 file")
    .option("--input-json <json>", "the answer to a checkpoint")
    .option("--input-file <file>", "the answer to a checkpoint, from a JSON file (- for standard input)")
    .option("--id-key <key>", "answer a checkpoint once: the same key and answer give the saved one")
    .addHelpText(
      "after",
      examples(program, [
        "answer 7K3M9Q2 go",
        'answer 7K3M9Q2 replan "Leave the tests alone"',
        "answer 7K3M9Q2 replan --text-file notes.txt",
        "answer 8B9C0D --input-json '{\"ok\":true}'",
      ]),
    )
    .action((subject: string, choice: string | undefined, text: string | undefined, options: { textFile?: string } & CheckpointOptions) =>
      found(answerRequest(subject, choice, text, options)),
    );
  root
    .command("resume <run>")
    .description("let a run go on, after a pause, an interruption or a crash, and watch it until it ends or waits")
    .addHelpText("after", examples(program, ["resume 8B9C0D"]))
    .action((run: string) => found({ command: "resume", run }));
  root
    .command("pause <run>")
    .description("let the step that runs end, and begin no other until the run is resumed")
    .addHelpText("after", examples(program, ["pause 8B9C0D"]))
    .action((run: string) => found({ command: "pause", run }));
  root
    .command("cancel <run>")
    .description("end a run for good; what its steps started is ended within two seconds")
    .addHelpText("after", examples(program, ["cancel 8B9C0D"]))
    .action((run: string) => found({ command: "cancel", run }));
  addEffectCommands(root, program, found);
  addWorkflowCommands(root, program, found);
  addHostCommands(root, program, found);
  addMaintenanceCommands(root, program, found);
  root
    .command("version")
    .description("print the versions of Pawl and Node")
    .addHelpText("after", examples(program, ["version", "version --json"]))
    .action(() => found({ command: "version" }));
}

/** JSON answers a checkpoint, a choice a decision. */
function answerRequest(subject: string, choice: string | undefined, text: string | undefined, options: { textFile?: string } & CheckpointOptions): Request {
  const { textFile, ...checkpoint } = options;
  if (checkpoint.inputJson !== undefined || checkpoint.inputFile !== undefined) {
    if (choice !== undefined || textFile !== undefined)
      throw new CommanderError(
        2,
        "commander.excessArguments",
        "A checkpoint is answered with --input-json or --input-file alone; a choice answers a decision.",
      );
    return { command: "answerCheckpoint", run: subject, options: checkpoint };
  }
  if (choice === undefined)
    throw new CommanderError(
      2,
      "commander.missingArgument",
      "Say the answer: a choice for a decision, or --input-json for the checkpoint that a run waits at.",
    );
  return { command: "answer", decision: subject, choice, text, options: textFile === undefined ? {} : { textFile } };
}

function addEffectCommands(root: Command, program: string, found: (request: Request) => void): void {
  const effect = root
    .command("effect")
    .description("look at work whose outcome is unknown, and settle it; only a person at a terminal can settle")
    .helpCommand(false)
    .addHelpText("after", examples(program, ["effect list", "effect confirm 'r_…/graph@7:1' --output '{\"sent\":true}'", "effect retry 'r_…/graph@7:1'"]));
  listOptions(effect.command("list"))
    .description("list effects with an unknown outcome")
    .option("--all", "those in every other state too")
    .option("--state <states>", `only these, separated by commas: ${Object.keys(effectLooks).join(", ")}`, states(effectLooks))
    .option("--run <run>", "only those of this run")
    .addHelpText("after", examples(program, ["effect list", "effect list --all --run 8B9C0D"]))
    .action((options: EffectsOptions) => found({ command: "effectList", options }));
  effect
    .command("confirm <key>")
    .description("say that it happened, with the output that it gave")
    .option("--output <json>", "the output, as the step would have returned it")
    .option("--output-file <file>", "the output, from a JSON file")
    .addHelpText("after", examples(program, ["effect confirm 'r_…/graph@7:1' --output '{\"sent\":true}'"]))
    .action((key: string, options: { output?: string; outputFile?: string }) => found({ command: "effectConfirm", key, options }));
  effect
    .command("retry <key>")
    .description("say that it did not happen: it is done again when the run goes on")
    .addHelpText("after", examples(program, ["effect retry 'r_…/graph@7:1'"]))
    .action((key: string) => found({ command: "effectRetry", key }));
}

/** A command with its arguments; that it takes options goes without saying. */
function commandTerm(command: Command): string {
  return [command.name(), ...command.registeredArguments.map((argument) => (argument.required ? `<${argument.name()}>` : `[${argument.name()}]`))].join(" ");
}

function listOptions(command: Command): Command {
  return command.option("--limit <n>", "at most this many, 1 to 500 (default: 50)", limit).option("--cursor <cursor>", "go on where the list before ended");
}

function limit(text: string): number {
  const value = Number(text);
  if (!/^[0-9]+$/.test(text) || value < 1 || value > 500) throw new InvalidArgumentError("Give a whole number from 1 to 500.");
  return value;
}

function states<S extends string>(known: Readonly<Record<S, unknown>>): (text: string) => readonly S[] {
  const isKnown = (word: string): word is S => Object.hasOwn(known, word);
  return (text) =>
    text.split(",").map((part) => {
      const word = part.trim();
      if (!isKnown(word)) throw new InvalidArgumentError(`The states are ${Object.keys(known).join(", ")}.${didYouMean(word, Object.keys(known))}`);
      return word;
    });
}

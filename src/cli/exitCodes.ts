/** How the command line ends: the one place that turns a run's state or an error into an exit code and words. */
import { CommanderError } from "commander";
import type { RunState } from "../../persistence/store.ts";
import { errorKinds, isPawlError, messageOf, sentenceOf, type ErrorKind } from "../errors.ts";

export const exitCodes = { completed: 0, ended: 1, usage: 2, parked: 3, environment: 4, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const codeOfState = {
  completed: exitCodes.completed,
  failed: exitCodes.ended,
  timedOut: exitCodes.ended,
  cancelled: exitCodes.ended,
  waiting: exitCodes.parked,
  paused: exitCodes.parked,
  held: exitCodes.parked,
  ambiguous: exitCodes.parked,
  blocked: exitCodes.parked,
  // Left in the middle: whoever drove it stopped.
  queued: exitCodes.interrupted,
  starting: exitCodes.interrupted,
  running: exitCodes.interrupted,
  pausing: exitCodes.interrupted,
} as const satisfies Record<RunState, ExitCode>;

export const exitCodeOfRun = (state: RunState): ExitCode => codeOfState[state];

/** Nothing can change such a run any more. */
export const isFinal = (state: RunState): boolean => codeOfState[state] === exitCodes.completed || codeOfState[state] === exitCodes.ended;

/** Nothing of such a run moves until somebody acts or time passes. */
export const isParked = (state: RunState): boolean => codeOfState[state] === exitCodes.parked;

const codeOfKind = {
  usage: exitCodes.usage,
  refused: exitCodes.usage,
  environment: exitCodes.environment,
  internal: exitCodes.ended,
} as const satisfies Record<ErrorKind, ExitCode>;

/** A refusal that came as an answer and not as an error: what a decision said (`stale`, `expired`, `invalid`, …). */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly code: string;
  readonly subject: string | undefined;
  constructor(code: string, message: string, subject?: string) {
    super(message);
    this.code = code;
    this.subject = subject;
  }
}

/** An error as the command line shows it. */
export interface Failure {
  readonly exitCode: ExitCode;
  /** One of Pawl's error codes, or the code a decision refused with. */
  readonly code: string;
  readonly message: string;
  readonly subject?: string | undefined;
  readonly path?: string | undefined;
}

/** Any thrown value as an exit code, a stable code and a sentence. */
export function failureOf(error: unknown): Failure {
  if (isPawlError(error)) {
    return { exitCode: codeOfKind[errorKinds[error.code]], code: error.code, message: error.message, subject: error.subject, path: error.path };
  }
  if (error instanceof RefusedError) return { exitCode: exitCodes.usage, code: error.code, message: error.message, subject: error.subject };
  if (error instanceof CommanderError) return { exitCode: exitCodes.usage, code: "invalidInput", message: usageMessage(error) };
  return {
    exitCode: exitCodes.ended,
    code: "internal",
    message:
      `an error that Pawl does not know: ${sentenceOf(error)} What was saved is safe. ` +
      "Run the command again with PAWL_DEBUG=1 and report what it prints together with the output of `pawl version`.",
  };
}

/** The commands that a message names, as `pawl words` in backquotes, made such that this person can type them. */
export const typable = (message: string, command: (...words: readonly string[]) => string): string =>
  message.replace(/`pawl ([^`\n]+)`/g, (_, line: string) => command(...wordsOf(line)));

/** The words of a command line in which only single quotes quote. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:'[^']*'|\\'|[^ '])+/g)].map(([word]) => word.replaceAll(/'([^']*)'|\\'/g, (_, quoted: string | undefined) => quoted ?? "'"));

/** What is said of an error that nothing caught: of code that a workflow left running, most likely. */
export const strayText = (error: unknown): string => `An error that nothing caught: ${messageOf(error).replace(/\.$/, "")}. What was saved is safe.`;

function usageMessage(error: CommanderError): string {
  // Commander puts its suggestion on a line of its own, in brackets.
  const message = error.message.replace(/^error: /, "").replace(/\n\((Did you mean .*)\)$/s, ". $1");
  return /[.?!]$/.test(message) ? message : `${message}.`;
}

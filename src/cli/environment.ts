/** The world around one command: streams, variables, clock, and what follows from them. Read once, at the start. */
import { randomUUID } from "node:crypto";
import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { ReadStream } from "node:tty";
import { PawlError } from "../errors.ts";
import { systemClock, type Clock } from "../runtime/clock.ts";
import { shellWord } from "../text/shellWord.ts";
import type { Interrupts } from "./interrupts.ts";
import type { ProcessOutput, Screen } from "./processOutput.ts";
import { programName } from "./programName.ts";
import type { CommandLine } from "./render/next.ts";
import { paintFor, type Paint } from "./render/style.ts";

/** Set by Pi, by other agents, and by Pawl for what its own steps start: whoever runs there is not a person. */
export const nonHumanVariables = ["PI_CODING_AGENT", "AI_AGENT", "PI_SESSION_ID", "PAWL_WORKER"] as const;

/** The variable that says that a program and not a person is at work; null when none is set. */
export const nonHumanVariable = (env: NodeJS.ProcessEnv): string | null => nonHumanVariables.find((name) => (env[name] ?? "") !== "") ?? null;

/** The two ends of a terminal at which a person sits: enough to ask a question. */
export interface Terminal {
  readonly input: ReadStream;
  readonly output: Screen;
}

export interface Environment {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** State directory, absolute. */
  readonly home: string;
  readonly json: boolean;
  /** Runs are driven in this process; otherwise by the host, and this process only watches. */
  readonly embedded: boolean;
  readonly clock: Clock;
  /** Writes text to standard output or error as it is: it must be safe already. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Standard output when it is a terminal: live progress goes there. */
  readonly screen: Screen | null;
  /** Both ends, when a person may be asked. */
  readonly terminal: Terminal | null;
  /** Why no person is at work here; null when one is, which needs a terminal on standard input. */
  readonly notHuman: string | null;
  readonly paint: Paint;
  /** Columns of standard output; 80 when it is no terminal. */
  readonly width: () => number;
  /** The command line that runs this program with these words, on the same state directory. */
  readonly command: CommandLine;
  /** The name of the Unix user, for the record of who answered. */
  readonly user: string;
  readonly newKey: () => string;
  readonly interrupts: Interrupts;
}

export interface EnvironmentOptions {
  readonly home: string | undefined;
  readonly json: boolean;
  readonly embedded: boolean;
  readonly interrupts: Interrupts;
  readonly output: ProcessOutput;
}

/** The environment of this process. */
export function environmentOf({ home: wanted, json, embedded, interrupts, output }: EnvironmentOptions): Environment {
  const { env } = process;
  const cwd = process.cwd();
  const defaultHome = join(homedir(), ".pawl");
  if (wanted === "") throw new PawlError("invalidInput", "--home is empty. Give a directory, or leave it out for PAWL_HOME, else ~/.pawl.", { path: "--home" });
  const named = wanted ?? (env["PAWL_HOME"] || undefined);
  const home = named === undefined ? defaultHome : resolve(cwd, named);
  const program = programName({ script: process.argv[1] ?? "pawl", cwd, env });
  // A dumb terminal cannot redraw: it gets plain lines, and nothing is asked there.
  const screen = json || env["TERM"] === "dumb" ? null : output.screen;
  const input = process.stdin instanceof ReadStream ? process.stdin : null;
  const variable = nonHumanVariable(env);
  const notHuman = variable === null ? (input === null ? "standard input is no terminal" : null) : `${variable} is set, so a program is at work here`;
  return {
    env,
    cwd,
    home,
    json,
    embedded: embedded || env["PAWL_EMBEDDED"] === "1",
    clock: systemClock,
    out: output.out,
    err: output.err,
    screen,
    terminal: input && screen && notHuman === null ? { input, output: screen } : null,
    notHuman,
    paint: paintFor(screen !== null, env),
    width: () => screen?.columns || 80,
    command: (...words) => [program, ...words.map(shellWord), ...(home === defaultHome ? [] : ["--home", shellWord(home)])].join(" "),
    user: userName(),
    newKey: () => `cli:${randomUUID()}`,
    interrupts,
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry in the password file has no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/** What a command is started with: its file, its directory and its environment, checked before anything runs. */
import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { NotApplied } from "../../machines/notApplied.ts";

/** The command did not begin: a `once` step fails by it and is not ambiguous. */
export class NotStarted extends NotApplied {
  readonly reason: string;
  constructor(message: string, reason = "effectFailed") {
    super(message);
    this.reason = reason;
  }
}

/** Set for every command that Pawl starts: whoever finds it in the environment is no person at a terminal. */
export const workerVariable = "PAWL_WORKER";

/** A shell variable's name: the launcher is a shell and would drop any other without a word. */
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The host's environment without Pawl's own variables, changed by the author's (undefined takes one away); always marked as a worker's. */
export function commandEnvironment(inherited: NodeJS.ProcessEnv, own: { readonly [name: string]: string | undefined } | undefined): { [name: string]: string } {
  const env: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && (name === "PAWL_HOME" || !name.startsWith("PAWL_"))) env[name] = value;
  }
  for (const [name, value] of Object.entries(own ?? {})) {
    if (!variableName.test(name))
      throw new NotStarted(
        `The command's environment names "${name}", which is no name of a variable. Use letters, digits and "_", not beginning with a digit.`,
      );
    if (value === undefined) {
      delete env[name];
      continue;
    }
    if (value.includes("\0"))
      throw new NotStarted(`The value of the command's variable ${name} holds a NUL character, which no environment can carry. Remove it.`);
    env[name] = value;
  }
  env[workerVariable] = "1";
  return env;
}

/** Checks that a command can start in this directory. @throws NotStarted naming the directory. */
export function checkDirectory(cwd: string): void {
  const stat = statSync(cwd, { throwIfNoEntry: false });
  if (stat === undefined) throw new NotStarted(`The working directory ${cwd} does not exist. Create it, or give the shell step another cwd.`);
  if (!stat.isDirectory()) throw new NotStarted(`The working directory ${cwd} is not a directory. Give the shell step another cwd.`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The file that a command names, found as a shell would. @throws NotStarted when there is none or it may not be executed. */
export function resolveCommand(command: string, cwd: string, env: { readonly [name: string]: string }): string {
  if (command === "" || command.includes("\0")) throw new NotStarted("The shell step's command is empty or holds a NUL character. Name a program.");
  if (command.includes("/")) {
    const file = path.resolve(cwd, command);
    if (isExecutable(file)) return file;
    const there = statSync(file, { throwIfNoEntry: false });
    throw new NotStarted(
      there === undefined
        ? `Command not found: ${file} does not exist.`
        : `Command cannot be executed: ${file} is ${there.isFile() ? "not executable (chmod +x it)" : "not a file"}.`,
    );
  }
  const directories = (env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(":");
  for (const directory of directories) {
    const file = path.resolve(cwd, directory, command);
    if (isExecutable(file)) return file;
  }
  throw new NotStarted(
    `Command not found: no "${command}" in any directory of PATH. Install it, or give its full path. A shell line needs a shell: command "sh", args ["-c", …].`,
  );
}

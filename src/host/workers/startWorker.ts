/** The start of a worker process. It loads next to nothing itself: a host that begins starts its first worker before its own modules are there. */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sentenceOf, PawlError } from "../../errors.ts";
import { commandEnvironment } from "../commands.ts";

export interface StartedWorker {
  readonly child: ChildProcess;
  /** Of its process, its group and its session. */
  readonly pid: number;
}

const mainFile = import.meta.url.endsWith(".ts") ? "./workerMain.ts" : "./workerMain.js";

/** `cwd` null: it is told later. `memoryMb`: limit of its JavaScript heap in MiB; null: Node's own. @throws workerUnavailable */
export function startWorker({ cwd, memoryMb }: { readonly cwd: string | null; readonly memoryMb: number | null }): StartedWorker {
  const file = fileURLToPath(new URL(mainFile, import.meta.url));
  const flags = [
    ...(memoryMb === null ? [] : [`--max-old-space-size=${memoryMb}`]),
    // Of running TypeScript, which says nothing to whoever reads a run's lines.
    ...(mainFile.endsWith(".ts") ? ["--disable-warning=ExperimentalWarning"] : []),
  ];
  let child: ChildProcess;
  try {
    child = spawn(process.execPath, [...flags, file], {
      cwd: cwd ?? "/",
      env: commandEnvironment(process.env, undefined),
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
    });
  } catch (error) {
    throw unavailable(`${sentenceOf(error)}`);
  }
  if (child.pid !== undefined) return { child, pid: child.pid };
  child.once("error", () => undefined);
  throw unavailable(`${process.execPath} could not be started.`);
}

/** Its end can still be heard. */
export const isRunning = ({ child }: StartedWorker): boolean => child.exitCode === null && child.signalCode === null;

export const unavailable = (what: string): PawlError =>
  new PawlError(
    "workerUnavailable",
    `No worker process could be started for the workflow's code. ${what} See that the machine has memory and processes left and that Pawl is installed whole, then resume the run.`,
  );

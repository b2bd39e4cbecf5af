/** The host's own way in: `pawl host serve --home D`. Nobody types it; whoever needs a host starts it so. It takes the place of the command line,
 *  whose signals, output and errors are others. */
import { messageOf, PawlError } from "../../errors.ts";
import { packageVersion } from "../../packageRoot.ts";
import { startWorker, type StartedWorker } from "../workers/startWorker.ts";

const usage = 2;

export async function runHost(): Promise<void> {
  const [, , , , option, home, ...more] = process.argv;
  try {
    if (option !== "--home" || home === undefined || !home.startsWith("/") || more.length > 0)
      throw new PawlError("invalidInput", "This command is Pawl's own. To start a host: pawl host start", { path: "--home" });
    const idleMs = idleFrom(process.env);
    // Most hosts are started by somebody who starts a run: its worker loads while the host does.
    const worker = firstWorker();
    const { serveHost } = await import("./serve.ts");
    await serveHost({ home, version: packageVersion(), worker, ...(idleMs === undefined ? {} : { idleMs }) });
  } catch (error) {
    process.stderr.write(`pawl: ${messageOf(error)}\n`);
    process.exitCode = usage;
  }
}

/** Undefined where none can be started: whoever needs one is told why. */
function firstWorker(): StartedWorker | undefined {
  try {
    return startWorker({ cwd: null, memoryMb: null });
  } catch {
    return undefined;
  }
}

/** Milliseconds from the environment; undefined without. */
function idleFrom(env: NodeJS.ProcessEnv): number | undefined {
  const given = env["PAWL_HOST_IDLE_MS"];
  if (given === undefined || given === "") return undefined;
  if (!/^[0-9]{1,9}$/.test(given)) throw new PawlError("invalidInput", "PAWL_HOST_IDLE_MS is no number of milliseconds.", { path: "PAWL_HOST_IDLE_MS" });
  return Number(given);
}

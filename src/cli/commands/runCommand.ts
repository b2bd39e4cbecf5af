/** `pawl run`, `resume` and `cancel`. */
import { PawlError } from "../../errors.ts";
import { driveRun } from "../drive.ts";
import { nonHumanVariable, type Environment } from "../environment.ts";
import { exitCodes, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";
import type { RunOptions } from "../program.ts";
import { outcomeLines } from "../render/outcome.ts";
import { jsonOption } from "./jsonArgument.ts";
import { owning } from "./state.ts";

export async function startRun(workflow: string, options: RunOptions, environment: Environment): Promise<ExitCode> {
  const input = inputOf(options, environment.cwd);
  return owning(environment, async (host) => {
    const { idKey, cwd } = { idKey: options.idKey, cwd: environment.cwd };
    const started = await host.start({ workflow, input, cwd, ...(idKey === undefined ? {} : { idempotencyKey: idKey }) });
    if (environment.json) environment.out(jsonLine({ kind: "started", run: started.id, duplicate: started.duplicate }));
    else if (started.duplicate) environment.out(`The run of this key exists already; going on with ${started.id}.\n`);
    return driveRun(host, started.id, environment);
  });
}

/** The input that the options give; an empty object when they give none. */
export function inputOf({ input, inputFile, task }: RunOptions, cwd: string): unknown {
  const given = jsonOption({ json: input, file: inputFile }, { json: "--input", file: "--input-file" }, cwd);
  if (task === undefined) return given ? given.value : {};
  if (given) throw new PawlError("invalidInput", "Give --task or an input, not both: --task T is short for --input '{\"task\": T}'.", { path: "--task" });
  return { task };
}

export function resumeRun(run: string, environment: Environment): Promise<ExitCode> {
  return owning(environment, async (host) => driveRun(host, (await host.run(run)).id, environment));
}

export function cancelRun(run: string, environment: Environment): Promise<ExitCode> {
  return owning(environment, async (host) => {
    const { id } = await host.run(run);
    const view = await host.cancel(id, nonHumanVariable(environment.env) === null ? "user" : "agent");
    const { clock, paint, command, out } = environment;
    if (environment.json) out(jsonLine(view));
    else
      out(
        outcomeLines(view, { now: clock.now(), width: environment.width(), paint, command, stopped: false })
          .map((line) => `${line}\n`)
          .join(""),
      );
    return exitCodes.completed;
  });
}

/** `pawl run`, `resume`, `pause` and `cancel`. */
import type { RunState } from "../../../persistence/store.ts";
import type { RunEvent, RunView } from "../../host/api.ts";
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
  const input = await inputOf(options, environment.cwd);
  return owning(environment, async (host) => {
    const { idKey, cwd } = { idKey: options.idKey, cwd: environment.cwd };
    // A host begins with the run at once, and not when it is watched.
    const early: RunEvent[] = [];
    const stop = environment.embedded ? () => {} : host.subscribe((event) => early.push(event));
    const start = () => host.start({ workflow, input, cwd, ...(idKey === undefined ? {} : { idempotencyKey: idKey }) });
    // Once it is asked for, the host may begin with it: whoever leaves now is told of the run that goes on.
    const started = environment.embedded
      ? await start()
      : await environment.interrupts.hold(`\nLeft at once. If the run was saved it goes on in its host: ${environment.command("runs")}\n`, start);
    if (environment.json) environment.out(jsonLine({ kind: "started", run: started.id, duplicate: started.duplicate }));
    else if (started.duplicate) environment.out(`The run of this key exists already; going on with ${started.id}.\n`);
    return driveRun(host, started.id, environment, () => {
      stop();
      return early.filter((event) => event.run === started.id && !(event.kind === "run" && event.state === "queued"));
    });
  });
}

/** The input that the options give; an empty object when they give none. */
export async function inputOf({ input, inputFile, task }: RunOptions, cwd: string): Promise<unknown> {
  const given = await jsonOption({ json: input, file: inputFile }, { json: "--input", file: "--input-file" }, cwd);
  if (task === undefined) return given ? given.value : {};
  if (given) throw new PawlError("invalidInput", "Give --task or an input, not both: --task T is short for --input '{\"task\": T}'.", { path: "--task" });
  return { task };
}

/** Ends a pause and what else holds the run up, then watches it. */
export function resumeRun(run: string, environment: Environment): Promise<ExitCode> {
  return owning(environment, async (host) => {
    const view = await host.run(run);
    if (view.pausedAt !== null || isHeldUp(view.state)) await host.resume(view.id);
    return driveRun(host, view.id, environment);
  });
}

const isHeldUp = (state: RunState): boolean => state === "paused" || state === "pausing" || state === "held" || state === "blocked";

export function pauseRun(run: string, environment: Environment): Promise<ExitCode> {
  return owning(environment, async (host) => {
    const view = await host.pause((await host.run(run)).id);
    return tellOutcome(view, environment);
  });
}

export function cancelRun(run: string, environment: Environment): Promise<ExitCode> {
  return owning(environment, async (host) => {
    const { id } = await host.run(run);
    const view = await host.cancel(id, nonHumanVariable(environment.env) === null ? "user" : "agent");
    return tellOutcome(view, environment);
  });
}

function tellOutcome(view: RunView, { json, clock, paint, command, out, width }: Environment): ExitCode {
  if (json) out(jsonLine(view));
  else
    out(
      outcomeLines(view, { now: clock.now(), width: width(), paint, command, stopped: false })
        .map((line) => `${line}\n`)
        .join(""),
    );
  return exitCodes.completed;
}

/** `pawl answer <run> --input-json`: anybody's answer to the checkpoint that a run waits at, then the run goes on. */
import { PawlError } from "../../errors.ts";
import { driveRun } from "../drive.ts";
import type { Environment } from "../environment.ts";
import { RefusedError, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";
import type { Request } from "../program.ts";
import { jsonOption } from "./jsonArgument.ts";
import { owning } from "./state.ts";

export async function answerCheckpoint(
  { run: typed, options }: Extract<Request, { command: "answerCheckpoint" }>,
  environment: Environment,
): Promise<ExitCode> {
  const given = await jsonOption({ json: options.inputJson, file: options.inputFile }, { json: "--input-json", file: "--input-file" }, environment.cwd);
  if (!given) throw new PawlError("invalidInput", "Say the answer: --input-json JSON.", { path: "--input-json" });
  return owning(environment, async (host) => {
    const { id } = await host.run(typed);
    const { notHuman, user } = environment;
    const result = await host.answerCheckpoint({
      run: id,
      output: given.value,
      idempotencyKey: options.idKey ?? environment.newKey(),
      source: { kind: notHuman === null ? "human" : "program", channel: "terminal", actor: user },
    });
    if (environment.json) environment.out(jsonLine({ kind: "answer", ...result }));
    if (result.status === "refused") throw new RefusedError(result.code ?? "refused", result.message, result.visit);
    if (!environment.json) environment.out(`${result.message}\n\n`);
    return driveRun(host, id, environment);
  });
}

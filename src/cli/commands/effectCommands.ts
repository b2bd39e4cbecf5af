/** `pawl effect confirm` and `retry`: a person settles what no program can know. */
import { PawlError } from "../../errors.ts";
import type { EffectView, EmbeddedHost } from "../../host/api.ts";
import type { Environment } from "../environment.ts";
import { exitCodes, isFinal, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";
import { nodeOf } from "../render/attention.ts";
import { commandLines } from "../render/next.ts";
import { runLooks } from "../render/words.ts";
import { wrap } from "../../text/cells.ts";
import { jsonOption } from "./jsonArgument.ts";
import { requirePerson } from "./person.ts";
import { owning } from "./state.ts";

export async function confirmEffect(
  key: string,
  options: { readonly output?: string; readonly outputFile?: string },
  environment: Environment,
): Promise<ExitCode> {
  requirePerson(environment, "confirm an effect");
  const given = await jsonOption({ json: options.output, file: options.outputFile }, { json: "--output", file: "--output-file" }, environment.cwd);
  if (!given)
    throw new PawlError("invalidInput", "Say what it gave: --output JSON, as the step would have returned it (null for nothing).", { path: "--output" });
  return owning(environment, async (host) => tell(host, await host.confirmEffect(key, given.value), "is confirmed with the output you gave", environment));
}

export function retryEffect(key: string, environment: Environment): Promise<ExitCode> {
  requirePerson(environment, "have an effect done again");
  return owning(environment, async (host) => tell(host, await host.retryEffect(key), "will be done again", environment));
}

async function tell(host: EmbeddedHost, effect: EffectView, what: string, { json, out, command, width, embedded }: Environment): Promise<ExitCode> {
  const { state } = await host.run(effect.run);
  // One that completes by this very word has its result still to be shown.
  const hasEnded = isFinal(state) && state !== "completed";
  const lines = [
    ...wrap(`${nodeOf(effect)} (${effect.key}) ${what}.${hasEnded ? ` Its run has ended (${runLooks[state].word}) and stays so.` : ""}`, width()),
    ...(hasEnded
      ? []
      : commandLines([{ command: command("resume", effect.run), when: embedded ? "Go on with:" : "Its run goes on. Watch it with:" }], width())),
  ];
  out(json ? jsonLine(effect) : lines.map((line) => `${line}\n`).join(""));
  return exitCodes.completed;
}

/** `pawl answer`: a person's answer to one decision, then its run goes on. */
import { PawlError } from "../../errors.ts";
import type { DecisionView, StateReader } from "../../host/api.ts";
import { runIdPattern } from "../../ids.ts";
import { driveRun } from "../drive.ts";
import type { Environment } from "../environment.ts";
import { exitCodes, RefusedError, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";
import { answerOf, askTextAlone, recordedLine } from "../prompt/ask.ts";
import { findChoice } from "../prompt/choose.ts";
import type { Request } from "../program.ts";
import { readTextFile } from "./jsonArgument.ts";
import { requirePerson } from "./person.ts";
import { owning, reading } from "./state.ts";

export async function answerDecision(request: Extract<Request, { command: "answer" }>, environment: Environment): Promise<ExitCode> {
  if (environment.notHuman !== null) await keepForAudit(request, environment);
  requirePerson(environment, "answer a decision");
  const given = await textOf(request, environment.cwd);
  return owning(environment, async (host) => {
    const decision = await decisionOf(host, request.decision);
    const found = findChoice(request.choice, decision.request.choices);
    // A settled decision answers for itself, whatever was typed: it says who won.
    if ("problem" in found && decision.state === "open")
      throw new PawlError("invalidInput", `Decision ${decision.code}: ${found.problem}`, { subject: decision.id, path: "choice" });
    const choice = "choice" in found ? found.choice : { id: request.choice, label: request.choice, input: null };
    const { terminal } = environment;
    const typed = given === undefined && decision.state === "open" && terminal ? await askTextAlone(choice, terminal, environment) : null;
    if (typed === "back" || (typed !== null && typed.kind !== "text")) {
      environment.err("Nothing was sent; the decision stays open.\n");
      return typed !== "back" && typed.kind === "left" && typed.by === "interrupt" ? exitCodes.interrupted : exitCodes.parked;
    }
    const result = await host.answer(answerOf(decision, choice, typed?.text ?? given, environment));
    if (environment.json) environment.out(jsonLine({ kind: "answer", ...result }));
    if (result.status === "refused") throw new RefusedError(result.code ?? "refused", result.message, decision.id);
    if (!environment.json) environment.out(`${recordedLine(result, choice, environment.clock.now())}\n\n`);
    return driveRun(host, decision.run, environment);
  });
}

/** What no person sent is refused by the decision too, which keeps it for the audit. Where that cannot be, it is refused all the same. */
async function keepForAudit({ decision, choice, text }: Extract<Request, { command: "answer" }>, environment: Environment): Promise<void> {
  try {
    const { id, state } = await reading(environment, (reader) => decisionOf(reader, decision));
    if (state !== "open") return;
    const source = { kind: "program", channel: "terminal", actor: environment.user } as const;
    await owning(environment, (host) => host.answer({ decision: id, choice, text, idempotencyKey: environment.newKey(), source }));
  } catch {
    // No such decision, no host to be had, a full disk: the refusal stands by itself.
  }
}

/** By its code or id, or the open one of a run that is named by its whole id. */
async function decisionOf(host: StateReader, typed: string): Promise<DecisionView> {
  if (!runIdPattern.test(typed)) return host.decision(typed);
  const run = await host.run(typed);
  const open = run.decisions.find(({ state }) => state === "open");
  if (open) return open;
  const hint =
    run.awaits?.kind === "checkpoint"
      ? `It waits at checkpoint ${run.awaits.node}: \`pawl answer ${run.id} --input-json JSON\``
      : "Look at it: " + `\`pawl show ${run.id}\``;
  throw new PawlError("unknownDecision", `No decision of run ${run.id} is open. ${hint} Nothing was answered.`, { subject: run.id });
}

async function textOf({ text, options: { textFile } }: Extract<Request, { command: "answer" }>, cwd: string): Promise<string | undefined> {
  if (text !== undefined && textFile !== undefined) throw new PawlError("invalidInput", "Give the text or --text-file, not both.", { path: "--text-file" });
  if (textFile === "-")
    throw new PawlError("invalidInput", "--text-file takes no standard input, since that is your terminal. Leave the text out and you are asked for it.", {
      path: "--text-file",
    });
  return textFile === undefined ? text : readTextFile(textFile, cwd, "--text-file");
}

/** The rules of waits, checkpoints, included workflows and batches at load. */
import { batchLimits, storedCommands } from "./batchCommands.ts";
import { isWorkflow } from "./definition.ts";
import { exitsOf } from "./included.ts";
import { checkpointLimits } from "./nodes/checkpoint.ts";
import type { NodeBehaviour } from "./nodes/node.ts";
import { isSchema } from "./schema.ts";
import { isForMs, longestMs, momentOf } from "./waitTime.ts";

type Of<Kind extends NodeBehaviour["kind"]> = Extract<NodeBehaviour, { kind: Kind }>;

/** What an include says that has no workflow to include: a circle of imports is the likely cause. */
export const noWorkflow = "includes no workflow; give the default export of another workflow file, built with .build().";

const isCallback = (value: unknown): boolean => typeof value === "function";

/** Sentences without their subject. */
export function compositionProblems(behaviour: Of<"wait" | "checkpoint" | "include" | "batch">): string[] {
  switch (behaviour.kind) {
    case "wait":
      return waitProblems(behaviour);
    case "checkpoint":
      return checkpointProblems(behaviour);
    case "include":
      return includeProblems(behaviour);
    case "batch":
      return batchProblems(behaviour);
  }
}

function waitProblems({ forMs, until }: Of<"wait">): string[] {
  if ((forMs === undefined) === (until === undefined)) return ["needs either forMs, a delay in milliseconds, or until, a moment."];
  if (forMs !== undefined && !isCallback(forMs) && !isForMs(forMs)) return [`has forMs ${String(forMs)}; give milliseconds above 0, at most ${longestMs}.`];
  return until === undefined || isCallback(until) || momentOf(until) !== null
    ? []
    : ["has an until that is no moment; give epoch milliseconds, or a valid Date."];
}

function checkpointProblems({ title, prompt, output }: Of<"checkpoint">): string[] {
  const isTextUpTo = (value: unknown, limit: number): boolean =>
    value === undefined || isCallback(value) || (typeof value === "string" && value.length <= limit);
  return [
    ...(isSchema(output) ? [] : ["has no output; give the zod schema that an answer must fit, such as z.object({ ok: z.boolean() })."]),
    ...(isTextUpTo(title, checkpointLimits.titleUnits) ? [] : [`has a title that is not text of at most ${checkpointLimits.titleUnits} characters.`]),
    ...(isTextUpTo(prompt, checkpointLimits.promptUnits) ? [] : [`has a prompt that is not text of at most ${checkpointLimits.promptUnits} characters.`]),
  ];
}

function includeProblems({ child, input }: Of<"include">): string[] {
  if (!isWorkflow(child)) return [noWorkflow];
  if (exitsOf(child.graph).length === 0) return [`includes workflow "${child.name}", which has no end node and so never completes; give it one.`];
  return input === undefined ? [`includes workflow "${child.name}" without an input; give { input: … }, {} where it takes nothing.`] : [];
}

function batchProblems({ commands, concurrency, stopOnFailure, allowNonZeroExit }: Of<"batch">): string[] {
  const found = isCallback(commands) ? null : storedCommands(commands);
  return [
    ...(found !== null && "problem" in found ? [`has commands that cannot be run: ${found.problem}.`] : []),
    ...(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= batchLimits.concurrency
      ? []
      : [`has concurrency ${String(concurrency)}; give a whole number from 1 to ${batchLimits.concurrency}.`]),
    ...[["stopOnFailure", stopOnFailure] as const, ["allowNonZeroExit", allowNonZeroExit] as const]
      .filter(([, value]) => typeof value !== "boolean")
      .map(([name, value]) => `has ${name} ${String(value)}; give true or false.`),
  ];
}

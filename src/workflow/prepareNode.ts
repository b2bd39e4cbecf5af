/** What the first effect of a node with a life of its own gives: its deadline, and what the author's callbacks made of the context. */
import type { Clock } from "../runtime/clock.ts";
import { agentMessage } from "./agentStep.ts";
import { batchCommands } from "./batchStep.ts";
import { checkpointQuestion } from "./checkpointStep.ts";
import type { AnyContext } from "./context.ts";
import { ownTimeout } from "./deadline.ts";
import { buildDecision } from "./decisionStep.ts";
import type { AnyWorkflow } from "./definition.ts";
import { findNode } from "./execute.ts";
import { machineStart } from "./machineStep.ts";
import { actorKinds, type ActorKind } from "./kinds.ts";
import { includedInput } from "./includeStep.ts";
import { waitTime } from "./waitStep.ts";

export interface PreparedNode {
  /** What a `timeoutMs` callback gave; null for no deadline, and for one that the graph holds already. */
  readonly timeoutMs: number | null;
  /** By kind: a decision's request, for one. JSON. */
  readonly value: unknown;
}

type Preparer = (definition: AnyWorkflow, node: string, context: AnyContext, run: string) => Promise<unknown>;

const preparers: { readonly [kind in ActorKind]: Preparer } = {
  agent: agentMessage,
  choose: agentMessage,
  assistantMessage: agentMessage,
  humanDecision: buildDecision,
  machine: machineStart,
  wait: waitTime,
  checkpoint: checkpointQuestion,
  include: includedInput,
  batch: batchCommands,
};

/** Runs the callbacks that a node of an actor kind begins with; `run` is its run's id. @throws nodeFailed and what the kind's contract forbids */
export async function prepareNode(definition: AnyWorkflow, id: string, context: AnyContext, run: string, clock: Clock): Promise<PreparedNode> {
  const { settings, behaviour } = findNode(definition, id, ...actorKinds);
  const timeoutMs = await ownTimeout(id, false, settings.timeoutMs, context, clock);
  return { timeoutMs, value: await preparers[behaviour.kind](definition, id, context, run) };
}

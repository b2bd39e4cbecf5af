/** Every machine of Pawl that the host registers: fixed ones, and graphs made from their stored data. */
import { parseAgentEvent } from "../../machines/contracts/agent.ts";
import { CheckpointAnswered } from "../../machines/nodes/checkpointNode.ts";
import { answerWhenOver } from "../../machines/nodes/agentTurns.ts";
import { decisionMachine, parseDecisionEvent } from "../../machines/decisionMachine.ts";
import { answerWhenFinished, projectDecision } from "../../machines/decisionProjection.ts";
import type { Store } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { Definition, DefinitionRegistry } from "../runtime/definition.ts";
import { createRegistry, defineMachine, type DefinitionExtras } from "../runtime/registry.ts";
import { compileGraph, compilerRevision } from "../workflow/compile.ts";
import { authorMachineId } from "./author/authorMachine.ts";
import { graphMachineId } from "../workflow/graph.ts";
import { isAgentKind } from "../workflow/kinds.ts";
import { nodeMachines } from "../workflow/nodeMachines.ts";
import { readGraph } from "./graphs.ts";
import { ownIdentity, runDefinition } from "./runDefinition.ts";

const agentExtras: DefinitionExtras = { parseEvent: parseAgentEvent, whenFinished: answerWhenOver };

/** Answers come from the host alone, which has validated them. */
const checkpointExtras: DefinitionExtras = { parseEvent: (event) => CheckpointAnswered.parse(event), unhandled: "refused" };

const extrasOf = (machine: string): DefinitionExtras => (machine === "checkpoint" ? checkpointExtras : isAgentKind(machine) ? agentExtras : {});

export const decisionDefinition: Definition = defineMachine(decisionMachine, {
  identity: ownIdentity,
  parseEvent(event) {
    if (typeof event === "object" && event !== null && "at" in event)
      throw new PawlError("invalidInput", `The time of an answer is the host's to give: leave "at" out.`, { path: "at" });
    return parseDecisionEvent(event);
  },
  project: projectDecision,
  whenFinished: answerWhenFinished,
  unhandled: "refused",
});

const nodeDefinitions = Object.values(nodeMachines).map((machine) => defineMachine(machine, { identity: ownIdentity, ...extrasOf(machine.id) }));

/** The registry of a state directory. Graphs are read from its blobs by digest: no author's file is needed to step them. */
export function hostRegistry(store: Pick<Store, "blob">, authorMachine: (version: string) => Definition | undefined = () => undefined): DefinitionRegistry {
  return createRegistry([runDefinition, decisionDefinition, ...nodeDefinitions], {
    [authorMachineId]: async (version) => authorMachine(version),
    [graphMachineId]: async (digest) => {
      return defineMachine(compileGraph(await readGraph(store, digest), digest), { identity: `${ownIdentity} compiler ${compilerRevision}` });
    },
  });
}

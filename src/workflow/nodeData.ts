/** What the graph keeps of a node besides what every kind has. Its settings have passed the checks. */
import type { GraphNode } from "./graph.ts";
import type { NodeBehaviour } from "./nodes/node.ts";
import { isForMs, momentOf } from "./waitTime.ts";

export function nodeData(behaviour: NodeBehaviour): Partial<Pick<GraphNode, "wait" | "include" | "batch">> {
  switch (behaviour.kind) {
    case "wait": {
      if (isForMs(behaviour.forMs)) return { wait: { forMs: behaviour.forMs } };
      const until = momentOf(behaviour.until);
      return until === null ? {} : { wait: { until } };
    }
    case "include":
      return { include: { name: behaviour.child.name, graph: behaviour.child.graphDigest } };
    case "batch": {
      const { concurrency, stopOnFailure, allowNonZeroExit } = behaviour;
      return { batch: { concurrency, stopOnFailure, allowNonZeroExit } };
    }
    default:
      return {};
  }
}

/** Where a run stands, and what it waits for besides decisions: read from the actors that say so, in included workflows too. */
import type { Store } from "../../persistence/store.ts";
import type { ActorView } from "../runtime/definition.ts";
import { nodePath } from "../visitNames.ts";
import type { AwaitedView } from "./api.ts";
import { runContext } from "./runState.ts";
import { graphContext, readView } from "./snapshots.ts";

/** `run` is the run's own actor. */
export async function readAwaited(store: Pick<Store, "load">, run: ActorView): Promise<AwaitedView | null> {
  const { at } = runContext(run);
  const view = at === null || at.effect !== null ? null : await readView(store, at.visit);
  if (at === null || view === null || view.record.status !== "active") return null;
  const place = { visit: at.visit, node: nodePath(at.visit) };
  const { context } = view;
  if (view.record.machineId === "wait" && hasNumber(context, "dueAt")) return { kind: "time", ...place, dueAt: context.dueAt };
  if (view.record.machineId === "checkpoint" && isQuestion(context)) return { kind: "checkpoint", ...place, title: context.title, prompt: context.prompt };
  return null;
}

const isQuestion = (context: unknown): context is { readonly title: string; readonly prompt: string } =>
  typeof context === "object" &&
  context !== null &&
  "title" in context &&
  "prompt" in context &&
  typeof context.title === "string" &&
  typeof context.prompt === "string";

const hasNumber = <K extends string>(value: unknown, key: K): value is { readonly [k in K]: number } =>
  typeof value === "object" && value !== null && key in value && typeof value[key as keyof typeof value] === "number"; // `in` has just found it

/** The node that a graph is in or enters next, as people call it; null for one that is over. */
export async function currentNode(store: Pick<Store, "load">, graph: ActorView): Promise<string | null> {
  if (graph.record.status !== "active" || typeof graph.value !== "string") return null;
  const { target, step } = graphContext(graph);
  const node = target ?? graph.value;
  if (target !== null) return pathTo(graph, node);
  const inner = await readView(store, `${graph.record.id}/${node}.${step}/graph`);
  return (inner === null ? null : await currentNode(store, inner)) ?? pathTo(graph, node);
}

const pathTo = (graph: ActorView, node: string): string => nodePath(`${graph.record.id}/${node}.0`);

/** What the executors of compute and action nodes run: the author's function, then the checks of what it gave. Never inside a transition. */
import type { ZodType } from "zod";
import { chosenSchema } from "../../machines/contracts/agent.ts";
import type { Clock } from "../runtime/clock.ts";
import { jsonText } from "../json.ts";
import { messageOf, PawlError } from "../errors.ts";
import type { AnyContext } from "./context.ts";
import type { AnyWorkflow } from "./definition.ts";
import { limited, ownTimeout, untilTimedOut } from "./deadline.ts";
import { callbackFailed, outputRefused, visitFailed } from "./failures.ts";
import { doneCase, type GraphNode } from "./graph.ts";
import { workflowOf } from "./included.ts";
import type { NodeBehaviour, NodeSettings } from "./nodes/node.ts";
import { notification } from "./notifyStep.ts";
import { publishing, publishNowhere, type Publish } from "./publishing.ts";

/** Largest single value: 64 MiB of JSON text. */
export const maxValueBytes = 64 * 1024 * 1024;

/** An accepted result: the case it takes, and the node's output. */
export interface Executed {
  readonly case: string;
  readonly value: unknown;
}

/** A node of a definition with what the graph says of it. */
export interface FoundNode<Kind extends NodeBehaviour["kind"]> {
  readonly node: GraphNode;
  readonly settings: NodeSettings;
  readonly behaviour: Extract<NodeBehaviour, { kind: Kind }>;
}

/** `path`: the node's id, `sub/inner` for one of the workflow that `sub` includes. @throws internal when there is none: the graph was compared before. */
export function findNode<Kind extends NodeBehaviour["kind"]>(definition: AnyWorkflow, path: string, ...kinds: readonly Kind[]): FoundNode<Kind> {
  const { workflow, id } = workflowOf(definition, path);
  const node = workflow.graph.nodes.find((other) => other.id === id);
  const found = Object.hasOwn(workflow.nodes, id) ? workflow.nodes[id] : undefined;
  const isWanted = (behaviour: NodeBehaviour): behaviour is Extract<NodeBehaviour, { kind: Kind }> => kinds.some((kind) => kind === behaviour.kind);
  if (!node || !found || !isWanted(found.behaviour))
    throw new PawlError("internal", `Workflow "${workflow.name}" has no ${kinds.join(" or ")} node "${id}".`, { subject: id });
  return { node, settings: found.settings, behaviour: found.behaviour };
}

/**
 * Runs a compute or action node.
 * Throws what the author threw where that has a meaning (`TerminalError`, `RetryableError`, `NotApplied`), else errors with the reasons
 * nodeFailed, nodeTimedOut, invalidOutput, outputTooLarge, routing.
 */
export async function executeNode(
  definition: AnyWorkflow,
  id: string,
  context: AnyContext,
  clock: Clock,
  publish: Publish = publishNowhere,
): Promise<Executed> {
  const { node, settings, behaviour } = findNode(definition, id, "compute", "action", "notify");
  if (behaviour.kind === "notify") return acceptOutput(definition, id, { kind: behaviour.as, text: await notification(id, behaviour.text, context) });
  const timeoutMs = await ownTimeout(id, node.once, settings.timeoutMs, context, clock);
  const limit = limited(context.signal, timeoutMs, clock);
  try {
    const given = { ...context, signal: limit.signal, ...(behaviour.kind === "action" ? publishing(publish) : {}) };
    const work = Promise.resolve().then(() => behaviour.run(given));
    // A limit of the runtime's is the runtime's to hold: what comes after it may still settle what a `once` node left unknown.
    const value =
      timeoutMs === null ? await work : await untilTimedOut(work, limit.signal, () => visitFailed(id, "nodeTimedOut", `took longer than ${timeoutMs} ms.`));
    return await acceptOutput(definition, id, value);
  } catch (error) {
    throw behaviour.kind === "compute" ? callbackFailed(id, error) : error;
  } finally {
    limit.stop();
  }
}

/**
 * The result of a compute, action or shell node for what its function gave, or for what a person confirms in its place:
 * validated by the node's schema, checked to be JSON, routed.
 */
export async function acceptOutput(definition: AnyWorkflow, id: string, given: unknown, validate?: (value: unknown) => Promise<void>): Promise<Executed> {
  const { node, behaviour } = findNode(definition, id, "compute", "action", "shell", "notify", "agent", "choose", "machine", "checkpoint", "batch");
  const schema = behaviour.kind === "choose" ? chosenSchema(Object.keys(behaviour.choices)) : "output" in behaviour ? behaviour.output : null;
  const value = schema ? await validated(id, schema, given) : given;
  await validate?.(value);
  const stored: unknown = value === undefined ? null : value;
  let text: string;
  try {
    text = jsonText(stored, `output of node "${id}"`);
  } catch (error) {
    throw visitFailed(id, "invalidOutput", `gave an output that cannot be stored. ${messageOf(error)}`);
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > maxValueBytes)
    throw visitFailed(id, "outputTooLarge", `gave an output of ${bytes} bytes of JSON; the limit is ${maxValueBytes}. Write it to a file and return its path.`);
  if (behaviour.kind === "choose") return { case: choiceIn(stored), value: stored };
  return { case: "route" in behaviour && behaviour.route ? await routed(node, behaviour.route, stored) : doneCase, value: stored };
}

const choiceIn = (chosen: unknown): string =>
  typeof chosen === "object" && chosen !== null && "choice" in chosen && typeof chosen.choice === "string" ? chosen.choice : doneCase;

async function validated(id: string, schema: ZodType, given: unknown): Promise<unknown> {
  const result = await schema.safeParseAsync(given).catch((error: unknown) => {
    throw visitFailed(id, "invalidOutput", `has an output schema that threw: ${messageOf(error)}`);
  });
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, 3).map(({ path, message }) => `${path.length > 0 ? `${path.map(String).join(".")}: ` : ""}${message}`);
  const path = result.error.issues[0]?.path.map(String).join(".") ?? "";
  throw outputRefused(id, path, `gave an output that does not fit its schema: ${issues.join("; ")}.`);
}

async function routed(node: GraphNode, route: (output: unknown) => unknown, output: unknown): Promise<string> {
  let name: unknown;
  try {
    name = await route(output);
  } catch (error) {
    throw visitFailed(node.id, "routing", `has a route that threw: ${messageOf(error)}`);
  }
  if (typeof name === "string" && node.cases.includes(name)) return name;
  throw visitFailed(
    node.id,
    "routing",
    `was routed to ${typeof name === "string" ? `the case "${name}"` : `a ${typeof name}`}; its cases are: ${node.cases.join(", ")}.`,
  );
}

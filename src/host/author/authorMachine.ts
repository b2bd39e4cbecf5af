/** Machines that authors wrote, in a workflow's stored sources: how a stored actor names one, and what is asked of it. */
import type { AnyStateMachine } from "xstate";
import { PawlError } from "../../errors.ts";
import { childLogic, isMachineLogic } from "../../runtime/step.ts";
import type { StepRequest } from "../../runtime/stepWire.ts";
import type { StoredWorkflow } from "./authorCode.ts";

/** The machine id of every stored actor that runs on a machine of an author's. */
export const authorMachineId = "pawl.author";

/** Where a machine stands: its workflow's sources and graph, the node, and the names of the child machines on the way to it. */
export interface MachinePlace {
  readonly source: string;
  readonly graph: string;
  readonly node: string;
  readonly path: readonly string[];
}

/** A machine in a workflow as it runs in a project. */
export interface AuthorMachine extends StoredWorkflow, MachinePlace {}

/** A promise that a machine invokes. */
export interface PromiseCall {
  /** The name that the machine has for it. */
  readonly src: string;
  readonly input: unknown;
  /** The effect's. */
  readonly key: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
}

export type { StepAnswer, StepRequest } from "../../runtime/stepWire.ts";

/** The version that such an actor is stored with. */
export function machineVersion({ source, graph, node, path }: MachinePlace): string {
  return [source, graph, encodeURIComponent(node), path.map((name) => `/${encodeURIComponent(name)}`).join("")].join(":");
}

/** Undefined for a text that no machineVersion() gave. */
export function placeOf(version: string): MachinePlace | undefined {
  const [source, graph, node, path, ...more] = version.split(":");
  if (source === undefined || graph === undefined || node === undefined || path === undefined || more.length > 0) return undefined;
  const [, ...names] = path.split("/");
  try {
    return { source, graph, node: decodeURIComponent(node), path: names.map(decodeURIComponent) };
  } catch {
    return undefined; // what machineVersion() escaped is read without fail
  }
}

/** The machine below `machine` that its children's names lead to. @throws internal */
export function machineAt(machine: AnyStateMachine, path: readonly string[]): AnyStateMachine {
  let at = machine;
  for (const name of path) {
    const logic = childLogic(at, name);
    if (!isMachineLogic(logic)) throw new PawlError("internal", `Machine "${at.id}" has no child machine "${name}".`, { subject: at.id });
    at = logic;
  }
  return at;
}

/** What a node's machine is started with: the version says which it is, and the author sees the input alone. */
export interface AuthorInput {
  readonly version: string;
  readonly input?: unknown;
}

export const describeStep = ({ actor, from }: StepRequest): string => (from === null ? `the start of actor "${actor}"` : `a step of actor "${actor}"`);

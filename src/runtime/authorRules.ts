/** The rules that a machine must keep to be durable, checked when it is registered: docs/xstate.md is their table. What can only be seen
 *  while it runs (a value that JSON cannot carry, a child without an id in an assign) is refused by the step that does it.
 *  A cast stands where XState types its own action and guard objects as opaque functions. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { markOf } from "../../machines/define.ts";
import { isPawlError, PawlError } from "../errors.ts";
import { jsonText } from "../json.ts";
import { closest, everyNode, stateName } from "./fit.ts";
import { logicKind, type LogicKind } from "./logicKind.ts";
import { childLogic, isMachineLogic } from "./step.ts";

export interface AuthorRuleOptions {
  /** Custom actions that may be lost, besides those marked with `volatileAction`: by name, or all, unnamed ones included. */
  readonly volatileActions?: "all" | readonly string[];
}

/** Problems that one error lists. */
const listed = 8;

/** @throws invalidMachine naming the machine, every problem with its state, and what to write instead */
export function checkAuthorRules(machine: AnyStateMachine, options: AuthorRuleOptions = {}): void {
  const problems = [...new Set(new Rules(machine, options).problems())];
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length > listed ? ` And ${problems.length - listed} more.` : "";
  const text =
    problems.length === 1
      ? first
      : problems
          .slice(0, listed)
          .map((problem, index) => `(${index + 1}) ${problem}`)
          .join(" ");
  throw new PawlError("invalidMachine", `Machine "${machine.id}" cannot be durable as it is: ${text}${more}`, { subject: machine.id });
}

/**
 * Problems of a machine that is part of a workflow, and of the child machines below it, as sentences that name the machine. Such a machine needs no
 * version, for its sources are stored; and nothing but its own promises does work outside.
 */
export function workflowMachineProblems(machine: AnyStateMachine): readonly string[] {
  const problems: string[] = [];
  const seen = new Set<AnyStateMachine>();
  const open = [machine];
  for (let one = open.pop(); one; one = open.pop()) {
    if (seen.has(one)) continue;
    seen.add(one);
    const { id } = one;
    problems.push(
      ...[...new Set(new Rules(one, { inWorkflow: true }).problems())].map((problem) =>
        problem.startsWith(`machine "${id}" `) ? problem : `machine "${id}": ${problem}`,
      ),
    );
    for (const src of Object.keys(one.implementations.actors)) {
      const logic = childLogic(one, src);
      if (isMachineLogic(logic)) open.push(logic);
    }
  }
  return problems;
}

type Named = string | { readonly type: string };
type BuiltIn = {
  readonly type: string;
  readonly resolve: unknown;
  readonly src?: unknown;
  readonly id?: unknown;
  readonly syncSnapshot?: unknown;
  readonly delay?: unknown;
};

interface RuleOptions extends AuthorRuleOptions {
  /** Its sources are stored with each run, and only its own promises are executed. */
  readonly inWorkflow?: boolean;
}

class Rules {
  private readonly machine: AnyStateMachine;
  private readonly nodes: readonly AnyStateNode[];
  private readonly options: RuleOptions;
  /** Actions that were refused where they were first met. */
  private readonly told = new Set<unknown>();

  constructor(machine: AnyStateMachine, options: RuleOptions) {
    this.machine = machine;
    this.nodes = [...everyNode(machine.root)];
    this.options = options;
  }

  *problems(): Generator<string> {
    yield* this.identity();
    yield* this.sources();
    for (const node of this.nodes) {
      yield* this.invokes(node);
      yield* this.wildcards(node);
      for (const action of actionsOf(node)) yield* this.action(action, stateName(node));
      for (const { guard } of transitionsOf(node)) yield* this.guard(guard, stateName(node));
      for (const { delay } of node.after) yield* this.delay(delay, stateName(node));
    }
    // An action that is only enqueued stands in no state.
    for (const name of Object.keys(this.machine.implementations.actions)) yield* this.action(name, "an action");
    for (const [name, guard] of Object.entries(this.machine.implementations.guards)) yield* this.guard(guard, `guard "${name}"`);
    for (const [name, delay] of Object.entries(this.machine.implementations.delays))
      if (typeof delay !== "function") yield* this.milliseconds(delay, `delay "${name}"`);
  }

  private *identity(): Generator<string> {
    const { id, version, context } = this.machine.config;
    if (id === undefined || id === "") yield `it has no id. Give createMachine an "id": stored actors name it.`;
    if (this.options.inWorkflow !== true && (typeof version !== "string" || version === ""))
      yield `it has no version. Give createMachine a "version": stored actors name it, so that a changed machine is never taken for the old one.`;
    if (typeof context === "function" || context === undefined) return;
    try {
      jsonText(context, "initial context");
    } catch (error) {
      if (!isPawlError(error)) throw error;
      yield error.message;
    }
  }

  /** Sources may be spawned where nobody sees it before: all of them must be durable. */
  private *sources(): Generator<string> {
    for (const src of Object.keys(this.machine.implementations.actors)) {
      const logic = childLogic(this.machine, src);
      const mark = markOf(logic);
      if (this.options.inWorkflow === true && mark?.kind === "effect" && mark.type !== "")
        yield `its actor "${src}" names the effect "${mark.type}", which nobody executes in a workflow. ${ownWork}`;
      if (this.options.inWorkflow === true && mark?.kind === "machineFromInput")
        yield `its actor "${src}" is a machine that only Pawl can look up ("${mark.machineId}"). Name the machine itself in setup({ actors }).`;
      if (logic === undefined || mark) continue;
      const kind = logicKind(logic);
      if (kind !== "machine" && kind !== "promise")
        yield `its actor "${src}" is ${this.options.inWorkflow === true ? refusedKinds[kind].replace("effect()", "durable()") : refusedKinds[kind]}`;
    }
  }

  private *invokes(node: AnyStateNode): Generator<string> {
    for (const { id, src, ...config } of node.invoke) {
      if (typeof src !== "string" || src.startsWith("xstate.invoke."))
        yield `${stateName(node)} invokes inline logic. Give it a name in setup({ actors }) and invoke it by that name: a stored machine must find it again.`;
      else yield* this.source(src, `${stateName(node)} invokes`);
      if ("onSnapshot" in config && config.onSnapshot !== undefined) yield `${stateName(node)} listens to the snapshots of "${id}" (onSnapshot). ${noSync}`;
    }
  }

  private *source(src: string, who: string): Generator<string> {
    const { actors } = this.machine.implementations;
    if (childLogic(this.machine, src) === undefined)
      yield `${who} "${src}", which is not among its actors${closest(src, Object.keys(actors))}. Add it to setup({ actors }).`;
  }

  private *action(action: unknown, where: string): Generator<string> {
    const name = nameOf(action);
    const found: unknown = name === undefined ? action : this.machine.implementations.actions[name];
    if (found === undefined)
      yield `${where} names the action "${name}", which has no implementation${closest(name ?? "", Object.keys(this.machine.implementations.actions))}. Add it to setup({ actions }).`;
    else if (isBuiltIn(found)) yield* this.builtIn(found, where);
    else if (this.options.inWorkflow === true) yield* this.custom(found, name, where);
    else if (!this.isMarked(found, name))
      yield `${where} runs the action ${name === undefined ? `"${(found as { readonly name?: string }).name || "(anonymous)"}"` : `"${name}"`}, a function that a crash would lose or repeat. Name its work with effectAction(type) and give that an executor, invoke a promise, or mark it with volatileAction(…) (or register the machine with volatileActions) if it may be lost.`;
  }

  /** An action of a machine in a workflow: nobody executes what it names, but it may be lost. */
  private *custom(found: unknown, name: string | undefined, where: string): Generator<string> {
    const mark = markOf(found);
    if (mark?.kind === "volatile" || this.told.has(found)) return;
    this.told.add(found);
    const which = name === undefined ? `"${(found as { readonly name?: string }).name || "(anonymous)"}"` : `"${name}"`;
    yield mark?.kind === "effect"
      ? `${where} asks for the effect "${mark.type}", which nobody executes in a workflow. ${ownWork}`
      : `${where} runs the action ${which}, a function that a crash would lose or repeat. ${ownWork} Or mark it with volatileAction(…) if it may be lost.`;
  }

  private isMarked(action: unknown, name: string | undefined): boolean {
    const { volatileActions } = this.options;
    return markOf(action) !== undefined || volatileActions === "all" || (name !== undefined && volatileActions?.includes(name) === true);
  }

  private *builtIn(action: BuiltIn, where: string): Generator<string> {
    yield* this.delay(action.delay, where);
    if (action.type !== "xstate.spawnChild") return;
    if (typeof action.src === "string") yield* this.source(action.src, `${where} spawns`);
    else yield `${where} spawns inline logic. Give it a name in setup({ actors }) and spawn it by that name: a stored machine must find it again.`;
    if (action.id === undefined)
      yield `${where} spawns ${typeof action.src === "string" ? `"${action.src}"` : "a child"} without an id. Give it one, spawnChild(src, { id }): two without one would take each other's place.`;
    if (action.syncSnapshot === true) yield `${where} spawns ${String(action.id)} with syncSnapshot. ${noSync}`;
  }

  private *delay(delay: unknown, where: string): Generator<string> {
    if (typeof delay === "number") yield* this.milliseconds(delay, `a delay in ${where}`);
    if (typeof delay !== "string" || Object.hasOwn(this.machine.implementations.delays, delay)) return;
    yield `${where} waits for the delay "${delay}", which has no implementation${closest(delay, Object.keys(this.machine.implementations.delays))}: XState would let it pass at once. Add it to setup({ delays }).`;
  }

  private *milliseconds(delay: unknown, what: string): Generator<string> {
    if (typeof delay !== "number" || !Number.isFinite(delay) || delay < 0)
      yield `${what} is ${String(delay)}. A delay is a finite number of milliseconds, 0 or more.`;
  }

  private *guard(guard: unknown, where: string): Generator<string> {
    if (guard === undefined) return;
    const name = nameOf(guard);
    const { guards } = this.machine.implementations;
    if (name !== undefined && !Object.hasOwn(guards, name))
      yield `${where} asks the guard "${name}", which has no implementation${closest(name, Object.keys(guards))}. Add it to setup({ guards }).`;
    if (typeof guard !== "function" || !("guards" in guard) || !Array.isArray(guard.guards)) return;
    for (const inner of guard.guards) yield* this.guard(inner, where);
  }

  /** `*` takes the ends of invoked actors too, errors included: the machine would go on as if nothing had been invoked. */
  private *wildcards(node: AnyStateNode): Generator<string> {
    const wild = [...node.transitions.keys()].filter((descriptor) => descriptor.endsWith("*"));
    for (const descriptor of wild) {
      for (const other of this.nodes) {
        for (const { id } of other.invoke) {
          const ends = [`xstate.done.actor.${id}`, `xstate.error.actor.${id}`].filter((end) => takes(descriptor, end));
          const isSwallowed = isBelow(node, other) || (mayMeet(node, other) && ends.some((end) => !isAnswered(other, end)));
          if (ends.length === 0 || !isSwallowed) continue;
          yield `${stateName(node)} takes "${descriptor}", and with it the end of "${id}", which ${stateName(other)} invokes. Name the events that it is for, or give that invoke onDone and onError that always answer, in a state that is not above the "${descriptor}".`;
        }
      }
    }
  }
}

const ownWork = "Invoke a promise (fromPromise, durable) that does the work itself, or end the machine and do it in a node.";

const noSync = "The child's snapshot is stored as its own: let the child send what its parent must know (sendParent), or end with it as its output.";

const refusedKinds: { readonly [K in Exclude<LogicKind, "machine" | "promise">]: string } = {
  callback:
    "a callback, which nobody could take up again after a crash. Let a promise (fromPromise, effect()) do the work and end with its result; what happens outside later is sent to the actor by whoever sees it.",
  observable:
    "an observable, whose values a crash would lose. Let a promise (fromPromise, effect()) fetch what is needed, again and again if need be; or have whoever sees the values send them to the actor as events.",
  transition: "a reducer or a store, whose state nothing stores by itself. Write it as a machine with one state: its steps are then durable like any other.",
  unknown: "neither a machine nor a promise. Use a machine, fromPromise or effect().",
};

const isBuiltIn = (action: unknown): action is BuiltIn => typeof action === "function" && "resolve" in action;

function nameOf(named: unknown): string | undefined {
  if (typeof named === "string") return named;
  return typeof named === "object" && named !== null && "type" in named ? String((named as Exclude<Named, string>).type) : undefined;
}

const transitionsOf = (node: AnyStateNode) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])];

const actionsOf = (node: AnyStateNode): readonly unknown[] => [
  ...node.entry,
  ...node.exit,
  ...transitionsOf(node).flatMap((transition): readonly unknown[] => transition.actions),
  ...(node.initial?.actions ?? []),
];

/** As XState matches descriptors: `*`, or `a.b.*` for all that begins so. */
const takes = (descriptor: string, type: string): boolean =>
  descriptor === "*" || (descriptor.endsWith(".*") && `${type}.`.startsWith(descriptor.slice(0, -1)));

function isBelow(node: AnyStateNode, other: AnyStateNode): boolean {
  for (let above = node.parent; above; above = above.parent) if (above === other) return true;
  return false;
}

/** Whether both can be active at once. */
function mayMeet(a: AnyStateNode, b: AnyStateNode): boolean {
  if (a === b || isBelow(a, b) || isBelow(b, a)) return true;
  for (let above = a.parent; above; above = above.parent) if (isBelow(b, above)) return above.type === "parallel";
  return false;
}

const isAnswered = (node: AnyStateNode, type: string): boolean => node.transitions.get(type)?.some(({ guard }) => guard === undefined) === true;

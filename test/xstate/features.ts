/** Which of XState's features a test machine uses, read off its config, its implementations and the text of its functions. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { markOf } from "../../machines/define.ts";
import { everyNode } from "../../src/runtime/fit.ts";
import { isMachineLogic } from "../../src/runtime/step.ts";
import type { Subject } from "./machines/subject.ts";

interface BuiltIn {
  readonly type: string;
  readonly to?: unknown;
  readonly event?: unknown;
  readonly delay?: unknown;
  readonly src?: unknown;
  readonly systemId?: unknown;
}

/** What the detectors look at. */
class Facts {
  readonly nodes: readonly AnyStateNode[];
  readonly machines: readonly AnyStateMachine[];
  readonly builtIns: readonly BuiltIn[];
  /** Every function of the machines, as text. */
  readonly text: string;
  readonly guards: readonly unknown[];
  readonly references: readonly unknown[];

  constructor({ machine, children = [] }: Subject) {
    this.machines = [machine, ...children];
    this.nodes = this.machines.flatMap((one) => [...everyNode(one.root)]);
    this.references = this.nodes.flatMap((node) => [
      ...node.entry,
      ...node.exit,
      ...this.transitionsOf(node).flatMap(({ actions }): readonly unknown[] => actions),
    ]);
    const implementations = this.machines.flatMap((one) => Object.values(one.implementations.actions) as unknown[]);
    this.builtIns = [...this.references, ...implementations].filter(
      (action): action is BuiltIn => typeof action === "function" && "resolve" in action && "type" in action,
    );
    this.guards = [
      ...this.nodes.flatMap((node) => this.transitionsOf(node).map(({ guard }): unknown => guard)),
      ...this.machines.flatMap((one) => Object.values(one.implementations.guards) as unknown[]),
    ].flatMap(withInner);
    const written = [
      ...this.references,
      ...implementations,
      ...this.guards,
      ...this.machines.flatMap((one) => [one.config, ...Object.values(one.implementations.delays)]),
      ...this.nodes.flatMap((node) => node.invoke),
    ];
    this.text = textOf(written, new Set()).join("\n");
  }

  transitionsOf = (node: AnyStateNode) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])];

  get transitions() {
    return this.nodes.flatMap(this.transitionsOf);
  }

  /** A built-in action of this type, written out or enqueued. */
  does(type: string, of: (action: BuiltIn) => boolean = () => true): boolean {
    return this.builtIns.some((action) => action.type === `xstate.${type}` && of(action));
  }

  sends(where: RegExp): boolean {
    return this.does("sendTo", ({ to }) => where.test(typeof to === "function" ? String(to) : JSON.stringify(to ?? "")));
  }

  invokes(of: (logic: unknown) => boolean): boolean {
    return this.machines.some((machine) =>
      [...everyNode(machine.root)].some((node) => node.invoke.some(({ src }) => typeof src === "string" && of(machine.implementations.actors[src]))),
    );
  }
}

const withInner = (guard: unknown): readonly unknown[] =>
  typeof guard === "function" && "guards" in guard && Array.isArray(guard.guards) ? [guard, ...guard.guards.flatMap(withInner)] : [guard];

/** Texts of all functions in a value, those that XState's action objects carry as properties included. */
function textOf(value: unknown, seen: Set<unknown>): string[] {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value) || isMachineLogic(value)) return [];
  seen.add(value);
  const own = typeof value === "function" && !("resolve" in value) && !("check" in value) ? [String(value)] : [];
  return [...own, ...Object.values(value).flatMap((item) => textOf(item, seen))];
}

const isCheck = (name: string) => (guard: unknown) => typeof guard === "function" && "check" in guard && guard.name === name;

/** In the order of docs/xstate.md. */
export const features: { readonly [feature: string]: (facts: Facts) => boolean } = {
  "nested states": ({ nodes }) => nodes.some((node) => node.type === "compound" && node.parent !== undefined),
  "parallel states": ({ nodes }) => nodes.some((node) => node.type === "parallel"),
  "shallow history": ({ nodes }) => nodes.some((node) => node.type === "history" && node.history !== "deep"),
  "deep history": ({ nodes }) => nodes.some((node) => node.history === "deep"),
  "final states with output": ({ nodes }) => nodes.some((node) => node.type === "final" && node.output !== undefined),
  "state done (onDone of a state)": ({ nodes }) => nodes.some((node) => node.config.onDone !== undefined),
  "machine output": ({ machines }) => machines.some((machine) => machine.config.output !== undefined),
  input: ({ machines }) => machines.some((machine) => /\binput\b/.test(String(machine.config.context))),
  tags: ({ nodes }) => nodes.some((node) => node.tags.length > 0),
  meta: ({ nodes }) => nodes.some((node) => node.meta !== undefined),
  "entry and exit": ({ nodes }) => nodes.some((node) => node.exit.length > 0) && nodes.some((node) => node.entry.length > 0),
  always: ({ nodes }) => nodes.some((node) => node.always !== undefined),
  reenter: ({ transitions }) => transitions.some(({ reenter }) => reenter),
  "several targets": ({ transitions }) => transitions.some(({ target }) => (target?.length ?? 0) > 1),
  "forbidden events": ({ nodes }) => nodes.some((node) => Object.values(node.config.on ?? {}).includes(undefined)),
  "wildcard `*`": ({ nodes }) => nodes.some((node) => node.transitions.has("*")),
  "partial wildcard `a.*`": ({ nodes }) => nodes.some((node) => [...node.transitions.keys()].some((key) => key.endsWith(".*"))),
  "guards with params": ({ guards }) => guards.some((guard) => typeof guard === "object" && guard !== null && "params" in guard),
  "guard and": ({ guards }) => guards.some(isCheck("and")),
  "guard or": ({ guards }) => guards.some(isCheck("or")),
  "guard not": ({ guards }) => guards.some(isCheck("not")),
  "guard stateIn": ({ guards }) => guards.some(isCheck("stateIn")),
  "after, in milliseconds": ({ nodes }) => nodes.some((node) => node.after.some(({ delay }) => typeof delay === "number")),
  "after, by name": ({ nodes }) => nodes.some((node) => node.after.some(({ delay }) => typeof delay === "string")),
  "delays as functions": ({ machines, builtIns }) =>
    machines.some((machine) => Object.values(machine.implementations.delays).some((delay) => typeof delay === "function")) ||
    builtIns.some(({ delay }) => typeof delay === "function"),
  assign: (facts) => facts.does("assign"),
  "action params": ({ references }) => references.some((action) => typeof action === "object" && action !== null && "params" in action),
  raise: (facts) => facts.does("raise", ({ delay }) => delay === undefined) || /enqueue\.raise\((?!.*delay)/.test(facts.text),
  "raise with a delay": (facts) =>
    facts.does("raise", ({ delay, event }) => delay !== undefined && !String((event as { type?: string }).type).startsWith("xstate.after")) ||
    /enqueue\.raise\(.*delay/.test(facts.text),
  cancel: (facts) =>
    facts.builtIns.some((action) => action.type === "xstate.cancel" && !("sendId" in action && String(action.sendId).startsWith("xstate.after"))) ||
    /enqueue\.cancel\(/.test(facts.text),
  enqueueActions: (facts) => facts.does("enqueueActions"),
  emit: (facts) => facts.does("emit") || /enqueue\.emit\(/.test(facts.text),
  log: (facts) => facts.does("log"),
  "sendTo a child": (facts) => facts.does("sendTo", ({ to }) => typeof to === "string" && to !== "#_parent"),
  sendParent: (facts) => facts.does("sendTo", ({ to }) => to === "#_parent") || /enqueue\.sendParent\(/.test(facts.text),
  "sendTo by system id": (facts) => facts.sends(/system\.get\(/) || /enqueue\.sendTo\(.*system.*\.get\(/.test(facts.text),
  "sendTo a reference from the context": (facts) => facts.sends(/context\./) || /enqueue\.sendTo\((ref|context\.)/.test(facts.text),
  "sendTo a reference from an event": (facts) => facts.sends(/event\.\w/),
  "sendTo with a delay": (facts) => facts.does("sendTo", ({ delay }) => delay !== undefined) || /enqueue\.sendTo\(.*\{ delay:/.test(facts.text),
  forwardTo: (facts) => facts.does("sendTo", ({ event }) => /^\(\{\s*event\s*\}\) => event$/.test(String(event))),
  "escalate (`xstate.error`)": (facts) => facts.does("sendTo", ({ event }) => (event as { type?: string } | undefined)?.type === "xstate.error"),
  "invoked machines": (facts) => facts.invokes(isMachineLogic),
  "invoked promises": (facts) => facts.invokes((logic) => !isMachineLogic(logic) && markOf(logic) === undefined),
  "invoked effects (`effect()`)": (facts) => facts.invokes((logic) => markOf(logic)?.kind === "effect"),
  onDone: ({ nodes }) => nodes.some((node) => node.invoke.some(({ onDone }) => onDone !== undefined)),
  onError: ({ nodes }) => nodes.some((node) => node.invoke.some(({ onError }) => onError !== undefined)),
  "errors without a handler": ({ nodes }) => nodes.some((node) => node.invoke.some(({ onError }) => onError === undefined)),
  spawnChild: (facts) => facts.does("spawnChild") || /enqueue\.spawnChild\(/.test(facts.text),
  "spawn() in an assign or the context": ({ text }) => /[^.\w]spawn\(/.test(text),
  stopChild: (facts) => facts.does("stopChild") || /enqueue\.stopChild\(/.test(facts.text),
  systemId: (facts) =>
    facts.nodes.some((node) => node.invoke.some(({ systemId }) => systemId !== undefined)) ||
    facts.does("spawnChild", ({ systemId }) => systemId !== undefined),
  "references in the context": ({ text }) => /\b(ref|boss|first|next|refs|toggles)\b.*(spawn\(|event\.ref|input\.)/.test(text),
  "references in inputs and events (`self`)": ({ text }) => /(from|ref|boss|to): self/.test(text),
  "a machine's end stops its children": ({ machines }) =>
    machines.some(
      (machine) =>
        [...everyNode(machine.root)].some((node) => node.type === "final" && node.parent === machine.root) &&
        Object.values(machine.implementations.actors).some(isMachineLogic),
    ),
  "named effects of actions (`effectAction`)": ({ machines }) =>
    machines.some((machine) => Object.values(machine.implementations.actions).some((action) => markOf(action)?.kind === "effect")),
  "volatile actions (`volatileAction`)": ({ machines }) =>
    machines.some((machine) => Object.values(machine.implementations.actions).some((action) => markOf(action)?.kind === "volatile")),
};

/** The names of the features that a test machine uses. */
export function featuresOf(subject: Subject): readonly string[] {
  const facts = new Facts(subject);
  return Object.entries(features).flatMap(([name, isUsed]) => (isUsed(facts) ? [name] : []));
}

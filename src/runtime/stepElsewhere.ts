/** A stepper for a machine that is not in this process: it holds snapshots as data, asks for each step, and makes of the answer what the ordinary
 *  stepper would have given. Links of children are the runtime's to write, here as there. */
import type { EventObject } from "xstate";
import { effectAction, type EffectOptions } from "../../machines/define.ts";
import { PawlError } from "../errors.ts";
import { readBack } from "../json.ts";
import type { Ask, AskedSteps } from "./askedSteps.ts";
import { readPersisted } from "./fit.ts";
import { ChildRef, linkOf, withRefs, type ChildLink } from "./refs.ts";
import { NeedsNames, type Stepper, type StepResult, type SystemNames } from "./step.ts";
import { inLiveOrder, type Address, type SpawnAs, type StepRecord } from "./stepRecords.ts";
import { childrenOf, linksOf, snapshotText, type Hydrated, type SeenSnapshot, type StoredChild } from "./stepSnapshot.ts";
import {
  childMark,
  type ChildName,
  type StepAnswer,
  type StepBody,
  type StepRequest,
  type WireAddress,
  type WireChild,
  type WireOptions,
  type WireRecord,
  type WireRef,
} from "./stepWire.ts";

export interface ElsewhereOptions {
  /** For messages. */
  readonly machine: string;
  readonly ask: Ask;
  /** Answers that all machines of a runtime share. */
  readonly asked: AskedSteps;
  /** The registered machine that a child is, by the name that its parent's machine has for it. */
  readonly child: (
    src: string,
    logic: { readonly id: string; readonly version: string | null },
  ) => { readonly machineId: string; readonly version: string | null };
  /** The author machine's own input in what the actor was started with. */
  readonly inputOf: (given: unknown) => unknown;
  /** Runs a volatile action where the step was taken. */
  readonly perform: (actor: string, name: string) => void;
  /** Of a promise that says nothing of it itself; null: no bound. */
  readonly maxInterrupted: number | null;
}

interface Snapshot extends SeenSnapshot {
  readonly children: { readonly [key: string]: ChildRef };
  readonly historyValue: object;
}

/** Data of one actor. */
interface Elsewhere extends Hydrated {
  readonly snapshot: Snapshot;
  readonly actor: string;
  readonly parent: string | null;
  readonly key: string | null;
  /** What is stored of it; null until its children's links are written. */
  text: string | null;
}

export function createElsewhereStepper(options: ElsewhereOptions): Stepper {
  const { asked, ask } = options;

  /** What the answer makes of an actor. */
  const result = (of: Pick<Elsewhere, "actor" | "parent" | "key">, before: Elsewhere | null, answer: StepAnswer): StepResult => {
    if (answer.kind === "needsNames") throw new NeedsNames(of.actor);
    if (answer.kind === "stepped") return stepped(options, of, before, readBack<StepBody>(answer.json));
    if (before === null) throw new PawlError("internal", `Actor "${of.actor}" was not started by whoever has its machine.`, { subject: of.actor });
    return unchanged(before, "active");
  };
  const step = (
    of: Pick<Elsewhere, "actor" | "parent" | "key">,
    before: Elsewhere | null,
    given: unknown,
    at: number | null,
    names: SystemNames | undefined,
  ): StepResult | Promise<StepResult> => {
    const request: StepRequest = {
      actor: of.actor,
      parent: of.parent,
      key: of.key,
      names: names ? [...names] : null,
      from: before === null ? null : textOf(before),
      given: JSON.stringify(given),
    };
    const answer = asked.answer(ask, request, at);
    return answer instanceof Promise ? answer.then((told) => result(of, before, told)) : result(of, before, answer);
  };

  return {
    init: (actor, parent, input, key = null, names) => step({ actor, parent, key }, null, { input: options.inputOf(input) }, null, names),
    step(given, event, names) {
      const from = own(given);
      const { status } = from.snapshot;
      if (status !== "active") return unchanged(from, status === "done" ? "done" : "error");
      return step(from, from, event, timeOf(event), names);
    },
    hydrate: (actor, parent, json, key = null) => hydrated(actor, parent, key, json),
    persist(given) {
      const from = own(given);
      const { children, ...parts } = from.snapshot;
      const stored = Object.entries(children).map(([name, ref]): StoredChild => ({ key: name, src: ref.src, systemId: ref.systemId, link: linkOf(ref) }));
      const text = snapshotText(from.actor, { ...parts, children: stored });
      from.text = text.snapshot;
      return text;
    },
    links: linksOf,
    children: childrenOf,
    evaluate: () => notHere(options.machine),
    delay: () => notHere(options.machine),
  };
}

/** What a stepper made itself: nobody else's snapshot is ever given to it. */
const own = (from: Hydrated): Elsewhere => from as Elsewhere; // see above

const timeOf = (event: EventObject): number | null => ("at" in event && typeof event.at === "number" ? event.at : null);

function notHere(machine: string): never {
  throw new PawlError("internal", `The functions of machine "${machine}" are in another process.`, { subject: machine });
}

function textOf(from: Elsewhere): string {
  if (from.text !== null) return from.text;
  throw new PawlError("internal", `Actor "${from.actor}" takes a step before its last one is written.`, { subject: from.actor });
}

function unchanged(next: Elsewhere, status: StepResult["status"]): StepResult {
  return { changed: false, next, status, output: next.snapshot.output, error: next.snapshot.error, asked: [], records: [] };
}

function hydrated(actor: string, parent: string | null, key: string | null, json: string): Elsewhere {
  const { status, value, context, output, error, children, historyValue } = readPersisted(json);
  const refs = Object.entries(children).map(([name, child]): [string, ChildRef] => {
    const link = child.snapshot as ChildLink; // as persist() writes it
    return [name, new ChildRef(name, child.src, child.systemId ?? null, { ...link })];
  });
  const snapshot: Snapshot = { status, value, context, output, error, children: Object.fromEntries(refs), historyValue };
  return { snapshot, actor, parent, key, text: json };
}

/** One answer, made into a step of ours. */
function stepped(options: ElsewhereOptions, of: Pick<Elsewhere, "actor" | "parent" | "key">, before: Elsewhere | null, body: StepBody): StepResult {
  const children = new Children(before);
  const asked = body.asked.map((record) => recordOf(options, of.actor, record, children));
  const { status, value, error, historyValue } = body;
  const refs = body.children.map((ref): [string, ChildRef] => [ref.key, children.ref(ref)]);
  const context = children.inPlaceOfNames(body.context);
  const output = children.inPlaceOfNames(body.output);
  const snapshot: Snapshot = { status, value, context, output, error, children: Object.fromEntries(refs), historyValue };
  const next: Elsewhere = { snapshot, actor: of.actor, parent: of.parent, key: of.key, text: null };
  return { changed: true, next, status, output, error, asked, records: inLiveOrder(asked, before === null ? snapshot : null) };
}

/** The children of one step: those that were there, and those that it starts. */
class Children {
  private readonly known = new Map<ChildName, ChildRef>();

  constructor(before: Elsewhere | null) {
    for (const [key, ref] of Object.entries(before?.snapshot.children ?? {})) this.known.set(`kept:${key}`, ref);
  }

  /** The one that is known, or a new one whose link leads nowhere yet. */
  ref({ key, child, src, systemId }: WireRef): ChildRef {
    const known = this.known.get(child) ?? new ChildRef(key, src, systemId, { status: "active" });
    this.known.set(child, known);
    return known;
  }

  /** Of one that nobody knows it leads nowhere. */
  link(child: ChildName): ChildLink {
    return linkOf(this.known.get(child)) ?? { status: "active" };
  }

  inPlaceOfNames<T>(value: T): T {
    return withRefs(value, (ref) => (ref.actor.startsWith(childMark) ? (this.known.get(ref.actor.slice(childMark.length)) ?? ref) : ref));
  }
}

function recordOf(options: ElsewhereOptions, actor: string, record: WireRecord, children: Children): StepRecord {
  switch (record.kind) {
    case "spawn": {
      const { key, src, systemId, replaces } = record;
      children.ref(record);
      const link = children.link(record.child);
      const input = children.inPlaceOfNames(record.input);
      return {
        kind: "spawn",
        key,
        src,
        input,
        systemId,
        link,
        ...(replaces === undefined ? {} : { replaces: children.link(replaces) }),
        as: childOf(options, src, record.as),
      };
    }
    case "stop":
      return { kind: "stop", key: record.key, link: record.child === null ? null : children.link(record.child) };
    case "timer":
    case "send":
      return { ...record, to: addressOf(record.to, children), event: children.inPlaceOfNames(record.event) };
    case "emit":
      return { kind: "emit", event: children.inPlaceOfNames(record.event) };
    case "log":
      return { kind: "log", label: record.label, value: children.inPlaceOfNames(record.value) };
    case "cancelTimer":
      return record;
    case "effect": {
      const implementation = effectAction<unknown>(record.type, optionsOf(record.options));
      return { kind: "action", type: record.action, params: children.inPlaceOfNames(record.params), implementation, exec: null };
    }
    case "volatile":
      return { kind: "action", type: record.action, params: undefined, implementation: null, exec: () => options.perform(actor, record.name) };
  }
}

const addressOf = (to: WireAddress, children: Children): Address => (to.kind === "child" ? { kind: "child", key: to.key, link: children.link(to.child) } : to);

function childOf({ child, maxInterrupted }: ElsewhereOptions, src: string, as: WireChild): SpawnAs {
  if (as.kind === "effect")
    return { kind: "effect", type: as.type, options: optionsOf({ ...as.options, maxInterrupted: as.options.maxInterrupted ?? maxInterrupted }) };
  const visit = as.visit;
  if (as.kind === "fromInput") return { kind: "actor", machineId: as.id, version: as.version, isOwn: false, visit };
  return { kind: "actor", ...child(src, as), isOwn: true, visit };
}

function optionsOf({ once, retry, timeoutMs, maxInterrupted, heartbeatMs, visit }: WireOptions): EffectOptions<unknown> {
  return {
    once,
    ...(retry === null ? {} : { retry }),
    timeoutMs,
    ...(maxInterrupted === null ? {} : { maxInterrupted }),
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    ...(visit === undefined ? {} : { visit: () => visit }),
  };
}

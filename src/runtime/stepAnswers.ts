/** Answers requests for steps where the machines are: the ordinary stepper, with everything that only a function can tell told as data.
 *  Keeps the latest snapshots ready, so that a step need not read its actor's text again. */
import { randomUUID } from "node:crypto";
import type { AnyStateMachine, EventObject } from "xstate";
import { markOf, type EffectOptions } from "../../machines/define.ts";
import { policyFor } from "../../machines/policy.ts";
import { messageOf } from "../errors.ts";
import { checkJson, readBack, type ObjectCheck } from "../json.ts";
import { childEffect } from "./children.ts";
import { linkOf, refsInContext, refsInMessages, type ChildLink } from "./refs.ts";
import { childLogic, createStepper, isMachineLogic, NeedsNames, type OwnStepper, type StepRecord, type StepResult } from "./step.ts";
import type { Address, SpawnRecord } from "./stepRecords.ts";
import { childrenOf, plainError, type Hydrated } from "./stepSnapshot.ts";
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
} from "./stepWire.ts";

interface Kept {
  readonly stepper: OwnStepper;
  readonly text: string;
  readonly hydrated: Hydrated;
}

/** Snapshots that are kept ready, and volatile actions that wait for their commit: the latest. */
const keptLimit = 256;
const actionLimit = 1024;

export class StepAnswers {
  private readonly steppers = new WeakMap<AnyStateMachine, OwnStepper>();
  private readonly kept = new Map<string, Kept>();
  private readonly actions = new Map<string, () => void>();
  /** Of this process alone: another one must not run what it never held. */
  private readonly names = randomUUID();
  private named = 0;

  /** @throws what the machine throws, and invalidValue for what JSON cannot carry */
  answer(machine: AnyStateMachine, request: StepRequest): StepAnswer {
    const stepper = this.stepperOf(machine);
    const { actor, parent, key, from, names } = request;
    const known = names === null ? undefined : new Map(names);
    const time = { isUsed: false };
    let before: Hydrated | null = null;
    try {
      let result: StepResult;
      if (from === null) {
        const { input } = readBack<{ readonly input?: unknown }>(request.given);
        result = stepper.init(actor, parent, input, key, known);
      } else {
        // A try without the names may have left traces.
        const kept = known ? undefined : this.kept.get(actor);
        before = kept?.stepper === stepper && kept.text === from ? kept.hydrated : stepper.hydrate(actor, parent, from, key);
        this.kept.delete(actor);
        result = stepper.step(before, readBack<EventObject>(request.given), known, (event) => watched(event, time));
        if (!result.changed) this.keep(actor, { stepper, text: from, hydrated: before });
      }
      if (!result.changed) return { kind: "unchanged" };
      const told = new Telling(machine, actor, before, (action) => this.hold(action)).body(stepper, result);
      // Links of new children are written elsewhere: such a snapshot comes back as text.
      if (!told.hasNew && result.status === "active") this.keep(actor, { stepper, text: stepper.persist(result.next).snapshot, hydrated: result.next });
      return { kind: "stepped", usesTime: time.isUsed || told.isVolatile, json: told.json };
    } catch (error) {
      if (error instanceof NeedsNames) return { kind: "needsNames" };
      throw error;
    }
  }

  /** Runs a volatile action that a step named, once; nothing when it is not held any more. */
  perform(name: string): void {
    const action = this.actions.get(name);
    this.actions.delete(name);
    action?.();
  }

  private stepperOf(machine: AnyStateMachine): OwnStepper {
    const known = this.steppers.get(machine) ?? createStepper(machine);
    this.steppers.set(machine, known);
    return known;
  }

  private keep(actor: string, kept: Kept): void {
    this.kept.set(actor, kept);
    trim(this.kept, keptLimit);
  }

  private hold(action: () => void): string {
    this.named += 1;
    const name = `${this.names} ${this.named}`;
    this.actions.set(name, action);
    trim(this.actions, actionLimit);
    return name;
  }
}

function trim(map: Map<string, unknown>, limit: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= limit) return;
    map.delete(oldest);
  }
}

/** The event, telling whether its time is read: by a guard, an assign, or whoever copies it. */
function watched(event: EventObject, time: { isUsed: boolean }): EventObject {
  const at: unknown = "at" in event ? event.at : undefined;
  if (at === undefined) return event;
  return Object.defineProperty(event, "at", {
    enumerable: true,
    configurable: true,
    get() {
      time.isUsed = true;
      return at;
    },
  });
}

interface Told {
  readonly json: string;
  readonly hasNew: boolean;
  readonly isVolatile: boolean;
}

/** One step, told. */
class Telling {
  private readonly machine: AnyStateMachine;
  private readonly actor: string;
  private readonly hold: (action: () => void) => string;
  private readonly names = new Map<ChildLink, ChildName>();
  private hasRefs = false;
  private isVolatile = false;

  constructor(machine: AnyStateMachine, actor: string, before: Hydrated | null, hold: (action: () => void) => string) {
    this.machine = machine;
    this.actor = actor;
    this.hold = hold;
    for (const { key, link } of before === null ? [] : childrenOf(before)) this.names.set(link, `kept:${key}`);
  }

  body(stepper: OwnStepper, result: StepResult): Told {
    const { status, error, output } = this.end(result);
    const spawns = result.asked.filter((record) => record.kind === "spawn");
    for (const [index, { link }] of spawns.entries()) this.names.set(link, `new:${index}`);
    const parts = stepper.parts(result.next);
    for (const { key, link } of parts.children) if (link && !this.names.has(link)) this.names.set(link, `over:${key}`);
    const hasFailed = error !== undefined;
    // One that could not start has no more to tell.
    const isBroken = hasFailed && result.asked.length === 0 && parts.children.length === 0;
    const body: StepBody = {
      status,
      value: isBroken ? {} : this.carried(parts.value, "state of"),
      context: isBroken ? null : this.carried(parts.context ?? null, "context of"),
      ...(output === undefined ? {} : { output }),
      ...(hasFailed ? { error: plainError(error) } : {}),
      children: parts.children.flatMap(({ key, src, systemId, link }) => (link ? [{ key, src: String(src), systemId, child: this.nameOf(link) }] : [])),
      historyValue: parts.historyValue,
      asked: result.asked.map((record) => this.record(record)),
    };
    return { json: this.text(body), hasNew: spawns.length > 0, isVolatile: this.isVolatile };
  }

  /** A machine that ends with what JSON cannot carry has failed: no later try would give something else. */
  private end({ status, output, error }: StepResult): Pick<StepResult, "status" | "output" | "error"> {
    if (output === undefined) return { status, output, error };
    try {
      return { status, output: this.carried(output, "output of", this.inMessages), error };
    } catch (wrong) {
      return { status: "error", output: undefined, error: { reason: "invalidOutput", message: messageOf(wrong) } };
    }
  }

  /** References to children give way to their names: what becomes of those children is not known here. */
  private text(body: StepBody): string {
    if (!this.hasRefs) return JSON.stringify(body);
    const { names } = this;
    return JSON.stringify(body, function (this: unknown, key, value: unknown) {
      const original: unknown = typeof this === "object" && this !== null ? Reflect.get(this, key) : undefined;
      const link = linkOf(original);
      const name = link && names.get(link);
      return name === undefined || typeof value !== "object" || value === null ? value : { ...value, actor: childMark + name };
    });
  }

  private readonly inContext: ObjectCheck = (value) => this.seen(refsInContext(value));

  /** Whoever has the links says which child may be spoken of to others. */
  private readonly inMessages: ObjectCheck = (value) => {
    const link = linkOf(value);
    return this.seen(link && this.names.has(link) ? null : refsInMessages(value));
  };

  private seen(verdict: string | null | undefined): string | null | undefined {
    if (verdict === null) this.hasRefs = true;
    return verdict;
  }

  private carried<T>(value: T, what: string, known: ObjectCheck = this.inContext): T {
    checkJson(value, `${what} actor "${this.actor}"`, known);
    return value;
  }

  private record(record: StepRecord): WireRecord {
    switch (record.kind) {
      case "spawn":
        return this.spawn(record);
      case "stop":
        return { kind: "stop", key: record.key, child: record.link && this.nameOf(record.link) };
      case "timer":
        return { ...record, to: this.address(record.to), event: this.event(record.event, "delayed event", "by") };
      case "cancelTimer":
        return record;
      case "send":
        return { kind: "send", to: this.address(record.to), event: this.event(record.event, "event", "sent by") };
      case "emit":
        return { kind: "emit", event: this.event(record.event, "event", "emitted by") };
      case "log":
        return { kind: "log", label: record.label, value: this.carried(record.value, "value logged by", this.inMessages) };
      case "action": {
        const mark = markOf(record.implementation);
        if (mark?.kind === "effect") {
          const options = this.options(mark.options as EffectOptions<unknown>, record.params, mark.type); // the mark has forgotten what the action's params are
          return {
            kind: "effect",
            action: record.type,
            type: mark.type,
            options,
            params: this.carried(record.params, `input of "${mark.type}" in`, this.inMessages),
          };
        }
        this.isVolatile = true;
        return { kind: "volatile", action: record.type, name: record.exec ? this.hold(record.exec) : "" };
      }
    }
  }

  private spawn({ key, src, input, systemId, link, replaces }: SpawnRecord): WireRecord {
    return {
      kind: "spawn",
      key,
      src,
      input: this.carried(input, `input of "${key}" in`, this.inMessages),
      systemId,
      child: this.nameOf(link),
      ...(replaces ? { replaces: this.nameOf(replaces) } : {}),
      as: this.child(src, key, input),
    };
  }

  private child(src: string, key: string, input: unknown): WireChild {
    const logic = childLogic(this.machine, src);
    const mark = markOf(logic);
    if (mark?.kind === "machineFromInput")
      return { kind: "fromInput", id: mark.machineId, version: mark.version(input as never), ...visitOf(mark.visit, input) }; // the mark has forgotten its logic's input type
    if (isMachineLogic(logic))
      return { kind: "machine", id: logic.id, version: logic.config.version ?? null, ...(mark?.kind === "child" ? visitOf(mark.visit, input) : {}) };
    const { type, options } = childEffect({ machine: this.machine }, src);
    return { kind: "effect", type, options: this.options(options, input, key) };
  }

  private options(options: EffectOptions<unknown>, input: unknown, name: string): WireOptions {
    const { once } = options;
    return {
      ...policyFor(options, input, `Effect "${name}" of actor "${this.actor}"`),
      once: typeof once === "function" ? once(input) : (once ?? false),
      ...visitOf(options.visit, input),
    };
  }

  private event<E extends { readonly type: string }>(event: E, what: string, by: string): E & { readonly [field: string]: unknown } {
    return this.carried(event, `${what} "${event.type}" ${by}`, this.inMessages);
  }

  private address(to: Address): WireAddress {
    if (to.kind !== "child") return to;
    // One that has ended, and that the machine still holds a reference to, is an actor like any other.
    if (!this.names.has(to.link) && to.link.actor !== undefined) return { kind: "actor", id: to.link.actor };
    return { kind: "child", key: to.key, child: this.nameOf(to.link) };
  }

  /** A child that is neither in the snapshot nor asked for takes nothing. */
  private nameOf(link: ChildLink): ChildName {
    return this.names.get(link) ?? "gone";
  }
}

const visitOf = (visit: ((input: never) => string) | undefined, input: unknown): { readonly visit?: string } =>
  visit === undefined ? {} : { visit: visit(input as never) }; // the mark has forgotten its logic's input type

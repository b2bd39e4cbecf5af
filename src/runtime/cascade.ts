/** One dispatch, computed to its end: the event's step, and every event, child, timer and effect that it asks for, first in first out.
 *  Writes only into the draft; nothing runs. A cast to `never` or of options stands where a mark has forgotten its logic's input type. */
import { createHash } from "node:crypto";
import type { AnyMachineSnapshot } from "xstate";
import { markOf, type EffectOptions } from "../../machines/define.ts";
import { policyFor } from "../../machines/policy.ts";
import type { ActorRecord, ActorStatus, EffectRecord, JournalEntry, StoredValue } from "../../persistence/store.ts";
import { isPawlError, PawlError, messageOf } from "../errors.ts";
import { jsonText, readBack } from "../json.ts";
import type { ActorView, Definition } from "./definition.ts";
import type { Draft, Held } from "./draft.ts";
import { planMigration } from "./migrate.ts";
import { linksIn } from "./restore.ts";
import { isOpen, effectStep } from "./effectRow.ts";
import { childLogic, isMachineLogic, plainError, type Address, type ChildLink, type Hydrated, type StepRecord, type StepResult, type Stepper } from "./step.ts";

/** Tells an actor that one below it is faulted. */
const childFaulted = "pawl.childFaulted";

/** Steps in one dispatch; more is a loop between actors. */
export const cascadeLimit = 1000;

export interface CascadeEnv {
  readonly stepper: (definition: Definition) => Stepper;
  /** @throws restoreRefused naming the machine and what is registered. */
  readonly definitionOf: (record: ActorRecord) => Promise<Definition> | Definition;
  readonly findDefinition: (machineId: string, version: string | null) => Promise<Definition | undefined> | Definition | undefined;
  /** @throws restoreRefused naming what does not fit. */
  readonly hydrate: (definition: Definition, record: ActorRecord) => Hydrated;
  /** Before the first migration of this runtime: the state directory is backed up. */
  readonly beforeMigration: () => Promise<void>;
  /** Whether effects of this tree start as soon as they are committed. */
  readonly isAdopted: (root: string) => boolean;
}

type Cause = JournalEntry["cause"];

export interface EventObjectLike {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface Delivery {
  readonly to: string;
  readonly event: EventObjectLike;
  readonly cause: Cause;
  /** What the journal keeps of it when that is not the event itself. */
  readonly payload?: StoredValue | null;
  /** The end of this child, an actor's id or an effect's key: it reaches the parent under the name that the parent knows it by now. */
  readonly child?: string;
}

export interface Delivered {
  readonly status: "applied" | "ignored" | "finished" | "missing";
  readonly revision: number;
  /** What the machine answered to the event itself. */
  readonly reply: unknown;
}

/** Deliveries of a dispatch, by their number from 1, whose machine threw. */
export type Faults = ReadonlyMap<number, unknown>;

/** A machine threw at an internal event: the draft is half-written and must be computed again with this delivery faulted. */
export class FaultAt extends Error {
  readonly number: number;
  constructor(number: number, cause: unknown) {
    super(messageOf(cause), { cause });
    this.number = number;
  }
}

export interface NewActor {
  readonly id: string;
  readonly definition: Definition;
  readonly input: unknown;
  readonly parent: ActorRecord | null;
  readonly childKey: string | null;
  readonly systemId: string | null;
}

/** An actor that can step on its definition. */
export interface Ready {
  readonly definition: Definition;
  readonly record: ActorRecord;
  readonly hydrated: Hydrated;
}

/** Computes one dispatch. A machine that throws at an internal event is faulted; at the first event of the dispatch the throw is the caller's. */
export class Cascade {
  private readonly draft: Draft;
  private readonly env: CascadeEnv;
  private readonly faults: Faults;
  private readonly queue: Delivery[] = [];
  private deliveries = 0;
  private steps = 0;
  private events = 0;
  private reply: unknown = undefined;

  constructor(draft: Draft, env: CascadeEnv, faults: Faults) {
    this.draft = draft;
    this.env = env;
    this.faults = faults;
  }

  /** Starts a root actor, and all that follows. @throws what its first transition throws */
  async start(actor: NewActor): Promise<void> {
    await this.init(actor, null);
    await this.drain();
  }

  /** Applies an event from outside, and all that follows. @throws what its guards and assigns throw; then nothing of the draft may be committed */
  async send(to: string, event: EventObjectLike, payload: StoredValue | null, cause: Cause = null): Promise<Delivered> {
    const delivered = await this.deliver({ to, event, cause, payload }, true);
    await this.drain();
    return { ...delivered, reply: this.reply };
  }

  /** Applies an event of Pawl's own (timer, result of the effect `child`), and all that follows; never throws for what the machine does. */
  async sendInternal(to: string, event: EventObjectLike, child?: string): Promise<void> {
    this.queue.push({ to, event, cause: null, ...(child === undefined ? {} : { child }) });
    await this.drain();
  }

  /** An actor with its definition, ready to step; one whose version is gone is migrated first, in this same commit. @throws restoreRefused */
  async ready(held: Held): Promise<Ready> {
    const { record } = held;
    const definition = await this.env.definitionOf(record);
    if (definition.version !== record.machineVersion) return this.migrate(record, definition);
    return { definition, record, hydrated: held.hydrated ?? this.env.hydrate(definition, record) };
  }

  private async drain(): Promise<void> {
    for (let next = this.queue.shift(); next; next = this.queue.shift()) {
      const number = (this.deliveries += 1);
      if (this.faults.has(number)) {
        await this.fault(next, this.faults.get(number));
        continue;
      }
      try {
        await this.deliver(next, false);
      } catch (error) {
        // It is not the machine that cannot take the event: the actor waits as it is until its machine is back.
        throw isPawlError(error) && error.code === "restoreRefused" ? error : new FaultAt(number, error);
      }
    }
  }

  private count(actor: string): void {
    this.steps += 1;
    if (this.steps > cascadeLimit) throw new PawlError("cascadeLimit", `An event caused more than ${cascadeLimit} steps, the last at actor "${actor}": actors send events to each other in a loop. Nothing of it was stored; break the loop in their machines.`, { subject: actor });
  }

  private async deliver(delivery: Delivery, isFirst: boolean): Promise<Delivered> {
    const held = await this.draft.actor(delivery.to);
    if (!held) return { status: "missing", revision: 0, reply: undefined };
    if (held.record.status === "faulted" && !isFirst) return this.keep(held.record, delivery);
    if (held.record.status !== "active") return { status: "finished", revision: held.record.revision, reply: undefined };
    this.count(held.record.id);
    const { record, definition, hydrated } = await this.ready(held);
    const stepper = this.env.stepper(definition);
    const child = delivery.child === undefined ? undefined : stepper.children(hydrated).find(({ link }) => link.actor === delivery.child || link.effect === delivery.child);
    const given = child === undefined ? delivery.event : endOf(child.key, delivery.event);
    const event = this.envelope(given);
    const result = stepper.step(hydrated, event);
    if (!result.changed) return { status: "ignored", revision: record.revision, reply: undefined };
    await this.applied({ ...record, revision: record.revision + 1, updatedAt: this.draft.at }, record.revision, definition, result, event, { ...delivery, event: given }, isFirst);
    return { status: "applied", revision: record.revision + 1, reply: undefined };
  }

  /** `at` and `id` are on every event; an event's own fields of these names are its own. */
  private envelope(event: EventObjectLike): EventObjectLike & { readonly id: string; readonly at: number } {
    const id = this.events === 0 ? this.draft.eventId : `${this.draft.eventId}/${this.events}`;
    this.events += 1;
    return { at: this.draft.at, id, ...event } as EventObjectLike & { readonly id: string; readonly at: number }; // own fields may have other types: then they are the author's business
  }

  private async init(actor: NewActor, cause: Cause): Promise<void> {
    this.count(actor.id);
    const { definition, draft } = { definition: actor.definition, draft: this.draft };
    const result = this.env.stepper(definition).init(actor.id, actor.parent?.id ?? null, actor.input);
    if (result.status === "error") throw result.error;
    const record: ActorRecord = {
      id: actor.id,
      revision: 1,
      machineId: definition.id,
      machineVersion: definition.version,
      definitionDigest: definition.digest,
      status: "active",
      snapshot: "",
      parent: actor.parent?.id ?? null,
      childKey: actor.childKey,
      systemId: actor.systemId,
      root: actor.parent?.root ?? actor.id,
      createdAt: draft.at,
      updatedAt: draft.at,
    };
    const event = this.envelope({ type: "xstate.init", input: actor.input });
    await this.applied(record, 0, definition, result, event, { to: actor.id, event, cause, payload: actor.input === undefined ? null : draft.store({ input: actor.input }, `input of actor "${actor.id}"`) }, false);
  }

  /** Writes a step's outcome: what it asked for in document order, then the actor itself. */
  private async applied(record: ActorRecord, before: number, definition: Definition, result: StepResult, event: EventObjectLike & { readonly id: string }, delivery: Delivery, isFirst: boolean): Promise<void> {
    const { draft } = this;
    const cause: Cause = { index: draft.journal.length };
    // The place in the journal is taken now, so that what follows from this step stands behind it.
    draft.journal.push(placeholder);
    draft.putActor({ record, hydrated: result.next }, before);
    let ordinal = 0;
    for (const asked of result.records) ordinal = await this.apply(asked, record, definition, ordinal, cause, isFirst);
    const status: ActorStatus = result.status;
    const stepper = this.env.stepper(definition);
    const text = stepper.persist(result.next);
    const stored: ActorRecord = { ...record, status, snapshot: text.snapshot };
    draft.putActor({ record: stored, hydrated: result.next }, before);
    draft.journal[cause.index] = {
      actor: record.id,
      revision: record.revision,
      eventId: event.id,
      type: event.type,
      payload: delivery.payload === undefined ? this.payloadOf(delivery.event) : delivery.payload,
      at: draft.at,
      cause: delivery.cause,
      machineVersion: record.machineVersion,
      definitionDigest: record.definitionDigest,
      stateValue: text.value,
      contextHash: createHash("sha256").update(text.context).digest("hex"),
      snapshot: record.revision === 1 || record.revision % 100 === 0 ? text.snapshot : null,
    };
    const view = viewOf(stored, result.next.snapshot);
    for (const row of definition.project?.(view) ?? []) draft.rows.set(`${row.table}\n${row.row.id}`, row);
    draft.changes.push({ kind: "actor", view, event: { type: event.type, id: event.id }, at: draft.at });
    if (status !== "active") await this.finished(stored, result, cause);
  }

  private payloadOf(event: EventObjectLike): StoredValue | null {
    const { type, at: _at, id: _id, ...payload } = event;
    return Object.keys(payload).length === 0 ? null : this.draft.store(payload, `event "${type}"`);
  }

  private async apply(asked: StepRecord, record: ActorRecord, definition: Definition, ordinal: number, cause: Cause, isFirst: boolean): Promise<number> {
    const { draft } = this;
    switch (asked.kind) {
      case "spawn":
        return this.spawn(asked, record, definition, ordinal, cause);
      case "stop":
        if (asked.link) await this.stop(asked.link);
        return ordinal;
      case "timer": {
        const to = asked.to.kind === "self" ? record.id : this.resolve(asked.to, record);
        const key = asked.key ?? `${record.revision}:${ordinal}`;
        if (to !== null) draft.putTimer({ op: "set", timer: { actor: record.id, key, dueAt: draft.at + asked.delayMs, to, event: jsonText(asked.event, `delayed event "${asked.event.type}" of actor "${record.id}"`), revision: record.revision } });
        return ordinal + 1;
      }
      case "cancelTimer":
        draft.putTimer({ op: "clear", actor: record.id, key: asked.key });
        return ordinal;
      case "send": {
        const to = this.resolve(asked.to, record);
        if (to !== null) this.queue.push({ to, event: roundTrip(asked.event, record.id), cause });
        return ordinal;
      }
      case "emit": {
        const event = roundTrip(asked.event, record.id);
        if (isFirst && event.type === "pawl.reply") {
          const { type: _type, ...reply } = event;
          this.reply = reply;
        } else draft.changes.push({ kind: "emitted", actor: record.id, event, at: draft.at });
        return ordinal;
      }
      case "action": {
        const mark = markOf(asked.implementation);
        if (mark?.kind === "effect") {
          this.plan(record, null, mark.type, mark.options as EffectOptions<unknown>, asked.params, ordinal);
          return ordinal + 1;
        }
        if (asked.exec) draft.volatile.push(asked.exec);
        return ordinal;
      }
    }
  }

  private resolve(address: Address, record: ActorRecord): string | null {
    switch (address.kind) {
      case "self":
        return record.id;
      case "parent":
        return record.parent;
      case "child":
        return address.link.actor ?? null; // a promise takes no events
    }
  }

  private async spawn(asked: Extract<StepRecord, { kind: "spawn" }>, record: ActorRecord, definition: Definition, ordinal: number, cause: Cause): Promise<number> {
    const logic = childLogic(definition.machine, asked.src);
    const mark = markOf(logic);
    if (mark?.kind === "machineFromInput" || isMachineLogic(logic)) {
      const visit = mark && mark.kind !== "effect" ? mark.visit : undefined;
      const machineId = mark?.kind === "machineFromInput" ? mark.machineId : isMachineLogic(logic) ? logic.id : asked.src;
      const version = mark?.kind === "machineFromInput" ? mark.version(asked.input as never) : null;
      const child = await this.env.findDefinition(machineId, version);
      if (!child) throw new PawlError("unknownMachine", `Actor "${record.id}" starts "${asked.key}" from machine "${machineId}"${version === null ? "" : ` version ${version}`}, which is not registered. Register it beside "${definition.id}".`, { subject: record.id });
      const id = await this.childId(record, asked.key, visit?.(asked.input as never));
      asked.link.actor = id;
      try {
        await this.init({ id, definition: child, input: asked.input, parent: record, childKey: asked.key, systemId: asked.systemId }, cause);
      } catch (error) {
        if (error instanceof PawlError && (error.code === "cascadeLimit" || error.code === "unknownMachine")) throw error;
        this.queue.push({ to: record.id, event: { type: `xstate.error.actor.${asked.key}`, error: plainError(error), actorId: asked.key }, cause });
      }
      return ordinal;
    }
    const options = mark?.kind === "effect" ? (mark.options as EffectOptions<unknown>) : {};
    const type = mark?.kind === "effect" && mark.type !== "" ? mark.type : `promise:${asked.src}`;
    asked.link.effect = this.plan(record, asked.key, type, options, asked.input, ordinal);
    return ordinal + 1;
  }

  /** `<parent>/<visit>` for nodes; else `<parent>/<key>`, with the parent's revision when that name was used before. */
  private async childId(parent: ActorRecord, key: string, visit: string | undefined): Promise<string> {
    if (visit !== undefined) return `${parent.id}/${visit}`;
    const id = `${parent.id}/${key}`;
    return (await this.draft.actor(id)) ? `${id}.${parent.revision}` : id;
  }

  private plan(record: ActorRecord, invokeId: string | null, type: string, options: EffectOptions<unknown>, input: unknown, ordinal: number): string {
    const { draft } = this;
    const key = `${record.id}@${record.revision}:${ordinal}`;
    const visitName = options.visit?.(input);
    const visit = visitName === undefined ? null : `${record.id}/${visitName}`;
    const text = jsonText(input ?? null, `input of "${invokeId ?? type}" in actor "${record.id}"`);
    const effect: EffectRecord = {
      key,
      actor: record.id,
      root: record.root,
      invokeId,
      type,
      visit,
      idempotencyKey: visit ?? key,
      state: "planned",
      attempt: 1,
      interruptions: 0,
      once: typeof options.once === "function" ? options.once(input) : (options.once ?? false),
      policy: JSON.stringify(policyFor(options, input, `Effect "${invokeId ?? type}" of actor "${record.id}"`)),
      input: draft.storeText(text),
      fingerprint: createHash("sha256").update(`${type}\n${text}`).digest("hex"),
      output: null,
      error: null,
      process: null,
      notBefore: this.env.isAdopted(record.root) ? null : draft.at,
      createdAt: draft.at,
      updatedAt: draft.at,
      ambiguousSince: null,
    };
    draft.putEffect(effect, null);
    return key;
  }

  /** The parent no longer wants this child: an effect is dropped, an actor stops with its children. */
  private async stop(link: ChildLink): Promise<void> {
    if (link.effect !== undefined) await this.dropEffect(link.effect);
    if (link.actor !== undefined) await this.stopActor(link.actor);
  }

  private async dropEffect(key: string): Promise<void> {
    const record = await this.draft.effect(key);
    if (!record || !isOpen(record.state)) return;
    const next = effectStep(record, { type: "effect.dropped" });
    if (next) this.draft.putEffect({ ...record, ...next, updatedAt: this.draft.at, ambiguousSince: next.state === "ambiguous" ? this.draft.at : null }, record);
  }

  /** Needs no machine: what cannot be restored can still be cancelled. */
  private async stopActor(id: string): Promise<void> {
    const held = await this.draft.actor(id);
    if (!held || held.record.status !== "active") return;
    const { record } = held;
    const parts = readBack<{ value: unknown; context: unknown; output?: unknown; error?: unknown }>(record.snapshot);
    for (const link of linksIn(held)) await this.stop(link);
    await this.clearTimers(id);
    const stopped: ActorRecord = { ...record, revision: record.revision + 1, status: "stopped", updatedAt: this.draft.at };
    const event = this.envelope({ type: "xstate.stop" });
    this.draft.journal.push({ actor: id, revision: stopped.revision, eventId: event.id, type: event.type, payload: null, at: this.draft.at, cause: null, machineVersion: record.machineVersion, definitionDigest: record.definitionDigest, stateValue: JSON.stringify(parts.value), contextHash: createHash("sha256").update(JSON.stringify(parts.context)).digest("hex"), snapshot: null });
    this.draft.putActor({ record: stopped, hydrated: held.hydrated }, record.revision);
    const view: ActorView = { record: stopped, value: parts.value, context: parts.context, output: parts.output, error: parts.error };
    for (const row of (await this.known(record))?.project?.(view) ?? []) this.draft.rows.set(`${row.table}\n${row.row.id}`, row);
    this.draft.changes.push({ kind: "actor", view, event: { type: event.type, id: event.id }, at: this.draft.at });
  }

  /** The definition of an actor, if it can be had. */
  private async known({ machineId, machineVersion }: ActorRecord): Promise<Definition | undefined> {
    try {
      return await this.env.findDefinition(machineId, machineVersion);
    } catch (error) {
      // Stopping must work without it; whoever wants more of the actor than its end is told what is missing.
      if (isPawlError(error) && error.kind === "environment") return undefined;
      throw error;
    }
  }

  /** One journal row with a base of its own: what lies before it was stepped by another machine. Timers and effects go on as they are. */
  private async migrate(before: ActorRecord, definition: Definition): Promise<Ready> {
    const { draft, env } = this;
    await env.beforeMigration();
    const plan = planMigration(definition, before, await draft.timersOf(before.id));
    const stepper = env.stepper(definition);
    const record: ActorRecord = { ...before, revision: before.revision + 1, machineVersion: definition.version, definitionDigest: definition.digest, snapshot: plan.snapshot, updatedAt: draft.at };
    const hydrated = env.hydrate(definition, record);
    const event = { type: "pawl.migrated", from: before.machineVersion, to: definition.version, at: draft.at, id: `${draft.eventId}/migrated` };
    const cause: Cause = { index: draft.journal.length };
    draft.journal.push(placeholder);
    draft.putActor({ record, hydrated }, before.revision);
    const children = stepper.children(hydrated);
    let ordinal = 0;
    for (const link of plan.stop) await this.stop(link);
    for (const { key, src, systemId, input } of plan.start) {
      const link = children.find((child) => child.key === key)?.link;
      if (link) ordinal = await this.spawn({ kind: "spawn", key, src, systemId, link, input: stepper.evaluate(input, hydrated, event) }, record, definition, ordinal, cause);
    }
    for (const { actor, key } of plan.cleared) draft.putTimer({ op: "clear", actor, key });
    for (const { from, to } of plan.carried) draft.putTimer({ op: "set", timer: { ...from, key: to.key, event: jsonText({ type: to.key }, "timer"), revision: record.revision } });
    for (const { key, delay } of plan.armed) draft.putTimer({ op: "set", timer: { actor: record.id, key, dueAt: draft.at + stepper.delay(delay, hydrated, event), to: record.id, event: jsonText({ type: key }, "timer"), revision: record.revision } });
    const text = stepper.persist(hydrated);
    const stored: ActorRecord = { ...record, snapshot: text.snapshot };
    draft.putActor({ record: stored, hydrated }, before.revision);
    draft.journal[cause.index] = { actor: stored.id, revision: stored.revision, eventId: event.id, type: event.type, payload: this.payloadOf(event), at: draft.at, cause: null, machineVersion: stored.machineVersion, definitionDigest: stored.definitionDigest, stateValue: text.value, contextHash: createHash("sha256").update(text.context).digest("hex"), snapshot: text.snapshot };
    const view = viewOf(stored, hydrated.snapshot);
    for (const row of definition.project?.(view) ?? []) draft.rows.set(`${row.table}\n${row.row.id}`, row);
    draft.changes.push({ kind: "actor", view, event: { type: event.type, id: event.id }, at: draft.at });
    return { definition, record: stored, hydrated };
  }

  private async clearTimers(actor: string): Promise<void> {
    for (const key of await this.draft.timerKeys(actor)) this.draft.putTimer({ op: "clear", actor, key });
  }

  private async finished(record: ActorRecord, result: StepResult, cause: Cause): Promise<void> {
    await this.clearTimers(record.id);
    if (record.parent === null || record.childKey === null) return;
    const actorId = record.childKey;
    const event =
      result.status === "done"
        ? { type: `xstate.done.actor.${actorId}`, output: result.output, actorId }
        : { type: `xstate.error.actor.${actorId}`, error: plainError(result.error), actorId };
    this.queue.push({ to: record.parent, event: roundTrip(event, record.id), cause, child: record.id });
  }

  /** SPEC 16: an internal event whose guard or assign throws leaves the actor as it was, faulted, with the event kept. */
  private async fault(delivery: Delivery, error: unknown): Promise<void> {
    const held = await this.draft.actor(delivery.to);
    if (!held) throw error;
    const { record } = held;
    const definition = await this.env.definitionOf(record);
    const event = this.envelope({ type: "pawl.faulted", event: delivery.event, message: messageOf(error) });
    const faulted: ActorRecord = { ...record, revision: record.revision + 1, status: "faulted", updatedAt: this.draft.at };
    const parts = readBack<{ value: unknown; context: unknown }>(record.snapshot);
    this.draft.journal.push({ actor: record.id, revision: faulted.revision, eventId: event.id, type: event.type, payload: this.payloadOf(event), at: this.draft.at, cause: delivery.cause, machineVersion: record.machineVersion, definitionDigest: record.definitionDigest, stateValue: JSON.stringify(parts.value), contextHash: createHash("sha256").update(JSON.stringify(parts.context)).digest("hex"), snapshot: null });
    this.draft.putActor({ record: faulted, hydrated: null }, record.revision);
    const view: ActorView = { record: faulted, value: parts.value, context: parts.context, output: undefined, error: { reason: "faulted", message: messageOf(error) } };
    for (const row of definition.project?.(view) ?? []) this.draft.rows.set(`${row.table}\n${row.row.id}`, row);
    this.draft.changes.push({ kind: "actor", view, event: { type: event.type, id: event.id }, at: this.draft.at });
    await this.tellFault(record, messageOf(error));
  }

  /** A faulted actor takes nothing, and loses nothing that timers, effects and other actors tell it: it is delivered when the fault is mended. */
  private keep(record: ActorRecord, delivery: Delivery): Delivered {
    const kept: ActorRecord = { ...record, revision: record.revision + 1, updatedAt: this.draft.at };
    const event = this.envelope({ type: "pawl.kept", event: delivery.event });
    const parts = readBack<{ value: unknown; context: unknown }>(record.snapshot);
    this.draft.journal.push({ actor: record.id, revision: kept.revision, eventId: event.id, type: event.type, payload: this.payloadOf(event), at: this.draft.at, cause: delivery.cause, machineVersion: record.machineVersion, definitionDigest: record.definitionDigest, stateValue: JSON.stringify(parts.value), contextHash: createHash("sha256").update(JSON.stringify(parts.context)).digest("hex"), snapshot: null });
    this.draft.putActor({ record: kept, hydrated: null }, record.revision);
    return { status: "finished", revision: kept.revision, reply: undefined };
  }

  /** The nearest actor above that has an answer to it hears of the fault. */
  private async tellFault(record: ActorRecord, message: string): Promise<void> {
    for (let below = record; below.parent !== null; ) {
      const above = await this.draft.actor(below.parent);
      if (!above) return;
      if ((await this.env.definitionOf(above.record)).machine.events.includes(childFaulted)) {
        this.queue.push({ to: above.record.id, event: { type: childFaulted, child: below.childKey, actor: record.id, message }, cause: null });
        return;
      }
      below = above.record;
    }
  }
}

export const viewOf = (record: ActorRecord, snapshot: AnyMachineSnapshot): ActorView => ({ record, value: snapshot.value, context: snapshot.context, output: snapshot.output, error: snapshot.error });

/** A child's end under the name that its parent knows it by: a migration may have given the child another one. */
function endOf(key: string, event: EventObjectLike): EventObjectLike {
  const [kind] = /^xstate\.(done|error)\.actor\./.exec(event.type) ?? [""];
  return event["actorId"] === key || kind === "" ? event : { ...event, type: `${kind}${key}`, actorId: key };
}

/** What another actor gets is what the journal keeps: nothing shared, nothing that JSON would change. */
const roundTrip = (event: EventObjectLike, from: string): EventObjectLike => readBack(jsonText(event, `event "${event.type}" sent by actor "${from}"`));

const placeholder: JournalEntry = { actor: "", revision: 0, eventId: "", type: "", payload: null, at: 0, cause: null, machineVersion: "", definitionDigest: "", stateValue: "", contextHash: "", snapshot: null };

export type { Held, Hydrated };

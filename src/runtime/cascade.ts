/** One dispatch, computed to its end: the event's step, and every event, child, timer and effect that it asks for, in the order of XState's
 *  live actors: what a step asked for is carried out in order and in depth, and an actor that is in a step takes what reaches it after it.
 *  Writes only into the draft; nothing runs. A cast to `never` or of options stands where a mark has forgotten its logic's input type. */
import { markOf, type EffectOptions } from "../../machines/define.ts";
import type { ActorRecord, ActorStatus, JournalEntry, StoredValue } from "../../persistence/store.ts";
import { isPawlError, PawlError, messageOf } from "../errors.ts";
import { SetAside } from "./aside.ts";
import { jsonText, readBack } from "../json.ts";
import { childEffect } from "./children.ts";
import { viewOf, type ActorView, type Definition } from "./definition.ts";
import type { Draft, Held } from "./draft.ts";
import { isOpen } from "./effectRow.ts";
import { journalEntry, placeholder } from "./journalEntry.ts";
import { Mailboxes } from "./mailboxes.ts";
import { migrateActor, type Ready } from "./migrateActor.ts";
import { inputOf, Nursery, type Children, type NewActor, type Prepared } from "./nursery.ts";
import { dataOf, Outgoing, type EventObjectLike } from "./outgoing.ts";
import { refsInMessages } from "./refs.ts";
import { dropEffect, planEffect } from "./planEffect.ts";
import { linksIn } from "./restore.ts";
import { plainError, type Address, type ChildLink, type Hydrated, type SpawnRecord, type StepRecord, type StepResult, type Stepper } from "./step.ts";
import { isUnfinished, noteStanding, writeStopped } from "./stopTree.ts";
import { TreeNames } from "./treeNames.ts";

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

interface Delivery {
  readonly to: string;
  readonly event: EventObjectLike;
  readonly cause: Cause;
  /** What the journal keeps of it when that is not the event itself. */
  readonly payload?: StoredValue | null;
  /** The child actor or effect whose end this is: the name that its parent knows it by may have changed since. */
  readonly child?: string;
}

/** What waits for an actor that is in a step. */
type Waiting = Delivery | "stop";

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

/** A machine that could not make its first transition: its parent hears of it as of any failure of a child. */
class StartFailed extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

/** An event as an actor took it: what it was given, and what its machine saw of that. */
interface Taken {
  readonly id: string;
  readonly event: EventObjectLike;
  readonly given: EventObjectLike;
  readonly delivery: Delivery;
  readonly isFirst: boolean;
}

/** A step whose records are carried out. */
interface Step {
  readonly record: ActorRecord;
  readonly definition: Definition;
  readonly cause: Cause;
  readonly isFirst: boolean;
  readonly outgoing: Outgoing;
  readonly children: Children;
  /** Counts what needs a name of its own: effects, and timers without an id. */
  ordinal: number;
}

/** Computes one dispatch. A machine that throws at an internal event is faulted; at the first event of the dispatch the throw is the caller's. */
export class Cascade {
  private readonly draft: Draft;
  private readonly env: CascadeEnv;
  private readonly faults: Faults;
  private readonly mailboxes = new Mailboxes<Waiting>();
  private readonly names: TreeNames;
  private readonly nursery: Nursery;
  private deliveries = 0;
  private steps = 0;
  private events = 0;
  private reply: unknown = undefined;

  constructor(draft: Draft, env: CascadeEnv, faults: Faults) {
    this.draft = draft;
    this.names = new TreeNames(draft);
    this.nursery = new Nursery({ draft, env, names: this.names, mailboxes: this.mailboxes, count: (actor) => this.count(actor) });
    this.env = env;
    this.faults = faults;
  }

  /** Starts a root actor, and all that follows. @throws what its first transition throws */
  async start(actor: NewActor): Promise<void> {
    this.mailboxes.open(actor.id);
    try {
      await this.init(await this.nursery.prepare(actor), null);
    } catch (error) {
      throw error instanceof StartFailed ? error.cause : error;
    }
    await this.takeWaiting(actor.id);
  }

  /** Applies an event from outside, and all that follows. @throws what its guards and assigns throw; then nothing of the draft may be committed */
  async send(to: string, event: EventObjectLike, payload: StoredValue | null, cause: Cause = null): Promise<Delivered> {
    this.mailboxes.open(to);
    const delivered = await this.deliver({ to, event, cause, payload }, true);
    await this.takeWaiting(to);
    return { ...delivered, reply: this.reply };
  }

  /** Applies an event of Pawl's own (timer, result of the effect `child`), and all that follows; never throws for what the machine does. */
  async sendInternal(to: string, event: EventObjectLike, child?: string): Promise<void> {
    await this.hand({ to, event, cause: null, ...(child === undefined ? {} : { child }) });
  }

  /** An actor with its definition, ready to step; one whose version is gone is migrated first, in this same commit. @throws restoreRefused */
  async ready(held: Held): Promise<Ready> {
    const { record } = held;
    const definition = await this.env.definitionOf(record);
    if (definition.version !== record.machineVersion) return this.migrate(record, definition);
    return { definition, record, hydrated: held.hydrated ?? this.env.hydrate(definition, record) };
  }

  /** Has the event taken now, or when its actor has come to the end of the step that it is in. */
  private async hand(delivery: Delivery): Promise<void> {
    const { to } = delivery;
    if (this.mailboxes.holds(to, delivery)) return;
    this.mailboxes.open(to);
    await this.take(delivery);
    await this.takeWaiting(to);
  }

  private async takeWaiting(actor: string): Promise<void> {
    for (let next = this.mailboxes.next(actor); next; next = this.mailboxes.next(actor)) await (next === "stop" ? this.stopNow(actor) : this.take(next));
  }

  private async take(delivery: Delivery): Promise<void> {
    const number = (this.deliveries += 1);
    if (this.faults.has(number)) return this.fault(delivery, this.faults.get(number));
    try {
      await this.deliver(delivery, false);
    } catch (error) {
      // It is not the machine that cannot take the event: the actor waits as it is until its machine is back.
      if (error instanceof FaultAt || error instanceof SetAside || (isPawlError(error) && error.code === "restoreRefused")) throw error;
      throw new FaultAt(number, error);
    }
  }

  private count(actor: string): void {
    this.steps += 1;
    if (this.steps > cascadeLimit)
      throw new PawlError(
        "cascadeLimit",
        `An event caused more than ${cascadeLimit} steps, the last at actor "${actor}": actors send events to each other in a loop, or start too many others at once. Nothing of it was stored; break the loop in their machines, or start fewer at a time.`,
        { subject: actor },
      );
  }

  private async deliver(delivery: Delivery, isFirst: boolean): Promise<Delivered> {
    const held = await this.draft.actor(delivery.to);
    if (!held) return { status: "missing", revision: 0, reply: undefined };
    if (held.record.status === "faulted" && !isFirst) return this.keep(held.record, delivery);
    if (held.record.status !== "active") return { status: "finished", revision: held.record.revision, reply: undefined };
    this.count(held.record.id);
    const { record, definition, hydrated } = await this.ready(held);
    this.draft.steps(held);
    const stepper = this.env.stepper(definition);
    const given = this.given(delivery, stepper, hydrated);
    if (!given) return { status: "ignored", revision: record.revision, reply: undefined };
    const { id, event } = this.envelope(given);
    if (definition.stepper) this.draft.turn.begin(record.id);
    const result = await this.names.given(record.id, record.root, (names) =>
      stepper.step(names ? this.env.hydrate(definition, record) : hydrated, event, names),
    );
    if (!result.changed) return { status: "ignored", revision: record.revision, reply: undefined };
    const next: ActorRecord = { ...record, revision: record.revision + 1, updatedAt: this.draft.at };
    const children = await this.nursery.prepareChildren(result.asked, next, definition, false);
    await this.applied(next, record.revision, definition, result, children, {
      id,
      event,
      given,
      delivery,
      isFirst,
    });
    return { status: "applied", revision: record.revision + 1, reply: undefined };
  }

  /** The event, under the name that the actor knows its child by now; nothing for the end of a child that it does not have any more. */
  private given({ event, child }: Delivery, stepper: Stepper, hydrated: Hydrated): EventObjectLike | undefined {
    if (child === undefined) return event;
    const known = stepper.children(hydrated).find(({ link }) => link.actor === child || link.effect === child);
    return known && endOf(known.key, event);
  }

  /** `at` and `id` are on every event; an event's own fields of these names are its own. `id`: the envelope's, whatever the event says. */
  private envelope(event: EventObjectLike): { readonly id: string; readonly event: EventObjectLike } {
    const id = this.events === 0 ? this.draft.eventId : `${this.draft.eventId}/${this.events}`;
    this.events += 1;
    return { id, event: { at: this.draft.at, id, ...event } };
  }

  private async init({ actor, result, children }: Prepared, cause: Cause): Promise<void> {
    const { draft } = this;
    const { definition, input } = actor;
    if (result.status === "error") throw new StartFailed(result.error);
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
    const given = { type: "xstate.init", input };
    const payload = input === undefined ? null : draft.store({ input }, inputOf(actor.id));
    await this.applied(record, 0, definition, result, children, {
      ...this.envelope(given),
      given,
      isFirst: false,
      delivery: { to: actor.id, event: given, cause, payload },
    });
  }

  /** Writes a step's outcome: what it asked for in order, then the actor itself. */
  private async applied(
    record: ActorRecord,
    before: number,
    definition: Definition,
    result: StepResult,
    children: Children,
    { id, event, given, delivery, isFirst }: Taken,
  ): Promise<void> {
    const { draft } = this;
    const cause: Cause = { index: draft.journal.length };
    // The place in the journal is taken now, so that what follows from this step stands behind it.
    draft.journal.push(placeholder);
    draft.putActor({ record, hydrated: result.next }, before);
    this.names.started(record.systemId);
    const step: Step = {
      record,
      definition,
      cause,
      isFirst,
      outgoing: new Outgoing(record.id, given, event),
      children,
      ordinal: 0,
    };
    for (const asked of result.records) await this.apply(asked, step);
    const status: ActorStatus = result.status;
    const stepper = this.env.stepper(definition);
    const text = stepper.persist(result.next);
    const stored: ActorRecord = { ...record, status, snapshot: text.snapshot };
    draft.putActor({ record: stored, hydrated: result.next }, before);
    const payload = delivery.payload === undefined ? this.payloadOf(given) : delivery.payload;
    draft.journal[cause.index] = journalEntry(stored, { eventId: id, type: event.type, payload, at: draft.at, cause: delivery.cause }, text);
    const view = viewOf(stored, result.next.snapshot);
    for (const row of definition.project?.(view) ?? []) draft.rows.set(`${row.table}\n${row.row.id}`, row);
    draft.changes.push({ kind: "actor", view, event: { ...event, id }, at: draft.at });
    if (status !== "active") await this.finished(stored, result, cause);
  }

  private payloadOf(event: EventObjectLike): StoredValue | null {
    const { type, ...payload } = event;
    return Object.keys(payload).length === 0 ? null : this.draft.store(payload, `event "${type}"`);
  }

  private async apply(asked: StepRecord, step: Step): Promise<void> {
    const { draft } = this;
    const { record, outgoing, cause } = step;
    switch (asked.kind) {
      case "spawn":
        await this.spawn(asked, step);
        return;
      case "stop":
        if (asked.link) await this.stop(asked.link);
        return;
      case "timer": {
        const to = this.resolve(asked.to, record);
        const key = asked.key ?? `${record.revision}:${step.ordinal}`;
        step.ordinal += 1;
        if (to !== null)
          draft.putTimer({
            op: "set",
            timer: {
              actor: record.id,
              key,
              dueAt: draft.at + asked.delayMs,
              to,
              event: outgoing.text(asked.event, `delayed event "${asked.event.type}"`),
              revision: record.revision,
            },
          });
        return;
      }
      case "cancelTimer":
        draft.putTimer({ op: "clear", actor: record.id, key: asked.key });
        return;
      case "send": {
        const to = this.resolve(asked.to, record);
        if (to !== null) await this.hand({ to, event: outgoing.event(asked.event), cause });
        return;
      }
      case "emit": {
        const event = outgoing.event(asked.event, `event "${asked.event.type}" emitted`);
        if (step.isFirst && event.type === "pawl.reply") {
          const { type: _type, ...reply } = event;
          this.reply = reply;
        } else draft.changes.push({ kind: "emitted", actor: record.id, root: record.root, event, at: draft.at });
        return;
      }
      case "log":
        draft.changes.push({
          kind: "log",
          actor: record.id,
          root: record.root,
          label: asked.label,
          value: dataOf(asked.value, `value logged by actor "${record.id}"`),
          at: draft.at,
        });
        return;
      case "action": {
        const mark = markOf(asked.implementation);
        if (mark?.kind === "effect") {
          this.plan(step, null, mark.type, mark.options as EffectOptions<unknown>, asked.params);
        } else if (asked.exec) draft.volatile.push(asked.exec);
      }
    }
  }

  private resolve(address: Address, record: ActorRecord): string | null {
    switch (address.kind) {
      case "self":
        return record.id;
      case "parent":
        return record.parent;
      case "actor":
        return address.id;
      case "child":
        return address.link.actor ?? null; // a promise takes no events
    }
  }

  private async spawn(asked: SpawnRecord, step: Step): Promise<void> {
    const { record, cause } = step;
    if (asked.replaces) await this.checkReplaced(asked.replaces, asked.key, record);
    const prepared = step.children.get(asked.link);
    if (prepared) {
      const { id } = prepared.actor;
      try {
        await this.init(prepared, cause);
      } catch (error) {
        if (!(error instanceof StartFailed)) throw error;
        this.mailboxes.close(id);
        this.names.started(asked.systemId);
        const event = { type: `xstate.error.actor.${asked.key}`, error: plainError(error.cause), actorId: asked.key };
        await this.hand({ to: record.id, event, cause, child: id });
        return;
      }
      return this.takeWaiting(id);
    }
    const { type, options } = asked.as?.kind === "effect" ? asked.as : childEffect(step.definition, asked.src);
    asked.link.effect = this.plan(step, asked.key, type, options, asked.input);
  }

  /** A name may be given again when the child that had it has ended. */
  private async checkReplaced(link: ChildLink, key: string, record: ActorRecord): Promise<void> {
    const actor = link.actor === undefined ? null : await this.draft.actor(link.actor);
    const effect = link.effect === undefined ? null : await this.draft.effect(link.effect);
    if ((actor && isUnfinished(actor.record)) || (effect && isOpen(effect.state)))
      throw new PawlError(
        "invalidMachine",
        `Actor "${record.id}" starts a second child "${key}" while the first is running: nothing could stop the first any more. Stop it before (stopChild("${key}")), or give the second another id.`,
        { subject: record.id },
      );
  }

  private plan(step: Step, invokeId: string | null, type: string, options: EffectOptions<unknown>, input: unknown): string {
    const { record, ordinal } = step;
    step.ordinal += 1;
    return planEffect(this.draft, record, { invokeId, type, options, input, ordinal }, this.env.isAdopted(record.root));
  }

  /** The parent no longer wants this child: an effect is dropped, an actor stops with its children. */
  private async stop(link: ChildLink): Promise<void> {
    if (link.effect !== undefined) await dropEffect(this.draft, link.effect);
    if (link.actor !== undefined) await this.stopActor(link.actor);
  }

  /** An actor that is in a step comes to its end first, and then takes nothing more. */
  private async stopActor(id: string): Promise<void> {
    if (!this.mailboxes.isOpen(id)) return this.stopNow(id);
    this.mailboxes.clear(id);
    this.mailboxes.holds(id, "stop");
    this.names.stops(id);
  }

  /** Needs no machine: what cannot be restored can still be cancelled. */
  private async stopNow(id: string): Promise<void> {
    const held = await this.draft.actor(id);
    this.names.stopped(id);
    if (!held || !isUnfinished(held.record)) return;
    for (const link of linksIn(held)) await this.stop(link);
    await writeStopped(this.env, this.draft, held.record, this.envelope({ type: "xstate.stop" }).id);
  }

  private migrate(before: ActorRecord, definition: Definition): Promise<Ready> {
    const start = async (spawns: readonly SpawnRecord[], record: ActorRecord, cause: Cause): Promise<void> => {
      const migrated = { type: "pawl.migrated" };
      const children = await this.nursery.prepareChildren(spawns, record, definition, false);
      const step: Step = { record, definition, cause, isFirst: false, outgoing: new Outgoing(record.id, migrated, migrated), children, ordinal: 0 };
      for (const asked of spawns) await this.spawn(asked, step);
    };
    return migrateActor(this.draft, this.env, { stop: (link) => this.stop(link), start }, before, definition);
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
    await this.hand({ to: record.parent, event: readBack(jsonText(event, `output of actor "${record.id}"`, refsInMessages)), cause, child: record.id });
  }

  /** SPEC 16: an internal event whose guard or assign throws leaves the actor as it was, faulted, with the event kept. */
  private async fault(delivery: Delivery, error: unknown): Promise<void> {
    const held = await this.draft.actor(delivery.to);
    if (!held) throw error;
    const { record } = held;
    const definition = await this.env.definitionOf(record);
    const message = messageOf(error);
    const type = "pawl.faulted";
    const event = { type, id: this.envelope({ type }).id };
    const faulted: ActorRecord = { ...record, revision: record.revision + 1, status: "faulted", updatedAt: this.draft.at };
    const standing = noteStanding(this.draft, faulted, event, { event: delivery.event, message }, delivery.cause);
    this.draft.putActor({ record: faulted, hydrated: null }, record.revision);
    const view: ActorView = { ...standing, output: undefined, error: { reason: "faulted", message } };
    for (const row of definition.project?.(view) ?? []) this.draft.rows.set(`${row.table}\n${row.row.id}`, row);
    this.draft.changes.push({ kind: "actor", view, event, at: this.draft.at });
    await this.tellFault(record, message);
  }

  /** A faulted actor takes nothing, and loses nothing that timers, effects and other actors tell it: it is delivered when the fault is mended. */
  private keep(record: ActorRecord, delivery: Delivery): Delivered {
    const kept: ActorRecord = { ...record, revision: record.revision + 1, updatedAt: this.draft.at };
    const type = "pawl.kept";
    noteStanding(this.draft, kept, { type, id: this.envelope({ type }).id }, { event: delivery.event }, delivery.cause);
    this.draft.putActor({ record: kept, hydrated: null }, record.revision);
    return { status: "finished", revision: kept.revision, reply: undefined };
  }

  /** The nearest actor above that has an answer to it hears of the fault. */
  private async tellFault(record: ActorRecord, message: string): Promise<void> {
    for (let below = record; below.parent !== null;) {
      const above = await this.draft.actor(below.parent);
      if (!above) return;
      if ((await this.env.definitionOf(above.record)).machine.events.includes(childFaulted)) {
        await this.hand({ to: above.record.id, event: { type: childFaulted, child: below.childKey, actor: record.id, message }, cause: null });
        return;
      }
      below = above.record;
    }
  }
}

/** A child's end under the name that its parent knows it by: a migration may have given the child another one. */
function endOf(key: string, event: EventObjectLike): EventObjectLike {
  const [kind] = /^xstate\.(done|error)\.actor\./.exec(event.type) ?? [""];
  return event["actorId"] === key || kind === "" ? event : { ...event, type: `${kind}${key}`, actorId: key };
}

export type { EventObjectLike, Held, Hydrated };

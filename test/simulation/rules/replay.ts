/** The journal replayed as it grows, by a second and simpler telling of what a dispatch does. From each event that came from outside, a timer or a result
 *  it foretells every row that must follow, and what must then be stored: snapshots, timers, children and effects.
 *  Each step starts from a snapshot restored from text, so that what stayed in memory is compared with what was read back.
 *  A cast to `never` stands where a mark has forgotten its logic's input type. */
import { createHash } from "node:crypto";
import { markOf } from "../../../machines/define.ts";
import type { JournalRow } from "../../../persistence/store.ts";
import type { Definition, DefinitionRegistry } from "../../../src/runtime/definition.ts";
import type { ChildLink } from "../../../src/runtime/refs.ts";
import { childLogic, isMachineLogic, plainError, type StepResult } from "../../../src/runtime/step.ts";
import { inLiveOrder, type Address, type SpawnRecord, type StepRecord } from "../../../src/runtime/stepRecords.ts";
import { authorMachineId, machineVersion, placeOf } from "../../../src/host/author/authorMachine.ts";
import { must, Violation } from "../core/world.ts";
import { Chronicle, isSame, timerId, type EventLike, type Origin, type Told, type ToldEffect } from "./chronicle.ts";
import type { State } from "./state.ts";

interface Delivery {
  readonly to: string;
  readonly event: EventLike;
  /** Null: it came from outside, from a timer or a result, or from a fault. */
  readonly cause: number | null;
  /** The child actor whose end this is. */
  readonly child?: string;
}

/** A step whose records are carried out. */
interface Step {
  readonly told: Told;
  readonly row: JournalRow;
  readonly isFirst: boolean;
  readonly children: ReadonlyMap<ChildLink, Definition>;
  ordinal: number;
}

const rule = "SIM-7";

export class Replay extends Chronicle {
  private readonly registry: DefinitionRegistry;
  /** What waits for actors that are in a step. */
  private readonly waiting = new Map<string, (Delivery | "stop")[]>();
  private origin: Origin | null = null;

  constructor(state: State, registry: DefinitionRegistry) {
    super(state.store);
    this.registry = registry;
  }

  /** Explains the rows that were written since. @throws Violation */
  async follow(rows: readonly JournalRow[]): Promise<void> {
    this.read(rows);
    for (let row = this.peek(); row !== undefined; row = this.peek()) await this.dispatch(row);
  }

  private async dispatch(row: JournalRow): Promise<void> {
    must(
      row.causeSeq === null,
      rule,
      () => `row ${row.seq} (${row.type} of ${row.actor}) says that row ${String(row.causeSeq)} caused it, which asked for no such thing`,
    );
    this.waiting.clear();
    const payload = await this.payload(row);
    switch (row.type) {
      case "xstate.init":
        this.arose(row, { type: row.type, input: payload["input"] });
        this.waiting.set(row.actor, []);
        await this.begin(row);
        await this.takeWaiting(row.actor);
        return;
      case "pawl.retried":
        return this.retry(row);
      case "xstate.stop":
        this.stopTree(this.known(row.actor).root);
        return;
      case "pawl.faulted":
      case "pawl.kept": {
        const event = payload["event"] as EventLike; // what the cascade writes with a fault
        this.arose(row, event);
        return this.hand({ to: row.actor, event, cause: null });
      }
      default: {
        const event: EventLike = { type: row.type, ...payload };
        this.arose(row, event);
        must(
          this.known(row.actor).status === "active",
          "SIM-9",
          () => `${row.actor} is ${this.known(row.actor).status}, and took ${row.type} in row ${row.seq}`,
        );
        this.waiting.set(row.actor, []);
        await this.deliver({ to: row.actor, event, cause: null }, true);
        must(this.peek() !== row, rule, () => `row ${row.seq}: ${row.type} means nothing to ${row.actor} in its state, and is in its journal`);
        await this.takeWaiting(row.actor);
      }
    }
  }

  /** Where the event comes from: a timer is used up and fires not before its time, a result is told once and to somebody who waits. */
  private arose(row: JournalRow, event: EventLike): void {
    this.origin = { row, event, reply: undefined };
    this.origins.set(row.eventId, this.origin);
    if (row.eventId.startsWith("timer:")) this.spend(row, event);
    const match = /^xstate\.(done|error)\.actor\.(.+)$/.exec(event.type);
    if (!match) return;
    const [, end = "", key = ""] = match;
    const effectKey = this.links(this.known(row.actor)).get(key)?.effect;
    const effect = effectKey === undefined ? undefined : this.effects.get(effectKey);
    must(effect !== undefined, "SIM-3", () => `row ${row.seq}: ${row.actor} is told ${event.type}, but waits for no effect "${key}": ${JSON.stringify(event)}`);
    must(effect.end === null && !effect.dropped, "SIM-3", () => `row ${row.seq}: the result of ${effect.key} is told a second time`);
    effect.end = end === "done" ? "done" : "error";
  }

  private spend(row: JournalRow, event: EventLike): void {
    const timer = [...this.timers.values()].find((one) => row.eventId === `timer:${one.actor}:${one.key}:${one.revision}`);
    must(timer !== undefined, "SIM-8", () => `row ${row.seq}: ${row.eventId} fired, but no such timer was armed`);
    must(timer.dueAt <= row.at, "SIM-8", () => `row ${row.seq}: ${row.eventId} fired at ${row.at}, ${timer.dueAt - row.at} ms before its time`);
    const isAsArmed = timer.to === row.actor && isSame(event, JSON.parse(timer.event));
    must(isAsArmed, "SIM-8", () => `row ${row.seq}: ${row.eventId} fired as ${JSON.stringify(event)} at ${row.actor}, armed was ${timer.event} at ${timer.to}`);
    this.timers.delete(timerId(timer.actor, timer.key));
  }

  /** A mended fault: what was kept is delivered, in order. */
  private async retry(row: JournalRow): Promise<void> {
    const told = this.known(row.actor);
    must(told.status === "faulted", rule, () => `row ${row.seq}: ${row.actor} is ${told.status}, and its fault is tried again`);
    this.raise(
      told,
      this.take("a retry", () => true),
    );
    told.status = "active";
    const { kept } = told;
    told.kept = [];
    for (const event of kept) await this.hand({ to: told.id, event, cause: null });
  }

  private async hand(delivery: Delivery): Promise<void> {
    const waiting = this.waiting.get(delivery.to);
    if (waiting) {
      waiting.push(delivery);
      return;
    }
    this.waiting.set(delivery.to, []);
    await this.deliver(delivery, false);
    await this.takeWaiting(delivery.to);
  }

  private async takeWaiting(actor: string): Promise<void> {
    for (;;) {
      const next = this.waiting.get(actor)?.shift();
      if (next === undefined) break;
      if (next === "stop") this.stopNow(actor);
      else await this.deliver(next, false);
    }
    this.waiting.delete(actor);
  }

  private async deliver(delivery: Delivery, isFirst: boolean): Promise<void> {
    const { to, event, cause, child } = delivery;
    const told = this.actors.get(to);
    if (told?.status === "faulted") {
      const row = this.take(`${event.type}, kept for ${to},`, (one) => one.actor === to && one.type === "pawl.kept" && one.causeSeq === cause);
      this.raise(told, row);
      told.kept.push(event);
      return;
    }
    if (told?.status !== "active") return;
    if (child !== undefined && ![...this.links(told).values()].some((link) => link.actor === child)) return;
    let result: StepResult;
    try {
      result = this.step(told, event);
      // What cannot be stored is as good as thrown.
      this.stepper(told.definition).persist(result.next);
    } catch (error) {
      if (error instanceof Violation) throw error;
      return this.fault(told, delivery, error);
    }
    if (!result.changed) return;
    const row = this.take(
      `${event.type} of ${to}, caused by row ${String(cause)},`,
      (one) => one.actor === to && one.type === event.type && one.causeSeq === cause,
    );
    const payload = { type: row.type, ...(await this.payload(row)) };
    must(isSame(payload, event), rule, () => `row ${row.seq}: ${to} got ${JSON.stringify(payload)}, sent was ${JSON.stringify(event)}`);
    await this.applied(told, result, row, isFirst);
  }

  private async fault(told: Told, { event, cause }: Delivery, error: unknown): Promise<void> {
    const row = this.take(`a fault of ${told.id} at ${event.type}`, (one) => one.actor === told.id && one.type === "pawl.faulted" && one.causeSeq === cause);
    this.raise(told, row);
    told.status = "faulted";
    told.kept = [event];
    const message = error instanceof Error ? error.message : String(error);
    for (let below: Told = told; below.parent !== null;) {
      const above = this.known(below.parent);
      if (above.definition.machine.events.includes("pawl.childFaulted"))
        return this.hand({ to: above.id, event: { type: "pawl.childFaulted", child: below.childKey, actor: told.id, message }, cause: null });
      below = above;
    }
  }

  private async begin(first: JournalRow): Promise<void> {
    const [record] = await this.store.load([first.actor]);
    must(record !== undefined, rule, () => `${first.actor} has rows in the journal and is not stored`);
    must(record.parent === null, rule, () => `${first.actor} began without its parent ${String(record.parent)} asking for it`);
    const definition = await this.registry.find(record.machineId, record.machineVersion);
    must(definition !== undefined, rule, () => `row ${first.seq}: machine ${record.machineId} is not registered`);
    await this.init(first.actor, definition, null, null, null);
  }

  private async init(id: string, definition: Definition, parent: Told | null, asked: SpawnRecord | null, cause: number | null): Promise<void> {
    const row = this.take(`the beginning of ${id}`, (one) => one.actor === id && one.type === "xstate.init" && one.causeSeq === cause);
    const { input } = await this.payload(row);
    if (asked)
      must(isSame(input, asked.input), rule, () => `row ${row.seq}: ${id} began with ${JSON.stringify(input)}, asked for was ${JSON.stringify(asked.input)}`);
    const childKey = asked?.key ?? null;
    const told: Told = {
      id,
      parent: parent?.id ?? null,
      childKey,
      root: parent?.root ?? id,
      definition,
      status: "active",
      revision: 0,
      snapshot: "",
      kept: [],
    };
    this.actors.set(id, told);
    await this.applied(told, this.stepper(definition).init(id, told.parent, this.inputOf(definition, input), childKey), row, false);
  }

  private async applied(told: Told, result: StepResult, row: JournalRow, isFirst: boolean): Promise<void> {
    this.raise(told, row);
    const children = await this.named(result.asked, told);
    const step: Step = { told, row, isFirst, children, ordinal: 0 };
    for (const asked of this.inOrder(result, told, children)) await this.apply(asked, step);
    const text = this.stepper(told.definition).persist(result.next);
    told.snapshot = text.snapshot;
    told.status = result.status;
    must(row.stateValue === text.value, rule, () => `row ${row.seq}: ${told.id} is in ${row.stateValue}, replayed it is in ${text.value}`);
    const hash = createHash("sha256").update(text.context).digest("hex");
    must(row.contextHash === hash, rule, () => `row ${row.seq}: ${told.id} has another context than replaying gives: ${text.context}`);
    must(row.snapshot === null || row.snapshot === text.snapshot, rule, () => `row ${row.seq}: the base kept of ${told.id} is not what replaying gives`);
    if (told.status === "active") return;
    this.clearTimers(told.id);
    if (told.parent === null || told.childKey === null) return;
    const actorId = told.childKey;
    const end =
      result.status === "done"
        ? { type: `xstate.done.actor.${actorId}`, output: result.output, actorId }
        : { type: `xstate.error.actor.${actorId}`, error: plainError(result.error), actorId };
    await this.hand({ to: told.parent, event: copied(end), cause: row.seq, child: told.id });
  }

  /** As live actors carry it out: one that begins starts those of its children first that do not end at once. */
  private inOrder(result: StepResult, told: Told, children: ReadonlyMap<ChildLink, Definition>): readonly StepRecord[] {
    if (told.revision !== 1) return result.records;
    const ended = new Set<ChildLink>();
    for (const asked of result.asked) {
      const definition = asked.kind === "spawn" ? children.get(asked.link) : undefined;
      if (asked.kind !== "spawn" || definition === undefined) continue;
      const input = this.inputOf(definition, asked.input);
      if (this.stepper(definition).init(asked.link.actor ?? "", told.id, input, asked.key).status !== "active") ended.add(asked.link);
    }
    return inLiveOrder(result.asked, result.next.snapshot, (link) => !ended.has(link));
  }

  private async apply(asked: StepRecord, step: Step): Promise<void> {
    const { told, row } = step;
    switch (asked.kind) {
      case "spawn":
        return this.spawn(asked, step);
      case "stop":
        if (asked.link) this.stop(asked.link);
        return;
      case "timer": {
        const to = addressee(asked.to, told);
        const key = asked.key ?? `${told.revision}:${step.ordinal}`;
        step.ordinal += 1;
        if (to !== null)
          this.timers.set(timerId(told.id, key), {
            actor: told.id,
            key,
            dueAt: row.at + asked.delayMs,
            to,
            event: JSON.stringify(asked.event),
            revision: told.revision,
          });
        return;
      }
      case "cancelTimer":
        this.timers.delete(timerId(told.id, asked.key));
        return;
      case "send": {
        const to = addressee(asked.to, told);
        if (to !== null) await this.hand({ to, event: copied(asked.event), cause: row.seq });
        return;
      }
      case "emit":
        if (step.isFirst && asked.event.type === "pawl.reply" && this.origin) {
          const { type: _type, ...reply } = copied(asked.event);
          this.origin.reply = reply;
        }
        return;
      case "log":
        return;
      case "action": {
        const mark = markOf(asked.implementation);
        if (mark?.kind === "effect") this.plan(step, null, mark.type);
      }
    }
  }

  /** Children get their ids before any of them begins. */
  private async named(records: readonly StepRecord[], told: Told): Promise<ReadonlyMap<ChildLink, Definition>> {
    const children = new Map<ChildLink, Definition>();
    for (const asked of records) {
      if (asked.kind !== "spawn") continue;
      const logic = childLogic(told.definition.machine, asked.src);
      const mark = markOf(logic);
      // A child of an author's machine is found by its place, as its parent is.
      const place = told.definition.id === authorMachineId && isMachineLogic(logic) ? placeOf(told.definition.version) : undefined;
      const found = place
        ? { id: authorMachineId, version: machineVersion({ ...place, path: [...place.path, asked.src] }) }
        : mark?.kind === "machineFromInput"
          ? { id: mark.machineId, version: mark.version(asked.input as never) }
          : isMachineLogic(logic)
            ? { id: logic.id, version: null }
            : null;
      if (found === null) continue;
      const { id: machineId, version } = found;
      const definition = version === null ? this.registry.latest(machineId) : await this.registry.find(machineId, version);
      must(definition !== undefined, rule, () => `${told.id} started a child of machine ${machineId}, which is not registered`);
      const visit = mark && mark.kind !== "effect" ? mark.visit?.(asked.input as never) : undefined;
      const name = `${told.id}/${visit ?? asked.key}`;
      const id = visit === undefined && this.actors.has(name) ? `${name}.${told.revision}` : name;
      asked.link.actor = id;
      this.waiting.set(id, this.waiting.get(id) ?? []);
      children.set(asked.link, definition);
    }
    return children;
  }

  private async spawn(asked: SpawnRecord, step: Step): Promise<void> {
    const { told, row, children } = step;
    const definition = children.get(asked.link);
    const id = asked.link.actor;
    if (definition !== undefined && id !== undefined) {
      await this.init(id, definition, told, asked, row.seq);
      return this.takeWaiting(id);
    }
    const mark = markOf(childLogic(told.definition.machine, asked.src));
    asked.link.effect = this.plan(step, asked.key, mark?.kind === "effect" && mark.type !== "" ? mark.type : `promise:${asked.src}`);
  }

  private plan(step: Step, invokeId: string | null, type: string): string {
    const { told } = step;
    const key = `${told.id}@${told.revision}:${step.ordinal}`;
    step.ordinal += 1;
    const effect: ToldEffect = { key, actor: told.id, invokeId, type, dropped: false, end: null };
    this.effects.set(key, effect);
    return key;
  }

  private stop(link: ChildLink): void {
    const effect = link.effect === undefined ? undefined : this.effects.get(link.effect);
    if (effect !== undefined && effect.end === null) effect.dropped = true;
    if (link.actor === undefined) return;
    const waiting = this.waiting.get(link.actor);
    // In a step: it comes to its end first, and then takes nothing more.
    if (waiting) waiting.splice(0, waiting.length, "stop");
    else this.stopNow(link.actor);
  }

  /** A whole tree is stopped by command: everything unfinished in it, what is below first. */
  private stopTree(root: string): void {
    const left = new Set([...this.actors.values()].filter((told) => told.root === root && (told.status === "active" || told.status === "faulted")));
    while (left.size > 0) {
      const isLeaf = (told: Told | undefined): told is Told => told !== undefined && left.has(told) && ![...left].some(({ parent }) => parent === told.id);
      const row = this.take(`the stop of a leaf of ${root}`, (one) => one.type === "xstate.stop" && isLeaf(this.actors.get(one.actor)));
      const told = this.known(row.actor);
      left.delete(told);
      this.raise(told, row);
      told.status = "stopped";
      this.clearTimers(told.id);
      for (const effect of this.effects.values()) if (effect.actor === told.id && effect.end === null) effect.dropped = true;
    }
  }

  private stopNow(actor: string): void {
    const told = this.actors.get(actor);
    if (told?.status !== "active" && told?.status !== "faulted") return;
    for (const below of this.links(told).values()) this.stop(below);
    this.clearTimers(told.id);
    this.raise(
      told,
      this.take(`the stop of ${told.id}`, (one) => one.actor === told.id && one.type === "xstate.stop"),
    );
    told.status = "stopped";
  }
}

const addressee = (to: Address, told: Told): string | null => {
  switch (to.kind) {
    case "self":
      return told.id;
    case "parent":
      return told.parent;
    case "actor":
      return to.id;
    case "child":
      return to.link.actor ?? null;
  }
};

const copied = (event: EventLike): EventLike => JSON.parse(JSON.stringify(event));

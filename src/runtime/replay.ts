/** Derives an actor's latest steps again, from the last base in its journal with the definitions that are registered, and compares.
 *  A difference means a machine that is not pure, or a journal that was changed. Code that is not there means nothing at all. */
import { sha256Hex } from "../digest.ts";
import type { ActorRecord, JournalRow, Store } from "../../persistence/store.ts";
import { isPawlError, messageOf } from "../errors.ts";
import type { Definition, DefinitionRegistry } from "./definition.ts";
import { createStepper, isMachineLogic, childLogic, NeedsNames, type Hydrated, type Stepper, type StepResult, type SystemNames } from "./step.ts";
import { markOf } from "../../machines/define.ts";
import { valueOf } from "./values.ts";

type ReplayStore = Pick<Store, "journal" | "blob" | "query">;

/** How far an actor's journal could be derived again. */
export type Replay =
  /** Every step from the base on gave the stored state and context. */
  | { readonly outcome: "same"; readonly base: number; readonly steps: number }
  | {
      readonly outcome: "different";
      readonly base: number;
      readonly steps: number;
      /** The first step that gave another state or context, or threw. */
      readonly revision: number;
      readonly seq: number;
      readonly event: string;
      readonly stored: string;
      readonly derived: string;
    }
  /** The base, a value or the code of the time is not there: nothing can be said. */
  | { readonly outcome: "notReplayable"; readonly reason: string };

/** Rows of what was noted about an actor without a step of its machine. */
const standing: readonly string[] = ["xstate.stop", "pawl.faulted", "pawl.kept", "pawl.retried"];

/** Errors that say that a machine's code is not to be had. */
const codeIsGone: readonly string[] = ["sourceUnloadable", "workerUnavailable"];

const pageSize = 200;

export class Replayer {
  private readonly store: ReplayStore;
  private readonly registry: DefinitionRegistry;
  private readonly steppers = new WeakMap<Definition, Stepper>();

  constructor(store: ReplayStore, registry: DefinitionRegistry) {
    this.store = store;
    this.registry = registry;
  }

  /** Replays one actor. Reads a page of its journal at a time. */
  async replay(record: ActorRecord): Promise<Replay> {
    const rows = await this.sinceBase(record);
    const [base] = rows;
    if (base === undefined || base.snapshot === null) return { outcome: "notReplayable", reason: `its journal has no base before revision ${record.revision}` };
    try {
      return await this.derive(record, base, base.snapshot, rows);
    } catch (error) {
      if (error instanceof NotReplayable) return { outcome: "notReplayable", reason: error.message };
      throw error;
    }
  }

  private async derive(record: ActorRecord, base: JournalRow, snapshot: string, rows: readonly JournalRow[]): Promise<Replay> {
    const first = await this.stepperOf(record, base);
    let at: Hydrated = first.stepper.hydrate(record.id, record.parent, snapshot, record.childKey);
    let steps = 0;
    const different = (row: JournalRow, stored: string, derived: string): Replay => ({
      outcome: "different",
      base: base.revision,
      steps,
      revision: row.revision,
      seq: row.seq,
      event: row.type,
      stored,
      derived,
    });
    // A base that is the beginning can be derived too.
    const begun = base.revision === 1 && base.type === "xstate.init" ? [base] : [];
    for (const row of [...begun, ...rows.slice(1)]) {
      if (standing.includes(row.type)) continue;
      const { stepper, definition } = await this.stepperOf(record, row);
      const payload = await this.payloadOf(row);
      const event = { at: row.at, id: row.eventId, ...payload, type: row.type };
      let result: StepResult;
      try {
        result = await this.step(record, row, (names) => {
          if (row.type === "xstate.init" && row.revision === 1) return stepper.init(record.id, record.parent, payload["input"], record.childKey, names);
          // Hydrated anew: the try without names may have left traces.
          const from = names ? stepper.hydrate(record.id, record.parent, stepper.persist(at).snapshot, record.childKey) : at;
          return stepper.step(from, event, names);
        });
      } catch (error) {
        if (error instanceof NotReplayable) throw error;
        return different(row, `state ${row.stateValue}`, `the machine threw: ${messageOf(error)}`);
      }
      await this.linkChildren(record, row, definition, result);
      const derived = stepper.persist(result.next);
      if (derived.value !== row.stateValue) return different(row, `state ${row.stateValue}`, `state ${derived.value}`);
      const hash = sha256Hex(derived.context);
      if (hash !== row.contextHash) return different(row, `a context with hash ${row.contextHash}`, `a context with hash ${hash}`);
      if (row !== base) at = result.next;
      steps += 1;
    }
    return this.compareEnd(record, rows) ?? { outcome: "same", base: base.revision, steps };
  }

  /** The row of the actor itself, against the end of its journal. */
  private compareEnd(record: ActorRecord, rows: readonly JournalRow[]): Replay | null {
    const last = rows.at(-1);
    if (last === undefined) return null;
    const { value, context }: { value?: unknown; context?: unknown } = JSON.parse(record.snapshot);
    const [state, hash] = [JSON.stringify(value), sha256Hex(JSON.stringify(context))];
    const base = rows[0]?.revision ?? 0;
    const of = { outcome: "different", base, steps: rows.length - 1, revision: last.revision, seq: last.seq, event: last.type } as const;
    if (last.revision !== record.revision) return { ...of, stored: `revision ${record.revision}`, derived: `a journal that ends at revision ${last.revision}` };
    if (state !== last.stateValue) return { ...of, stored: `state ${state} in the actor's row`, derived: `state ${last.stateValue}` };
    return hash === last.contextHash
      ? null
      : { ...of, stored: `a context with hash ${hash} in the actor's row`, derived: `a context with hash ${last.contextHash}` };
  }

  /** The journal from the last base on, oldest first. */
  private async sinceBase(record: ActorRecord): Promise<readonly JournalRow[]> {
    const rows: JournalRow[] = [];
    for (let until = record.revision; until > 0;) {
      const from = Math.max(1, until - pageSize + 1);
      const page = (await this.store.journal(record.id, from, pageSize)).filter(({ revision }) => revision <= until);
      const base = page.findLastIndex(({ snapshot }) => snapshot !== null);
      rows.unshift(...page.slice(Math.max(0, base)));
      if (base >= 0) break;
      until = from - 1;
    }
    return rows;
  }

  private async stepperOf(record: ActorRecord, row: JournalRow): Promise<{ readonly stepper: Stepper; readonly definition: Definition }> {
    const definition = await this.find(record.machineId, row.machineVersion);
    if (definition === undefined || definition.version !== row.machineVersion)
      throw new NotReplayable(`machine "${record.machineId}" version ${row.machineVersion}, which took revision ${row.revision}, is not registered`);
    if (definition.digest !== row.definitionDigest)
      throw new NotReplayable(
        `machine "${record.machineId}" version ${row.machineVersion} is registered with another definition than the one that took revision ${row.revision}`,
      );
    const stepper = definition.stepper ?? this.steppers.get(definition) ?? createStepper(definition.machine);
    this.steppers.set(definition, stepper);
    return { stepper, definition };
  }

  private async find(machineId: string, version: string): Promise<Definition | undefined> {
    try {
      return await this.registry.find(machineId, version);
    } catch (error) {
      if (isPawlError(error)) throw new NotReplayable(error.message);
      throw error;
    }
  }

  private async payloadOf(row: JournalRow): Promise<{ readonly [key: string]: unknown }> {
    if (row.payload === null) return {};
    try {
      const payload = await valueOf(this.store, row.payload);
      return typeof payload === "object" && payload !== null ? { ...payload } : {};
    } catch (error) {
      throw new NotReplayable(`the event of revision ${row.revision} cannot be read: ${messageOf(error)}`);
    }
  }

  private async step(record: ActorRecord, row: JournalRow, take: (names?: SystemNames) => StepResult | Promise<StepResult>): Promise<StepResult> {
    try {
      return await take();
    } catch (error) {
      if (error instanceof NeedsNames) return this.step(record, row, await this.withNames(record, row, take));
      if (isPawlError(error) && codeIsGone.includes(error.code)) throw new NotReplayable(error.message);
      throw error;
    }
  }

  private async withNames<T>(record: ActorRecord, row: JournalRow, take: (names?: SystemNames) => T): Promise<() => T> {
    const names = await this.namesAt(record.root, row.at);
    return () => take(names);
  }

  /** Who had which system id in a tree at a time. */
  private async namesAt(root: string, at: number): Promise<SystemNames> {
    const names = new Map<string, string>();
    for await (const actor of this.actors({ root }))
      if (actor.systemId !== null && actor.createdAt <= at && (actor.status === "active" || actor.status === "faulted" || actor.updatedAt >= at))
        names.set(actor.systemId, actor.id);
    return names;
  }

  /** A context may hold references to children, which name the actors that the runtime made of them. */
  private async linkChildren({ id }: ActorRecord, row: JournalRow, { machine }: Definition, { records }: StepResult): Promise<void> {
    const spawned = records.filter((asked) => asked.kind === "spawn" && (asked.as ? asked.as.kind === "actor" : startsActor(childLogic(machine, asked.src))));
    if (spawned.length === 0) return;
    const children: ActorRecord[] = [];
    for await (const actor of this.actors({ parent: id })) if (actor.createdAt === row.at) children.push(actor);
    for (const asked of spawned) {
      if (asked.kind !== "spawn") continue;
      const named = children.filter(({ childKey }) => childKey === asked.key);
      const child = named.find((actor) => actor.id.endsWith(`.${row.revision}`)) ?? named[0];
      if (child) asked.link.actor = child.id;
    }
  }

  private async *actors(filter: { readonly root: string } | { readonly parent: string }): AsyncGenerator<ActorRecord> {
    for (let cursor: string | undefined; ;) {
      const page = await this.store.query("actors", filter, { limit: pageSize, cursor });
      yield* page.items;
      if (page.cursor === null) return;
      cursor = page.cursor;
    }
  }
}

const startsActor = (logic: unknown): boolean => isMachineLogic(logic) || markOf(logic)?.kind === "machineFromInput";

/** What is needed to replay is not there. */
class NotReplayable extends Error {
  override readonly name = "NotReplayable";
}

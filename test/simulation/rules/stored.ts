/** What stands in the database is what the replayed journal says: actors, timers, index rows (SIM-6 to SIM-11), and the effects of rules/effects.ts. */
import type { ActorRecord, JournalRow, RowWrite, TimerRecord } from "../../../persistence/store.ts";
import { must, type Rule } from "../core/world.ts";
import type { Power } from "../parts/power.ts";
import type { World } from "../core/world.ts";
import type { EffectBook } from "./effects.ts";
import { isSame, timerId, type Told } from "./chronicle.ts";
import type { Replay } from "./replay.ts";
import type { State } from "./state.ts";

const everyTimer = 10_000;

/** Who else wants to know what was stored. */
export interface Watcher {
  /** Every index row that was written. */
  row(write: RowWrite): void;
  /** What each look at the journal brought, index rows first. */
  look(rows: readonly JournalRow[], actors: readonly ActorRecord[]): void;
}

export class Stored implements Rule {
  private readonly world: World;
  private readonly power: Power;
  private readonly state: State;
  private readonly replay: Replay;
  private readonly effects: EffectBook;

  private readonly watcher: Watcher | undefined;

  constructor(world: World, power: Power, state: State, replay: Replay, effects: EffectBook, watcher?: Watcher) {
    this.world = world;
    this.power = power;
    this.state = state;
    this.replay = replay;
    this.effects = effects;
    this.watcher = watcher;
  }

  async check(): Promise<void> {
    if (this.state.isSeen(this.power.commits)) return;
    await this.state.look(() => this.compare());
  }

  private async compare(): Promise<void> {
    const { rows, actors } = await this.state.progress(this.power.commits);
    await this.replay.follow(rows);
    for (const row of rows) this.world.see(`${row.seq} ${row.actor}@${row.revision} ${row.type} -> ${row.stateValue} ${row.contextHash.slice(0, 8)}`);
    for (const record of actors) {
      const told = this.replay.actors.get(record.id);
      must(told !== undefined, "SIM-7", () => `${record.id} is stored and never began`);
      must(
        record.revision === told.revision && record.status === told.status,
        "SIM-7",
        () => `${record.id} is stored as ${record.status} at revision ${record.revision}, replayed it is ${told.status} at ${told.revision}`,
      );
      must(record.snapshot === told.snapshot, "SIM-7", () => `${record.id} is stored as ${record.snapshot}, replayed it is ${told.snapshot}`);
      const isInPlace = record.parent === told.parent && record.childKey === told.childKey && record.root === told.root;
      must(isInPlace, "SIM-7", () => `${record.id} has another place in its tree than the journal says`);
      await this.checkRows(told, told.definition.project?.({ record, ...partsOf(record.snapshot) }) ?? []);
    }
    await this.checkTimers();
    this.watcher?.look(rows, actors);
    await this.effects.follow();
  }

  async atEnd(): Promise<void> {
    const stored = await this.state.everyActor();
    must(this.replay.actors.size === stored.length, "SIM-7", () => `${this.replay.actors.size} actors began, ${stored.length} are stored`);
    for (const { id, revision, status, snapshot } of stored) {
      const told = this.replay.actors.get(id);
      must(told?.revision === revision && told.status === status && told.snapshot === snapshot, "SIM-9", () => `${id} changed without a row in the journal`);
    }
    // The calm lets all time pass: a timer that still stands will never fire.
    const [timer] = await this.state.store.due(Number.MAX_SAFE_INTEGER, 1);
    must(timer === undefined, "SIM-13", () => `timer ${JSON.stringify(timer)} never fired`);
  }

  private async checkRows(told: Told, projected: readonly RowWrite[]): Promise<void> {
    for (const write of projected) {
      const { table, row } = write;
      const found: unknown = (await this.state.store.query(table, { id: row.id }, { limit: 1 })).items[0];
      this.watcher?.row(write);
      must(isSame(found, row), "SIM-11", () => `the row of ${told.id} in ${table} is ${JSON.stringify(found)}, its snapshot says ${JSON.stringify(row)}`);
    }
  }

  private async checkTimers(): Promise<void> {
    const stored = new Map((await this.state.store.due(Number.MAX_SAFE_INTEGER, everyTimer)).map((timer) => [timerId(timer.actor, timer.key), timer]));
    const { timers } = this.replay;
    for (const [id, timer] of stored)
      must(isArmed(timers, id, timer), "SIM-8", () => `timer ${JSON.stringify(timer)} is stored, the journal has ${JSON.stringify(timers.get(id) ?? null)}`);
    if (stored.size === timers.size) return;
    const now = await this.state.store.lastAt();
    for (const [id, timer] of timers) {
      if (stored.has(id)) continue;
      // It fired and was nothing to whom it was for: no row tells of that.
      must(
        timer.dueAt <= now && this.replay.ignores(timer.to, JSON.parse(timer.event)),
        "SIM-8",
        () => `timer ${JSON.stringify(timer)} is lost: it is not stored and did not fire (the time is ${now})`,
      );
      timers.delete(id);
    }
  }
}

const isArmed = (timers: Replay["timers"], id: string, timer: TimerRecord): boolean => {
  const told = timers.get(id);
  return (
    told !== undefined &&
    told.dueAt === timer.dueAt &&
    told.to === timer.to &&
    told.revision === timer.revision &&
    isSame(JSON.parse(told.event), JSON.parse(timer.event))
  );
};

function partsOf(snapshot: string): { readonly value: unknown; readonly context: unknown; readonly output: unknown; readonly error: unknown } {
  const { value, context, output, error }: { value: unknown; context: unknown; output?: unknown; error?: unknown } = JSON.parse(snapshot);
  return { value, context, output, error };
}

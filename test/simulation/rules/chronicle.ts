/** What the journal says must stand: actors, timers and effects, and the rows that are still to be explained. `replay.ts` writes it. */
import { authorMachineId, placeOf, type AuthorInput } from "../../../src/host/author/authorMachine.ts";
import type { ActorStatus, JournalRow, StoredValue } from "../../../persistence/store.ts";
import type { Definition } from "../../../src/runtime/definition.ts";
import type { ChildLink } from "../../../src/runtime/refs.ts";
import { createStepper, type OwnStepper, type StepResult } from "../../../src/runtime/step.ts";
import { must, Violation } from "../core/world.ts";
import type { State } from "./state.ts";

export interface EventLike {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** An actor as the journal says it must be. */
export interface Told {
  readonly id: string;
  readonly parent: string | null;
  readonly childKey: string | null;
  readonly root: string;
  readonly definition: Definition;
  status: ActorStatus;
  revision: number;
  /** Persisted text after the last row. */
  snapshot: string;
  /** What came while it was faulted, the event that it threw at first. */
  kept: EventLike[];
}

/** A timer that must stand. */
export interface ToldTimer {
  readonly actor: string;
  readonly key: string;
  readonly dueAt: number;
  readonly to: string;
  readonly event: string;
  readonly revision: number;
}

/** An effect that was asked for. */
export interface ToldEffect {
  readonly key: string;
  readonly actor: string;
  readonly invokeId: string | null;
  readonly type: string;
  /** Nobody wants it any more. */
  dropped: boolean;
  /** How its end was told to its actor. */
  end: "done" | "error" | null;
}

/** An event that began a dispatch. */
export interface Origin {
  readonly row: JournalRow;
  readonly event: EventLike;
  /** What the machine answered. */
  reply: unknown;
}

export class Chronicle {
  readonly actors = new Map<string, Told>();
  readonly timers = new Map<string, ToldTimer>();
  readonly effects = new Map<string, ToldEffect>();
  /** By event id. */
  readonly origins = new Map<string, Origin>();
  readonly store: State["store"];
  /** Snapshots that each actor had since the last look, the one before it first. */
  private readonly recent = new Map<string, string[]>();
  private readonly steppers = new Map<Definition, OwnStepper>();
  private rows: readonly JournalRow[] = [];
  private place = 0;
  private lastSeq = 0;
  private lastAt = 0;

  constructor(store: State["store"]) {
    this.store = store;
  }

  /** Takes in the rows that were written since. @throws Violation */
  read(rows: readonly JournalRow[]): void {
    this.rows = rows;
    this.place = 0;
    this.recent.clear();
    for (const row of rows) {
      must(row.seq === this.lastSeq + 1, "SIM-6", () => `journal row ${row.seq} follows ${this.lastSeq}`);
      must(row.at >= this.lastAt, "SIM-6", () => `journal row ${row.seq} is of ${row.at}, the one before it of ${this.lastAt}`);
      this.lastSeq = row.seq;
      this.lastAt = row.at;
    }
  }

  /** The first row that is not explained. */
  peek(): JournalRow | undefined {
    return this.rows[this.place];
  }

  /** Explains it. @throws Violation when it is another than the one foretold */
  take(what: string, fits: (row: JournalRow) => boolean): JournalRow {
    const row = this.peek();
    if (row === undefined || !fits(row))
      throw new Violation(
        "SIM-7",
        `${what} should be in the journal; ${row === undefined ? "nothing more is" : `row ${row.seq} is ${row.type} of ${row.actor}`}`,
      );
    this.place += 1;
    return row;
  }

  known(actor: string): Told {
    const told = this.actors.get(actor);
    if (told === undefined) throw new Violation("SIM-7", `${actor} has rows in the journal and never began`);
    return told;
  }

  /** The actor has taken this row. */
  raise(told: Told, row: JournalRow): void {
    must(row.revision === told.revision + 1, "SIM-6", () => `row ${row.seq} is revision ${row.revision} of ${told.id}, after ${told.revision}`);
    told.revision = row.revision;
    const recent = this.recent.get(told.id);
    if (recent) recent.push(told.snapshot);
    else if (told.snapshot !== "") this.recent.set(told.id, [told.snapshot]);
  }

  /** One step from the stored text, with an envelope as the row has it. @throws what the machine throws; Violation when the text cannot be restored */
  step(told: Told, event: EventLike): StepResult {
    const stepper = this.stepper(told.definition);
    const row = this.peek();
    let from;
    try {
      from = stepper.hydrate(told.id, told.parent, told.snapshot, told.childKey);
    } catch (error) {
      throw new Violation("SIM-10", `the snapshot of ${told.id} at revision ${told.revision} cannot be restored: ${String(error)}`);
    }
    const enveloped: EventLike = { at: row?.at ?? this.lastAt, id: row?.eventId ?? "?", ...event };
    return stepper.step(from, enveloped);
  }

  stepper(definition: Definition): OwnStepper {
    const known = this.steppers.get(definition) ?? createStepper(definition.machine);
    this.steppers.set(definition, known);
    return known;
  }

  /** What the machine is started with: of an author's, what Pawl's own node has wrapped. */
  inputOf({ id, version }: Definition, given: unknown): unknown {
    return id === authorMachineId && placeOf(version)?.path.length === 0 ? (given as AuthorInput).input : given; // the node's machine gives it so
  }

  /** What a snapshot knows of its actor's children, by key. */
  links(told: Told): ReadonlyMap<string, ChildLink> {
    const { children } = JSON.parse(told.snapshot) as { readonly children: { readonly [key: string]: { readonly snapshot: ChildLink } } }; // XState's own format, in which our stubs stand
    return new Map(Object.entries(children).map(([key, child]) => [key, child.snapshot]));
  }

  clearTimers(actor: string): void {
    for (const [id, timer] of this.timers) if (timer.actor === actor) this.timers.delete(id);
  }

  /** Whether the actor had, since the last look, a state in which this event is nothing to it. */
  ignores(actor: string, event: EventLike): boolean {
    const told = this.actors.get(actor);
    if (told === undefined || told.status !== "active") return true;
    return [...(this.recent.get(actor) ?? []), told.snapshot].some((snapshot) => {
      try {
        return !this.step({ ...told, snapshot }, event).changed;
      } catch {
        return false;
      }
    });
  }

  async payload(row: JournalRow): Promise<{ readonly [key: string]: unknown }> {
    return row.payload === null ? {} : ((await read(this.store, row.payload)) as { readonly [key: string]: unknown }); // an event without its type
  }
}

/** A stored value, from its row or its blob. */
export async function read(store: State["store"], stored: StoredValue): Promise<unknown> {
  if ("json" in stored) return JSON.parse(stored.json);
  const bytes = await store.blob(stored.blob);
  if (bytes === null) throw new Violation("SIM-7", `the value ${stored.blob} is not stored`);
  return JSON.parse(Buffer.from(bytes).toString("utf8"));
}

export const timerId = (actor: string, key: string): string => `${actor} ${key}`;

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}

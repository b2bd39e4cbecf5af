/** SIM-19, SIM-20, SIM-21: what holds runs up. A paused run enters no node and stays paused until it is resumed; a session has one run at a time;
 *  and a run that was held up ends as it would have ended. */
import type { ActorRecord, JournalRow, RunState } from "../../../persistence/store.ts";
import { must, Violation, type Rule } from "../core/world.ts";
import type { Standing } from "../parts/holder.ts";
import { isSame, type EventLike, type Told } from "./chronicle.ts";
import { Requests } from "./requests.ts";
import type { Replay } from "./replay.ts";
import type { Shelves } from "./shelf.ts";
import type { State } from "./state.ts";

interface Seen {
  readonly pausedAt: number | null;
  readonly value: unknown;
  /** Entries into nodes so far; null: the graph has not begun. */
  readonly step: number | null;
}

/** What tells a graph to stop and to go on, and the deadline of its step to stand still. */
const signals: readonly string[] = ["graph.pause", "graph.resume", "graph.freeze", "graph.thaw"];
const free = { paused: false, frozen: false };
const page = 1000;
/** States in which a run has its session for itself. */
const openStates: readonly RunState[] = ["queued", "starting", "running", "pausing", "held"];
/** The same as the journal writes them. */
const openValues: readonly string[] = [`"queued"`, `"starting"`, `{"running":"active"}`, `{"running":"pausing"}`, `{"running":"held"}`];

export class Pauses implements Rule, Standing {
  looks = 0;
  readonly requests = new Requests();
  readonly runs: Standing["runs"];
  private readonly replay: Replay;
  private readonly state: State;
  private readonly seen = new Map<string, Seen>();
  /** The look at which a run was last resumed. */
  private readonly resumed = new Map<string, number>();
  /** The last look up to which a run had the session. */
  private readonly taken = new Map<string, number>();
  /** Of each run, at the last look. */
  private readonly sessions = new Map<string, string>();

  constructor(replay: Replay, shelves: Shelves, state: State) {
    this.replay = replay;
    this.runs = shelves.runs;
    this.state = state;
  }

  isHeldUp(run: string): boolean {
    const seen = this.seen.get(run);
    return seen !== undefined && (seen.pausedAt !== null || (typeof seen.value === "object" && isSame(seen.value, { running: "held" })));
  }

  checkpointOf(run: string): string | null {
    return this.waitingAt(run, "checkpoint");
  }

  isResting(run: string): boolean {
    return this.waitingAt(run, "wait") !== null;
  }

  /** The actor of a run that waits with this machine. */
  private waitingAt(run: string, machine: string): string | null {
    for (const { id, root, status, definition, snapshot } of this.replay.actors.values())
      if (root === run && status === "active" && definition.id === machine && snapshot.includes('"value":"waiting"')) return id;
    return null;
  }

  wasPaused(run: string, since: number): void {
    const isOver = this.replay.actors.get(run)?.status !== "active";
    must(
      isOver || this.seen.get(run)?.pausedAt !== null || (this.resumed.get(run) ?? -1) >= since,
      "SIM-19",
      () => `whoever paused ${run} was told so, and it is not paused`,
    );
  }

  wasTaken(session: string, since: number): void {
    must((this.taken.get(session) ?? -1) >= since, "SIM-20", () => `session ${session} was refused, and no run had it`);
  }

  /** After each look at the journal. @throws Violation */
  look(rows: readonly JournalRow[], actors: readonly ActorRecord[]): void {
    this.looks += 1;
    this.requests.look(rows);
    for (const { actor, type } of rows) if (type === "run.resume") this.resumed.set(actor, this.looks);
    for (const run of new Set(actors.map(({ root }) => root))) this.compare(run);
    this.noteTaken(rows);
    const holders = new Map<string, string>();
    for (const { id, session, state } of this.runs.values()) {
      // By its state, not by the column that the database compares.
      if (session === null || !openStates.includes(state)) continue;
      const other = holders.get(session);
      must(other === undefined, "SIM-20", () => `session ${session} has both ${other ?? ""} and ${id}`);
      holders.set(session, id);
      this.taken.set(session, this.looks);
    }
  }

  /** A session that a run had between two looks was taken too, before or after the run was moved. */
  private noteTaken(rows: readonly JournalRow[]): void {
    for (const { actor, stateValue } of rows) {
      const now = this.runs.get(actor)?.session ?? null;
      if (now === null || !openValues.includes(stateValue)) continue;
      for (const session of new Set([now, this.sessions.get(actor) ?? now])) this.taken.set(session, this.looks);
    }
    for (const { id, session } of this.runs.values()) if (session !== null) this.sessions.set(id, session);
  }

  check(): void {
    this.requests.check();
  }

  async atEnd(): Promise<void> {
    for (const run of this.runs.keys()) await this.retell(run);
  }

  private compare(run: string): void {
    const told = this.replay.actors.get(run);
    if (told === undefined || !this.runs.has(run)) return;
    const before = this.seen.get(run);
    const now = this.read(told);
    this.seen.set(run, now);
    if (before === undefined || before.pausedAt === null || told.status !== "active" || this.resumed.get(run) === this.looks) return;
    must(now.pausedAt !== null, "SIM-19", () => `${run} was paused, nobody resumed it, and it is not paused any more`);
    must(now.step === before.step, "SIM-19", () => `${run} is paused, and entered a node: its step ${String(before.step)} became ${String(now.step)}`);
  }

  private read(told: Told): Seen {
    const { value, context } = JSON.parse(told.snapshot) as { readonly value: unknown; readonly context: { readonly pausedAt: number | null } }; // runMachine's
    const graph = this.replay.actors.get(`${told.id}/graph`);
    if (graph === undefined || graph.snapshot === "") return { pausedAt: context.pausedAt, value, step: null };
    const of = JSON.parse(graph.snapshot) as { readonly context: { readonly step: number; readonly included: number } }; // GraphContext
    // Entries into the nodes of included workflows count there.
    return { pausedAt: context.pausedAt, value, step: of.context.step + of.context.included };
  }

  /** The graph told once more without a word of stopping: whatever held the run up, it visits what it would have visited, and ends the same. */
  private async retell(run: string): Promise<void> {
    const graph = this.replay.actors.get(`${run}/graph`);
    if (graph?.status !== "done") return;
    const rows: JournalRow[] = [];
    for (let from = 1; from <= graph.revision; from += page) rows.push(...(await this.state.store.journal(graph.id, from, page)));
    if (!rows.some(({ type }) => signals.includes(type))) return;
    const stepper = this.replay.stepper(graph.definition);
    let now: ReturnType<typeof stepper.init> | undefined;
    for (const row of rows) {
      if (signals.includes(row.type)) continue;
      const payload = await this.replay.payload(row);
      const event: EventLike = { at: row.at, id: row.eventId, ...payload, type: row.type };
      now = now === undefined ? stepper.init(graph.id, graph.parent, payload["input"], graph.childKey) : stepper.step(now.next, event);
    }
    if (now === undefined) throw new Violation("SIM-21", `${graph.id} has no journal`);
    const [without, stored] = [JSON.parse(stepper.persist(now.next).snapshot), JSON.parse(graph.snapshot)] as readonly {
      readonly context: object;
      readonly output: unknown;
    }[]; // XState's own format
    must(
      now.status === "done" && isSame(without?.output, stored?.output) && isSame({ ...without?.context, ...free }, { ...stored?.context, ...free }),
      "SIM-21",
      () => `${run} was held up and ended as ${JSON.stringify(stored)}; without that it would have ended as ${JSON.stringify(without)}`,
    );
  }
}

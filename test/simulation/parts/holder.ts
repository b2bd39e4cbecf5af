/** Whoever holds runs up and lets them go: pauses, resumes, takes the conversation back, moves runs to other sessions. The book of what it was told. */
import type { EmbeddedHost, RunView } from "../../../src/host/api.ts";
import { isPawlError, messageOf } from "../../../src/errors.ts";
import type { RunRow } from "../../../persistence/store.ts";
import type { FaultKind } from "../core/faults.ts";
import type { Random } from "../core/random.ts";
import { must, Violation, type Choice, type Part, type Rule, type World } from "../core/world.ts";
import type { Requests } from "../rules/requests.ts";
import { isStorageError, isUnanswered, type Life, type Standpoint } from "./power.ts";

/** What is known of runs now. */
export interface Standing {
  readonly runs: ReadonlyMap<string, RunRow>;
  /** Paused or held: it goes on only when it is resumed. */
  isHeldUp(run: string): boolean;
  /** The checkpoint that it waits at, in an included workflow too. */
  checkpointOf(run: string): string | null;
  /** It waits for a time. */
  isResting(run: string): boolean;
  /** Looks so far. */
  readonly looks: number;
  readonly requests: Requests;
  /** The pause of this run was told after a call that began at this look. @throws Violation */
  wasPaused(run: string, since: number): void;
  /** This session was refused to a call that began at this look. @throws Violation */
  wasTaken(session: string, since: number): void;
}

type What = "pause" | "resume" | "hold" | "adopt";

/** The conversations that runs may belong to. */
export const sessions = ["one", "two"] as const;

const finalStates: readonly string[] = ["completed", "failed", "timedOut", "cancelled"];

const kinds: { readonly [what in What]: FaultKind } = {
  pause: "run paused",
  resume: "run resumed",
  hold: "conversation taken back",
  adopt: "run moved to another session",
};

const isWhat = (word: string): word is What => Object.hasOwn(kinds, word);

export class Holder implements Part, Rule {
  readonly name = "holder";
  private readonly calling = new Map<string, Life>();
  private readonly open = new Set<{ readonly command: string; readonly run: string; readonly life: Life }>();
  private readonly world: World;
  private readonly power: Standpoint;
  private readonly host: () => EmbeddedHost | null;
  private readonly standing: Standing;
  private readonly eagerness: number;

  /** `eagerness`: weight of what holds a run up. */
  constructor(world: World, power: Standpoint, host: () => EmbeddedHost | null, standing: Standing, eagerness: number) {
    this.world = world;
    this.power = power;
    this.host = host;
    this.standing = standing;
    this.eagerness = eagerness;
  }

  choices(random: Random): readonly Choice[] {
    if (!this.power.isUp) return [];
    const runs = [...this.standing.runs.values()];
    const live = runs.filter(({ state }) => !finalStates.includes(state));
    if (runs.length === 0) return [];
    const any = random.pick(random.chance(0.95) && live.length > 0 ? live : runs).id;
    const heldUp = live.filter(({ id }) => this.standing.isHeldUp(id));
    return [
      { op: `holder pause ${any}`, weight: this.eagerness },
      { op: `holder hold ${any}`, weight: this.eagerness / 2 },
      { op: `holder adopt ${any} ${random.pick(sessions)}`, weight: this.eagerness / 3 },
      { op: `holder resume ${any}`, weight: this.eagerness / 4 },
      ...(heldUp.length > 0 ? [{ op: `holder resume ${random.pick(heldUp).id}`, weight: 4 }] : []),
    ];
  }

  perform([what = "", run = "", session = ""]: readonly string[]): boolean {
    const host = this.host();
    if (!this.power.isUp || host === null || !isWhat(what) || !this.standing.runs.has(run)) return false;
    if (!this.world.calm) this.world.fault(kinds[what]);
    this.call(host, what, run, session);
    return true;
  }

  need(): string | null {
    if (!this.power.isServed) return null;
    for (const { id, state } of this.standing.runs.values())
      if (!finalStates.includes(state) && this.standing.isHeldUp(id) && !this.isTaken(id) && !this.calling.get(`resume ${id}`)?.alive)
        return `holder resume ${id}`;
    return null;
  }

  /** Another run has its session. */
  private isTaken(run: string): boolean {
    const session = this.standing.runs.get(run)?.session ?? null;
    return session !== null && [...this.standing.runs.values()].some((row) => row.id !== run && row.session === session && row.reserves);
  }

  atEnd(): void {
    for (const [what, life] of this.calling) must(!life.alive, "SIM-13", () => `${what} was never answered`);
  }

  private call(host: EmbeddedHost, what: What, run: string, session: string): void {
    const { life } = this.power;
    const name = `${what} ${run}`;
    const since = this.standing.looks;
    this.calling.set(name, life);
    const command = `run.${what}`;
    this.standing.requests.asked(command, run);
    const asking = { command, run, life };
    this.open.add(asking);
    this.ask(host, what, run, session).then(
      (view) => {
        this.open.delete(asking);
        this.calling.delete(name);
        if (!life.alive) return;
        this.world.see(`${name} is done: ${view.state}${view.pausedAt === null ? "" : ", paused"}`);
        if (finalStates.includes(view.state)) return;
        if (what !== "resume") this.standing.requests.told(command, run);
        if (what === "pause") this.later(() => this.standing.wasPaused(run, since));
      },
      (error: unknown) => {
        this.open.delete(asking);
        this.calling.delete(name);
        if (!life.alive) return;
        this.world.see(`${name} is refused: ${messageOf(error)}`);
        if (isStorageError(error)) return this.power.halted(life);
        if (isUnanswered(error)) return this.power.gone(life);
        if (isPawlError(error) && error.code === "refused" && what === "hold") return;
        // Paused before it began, or blocked, it has not got its session, and another run may have it. It may have been moved meanwhile: the refusal names that session.
        const wanted =
          what === "adopt" ? session : what === "resume" && isPawlError(error) && sessions.some((one) => one === error.subject) ? error.subject : undefined;
        if (isPawlError(error) && error.code === "refused" && typeof wanted === "string") return this.later(() => this.standing.wasTaken(wanted, since));
        this.world.stray(new Violation("SIM-14", `${name} failed: ${messageOf(error)}`));
      },
    );
  }

  /** A host is gone: what it did not answer is asked of the next one. */
  hostLost(): void {
    for (const { command, run, life } of this.open) if (life.alive) this.standing.requests.askedAgain(command, run);
  }

  private ask(host: EmbeddedHost, what: What, run: string, session: string): Promise<RunView> {
    return what === "adopt" ? host.adoptRun(run, session) : host[what](run);
  }

  /** When the rules have seen what was stored meanwhile. */
  private later(check: () => void): void {
    this.due.push(check);
  }
  private readonly due: (() => void)[] = [];

  check(): void {
    for (const check of this.due.splice(0)) check();
  }
}

/** Whoever uses a host: starts runs under keys, drives them, looks at them, answers their decisions (twice, late, wrongly), cancels. The book of what they were told. */
import type { AnswerResult, EmbeddedHost } from "../../../src/host/api.ts";
import { isPawlError, messageOf } from "../../../src/errors.ts";
import type { DecisionRow, RunRow } from "../../../persistence/store.ts";
import type { Random } from "../core/random.ts";
import { must, Violation, type Choice, type Part, type Rule, type World } from "../core/world.ts";
import { sessions, type Standing } from "./holder.ts";
import { isStorageError, isUnanswered, type Life, type Standpoint } from "./power.ts";

/** A workflow file and inputs for it. */
export interface Work {
  readonly file: string;
  readonly inputs: readonly unknown[];
}

interface Start {
  readonly key: string;
  readonly work: string;
  readonly input: unknown;
  /** The conversation that it is started from, if there is one. */
  readonly session: string | null;
  readonly ids: Set<string>;
  /** Told that its session has another run. */
  refused: boolean;
}

interface Answer {
  readonly key: string;
  readonly decision: string;
  readonly choice: string;
  readonly results: AnswerResult[];
  /** It can never be answered: the decision is not there any more for those who know its id. */
  refused: boolean;
}

/** What is stored of runs and decisions now. */
export interface Shelf {
  readonly runs: ReadonlyMap<string, RunRow>;
  readonly decisions: ReadonlyMap<string, DecisionRow>;
}

const finalStates: readonly string[] = ["completed", "failed", "timedOut", "cancelled"];
const drivable: readonly string[] = ["queued", "starting", "running", "pausing", "blocked"];
/** What an answer may be refused with when it is the right one for an open decision. */
const maxLive = 3;
/** Times that a run is driven in calm weather while its session is free. */
const maxTries = 20;

export class Runs implements Part, Rule {
  readonly name = "runs";
  private readonly starts = new Map<string, Start>();
  private readonly answers = new Map<string, Answer>();
  private readonly driven = new Map<string, { readonly life: Life; readonly abort: AbortController }>();
  /** Checked when the rules have seen what was stored meanwhile. */
  private readonly due: (() => void)[] = [];
  private readonly tries = new Map<string, number>();
  private readonly calling = new Map<string, Life>();
  /** What counted as the answer of each checkpoint. */
  private readonly answered = new Map<string, boolean>();
  private readonly world: World;
  private readonly power: Standpoint;
  private readonly host: () => EmbeddedHost | null;
  private readonly shelf: Shelf;
  private readonly standing: Standing;
  private readonly works: { readonly [name: string]: Work };
  private readonly cwd: string;

  constructor(
    world: World,
    power: Standpoint,
    host: () => EmbeddedHost | null,
    shelf: Shelf,
    standing: Standing,
    works: { readonly [name: string]: Work },
    cwd: string,
  ) {
    this.world = world;
    this.power = power;
    this.host = host;
    this.shelf = shelf;
    this.standing = standing;
    this.works = works;
    this.cwd = cwd;
  }

  choices(random: Random): readonly Choice[] {
    if (!this.power.isUp) return [];
    const choices: Choice[] = [];
    const live = this.live();
    if (live.length < maxLive) {
      const name = random.pick(Object.keys(this.works));
      const input = random.pick(this.works[name]?.inputs ?? [{}]);
      const session = random.chance(0.5) ? ` ${random.pick(sessions)}` : "";
      choices.push({ op: `runs start k${this.starts.size + 1} ${name} ${JSON.stringify(input)}${session}`, weight: 8 });
    }
    if (this.starts.size > 0) choices.push({ op: `runs again ${random.pick([...this.starts.keys()])}`, weight: 1 });
    const idle = live.filter(({ id, state }) => drivable.includes(state) && !this.isDriven(id));
    if (idle.length > 0) choices.push({ op: `runs drive ${random.pick(idle).id}`, weight: 15 });
    if (live.length > 0) {
      const { id } = random.pick(live);
      choices.push({ op: `runs drive ${id}`, weight: 1 }, { op: `runs look ${id}`, weight: 1.5 }, { op: `runs cancel ${id}`, weight: 0.3 });
    }
    for (const { id } of live) {
      const visit = this.standing.checkpointOf(id);
      if (visit !== null) choices.push({ op: `runs checkpoint ${id} ${visit} ${random.pick(["yes", "yes", "no"])}`, weight: 4 });
    }
    const leaving = [...this.driven.keys()].filter((id) => this.isDriven(id));
    if (leaving.length > 0) choices.push({ op: `runs leave ${random.pick(leaving)}`, weight: 0.5 });
    return [...choices, ...this.answering(random)];
  }

  perform([what = "", id = "", ...rest]: readonly string[]): boolean {
    const host = this.host();
    if (!this.power.isUp || host === null) return false;
    switch (what) {
      case "start": {
        const [work = "", input = "null", session = null] = rest;
        if (this.starts.has(id)) return false;
        const start: Start = { key: id, work, input: JSON.parse(input), session, ids: new Set(), refused: false };
        this.starts.set(id, start);
        this.start(host, start);
        return true;
      }
      case "again": {
        const start = this.starts.get(id);
        if (start) {
          this.world.fault("start repeated");
          this.start(host, start);
        }
        return start !== undefined;
      }
      case "drive":
        if (this.world.calm) this.countTries(id);
        return this.drive(host, id);
      case "leave": {
        const drive = this.driven.get(id);
        if (!this.isDriven(id)) return false;
        drive?.abort.abort();
        return true;
      }
      case "look":
        if (!this.shelf.runs.has(id)) return false;
        this.call(`look ${id}`, host.run(id), (view) => must(view.id === id, "SIM-11", () => `run ${id} is shown as ${view.id}`));
        return true;
      case "cancel":
        if (!this.shelf.runs.has(id)) return false;
        this.call(`cancel ${id}`, host.cancel(id, "user"), (view) =>
          must(finalStates.includes(view.state), "SIM-1", () => `run ${id} was cancelled, its caller was told, and it is ${view.state}`),
        );
        return true;
      case "answer": {
        const [decision = "", choice = ""] = rest;
        if (this.answers.has(id) || !this.shelf.decisions.has(decision)) return false;
        const answer: Answer = { key: id, decision, choice, results: [], refused: false };
        this.answers.set(id, answer);
        if (this.shelf.decisions.get(decision)?.state !== "open") this.world.fault("decision answered late");
        else if (choice === "nonsense") this.world.fault("decision answered wrongly");
        this.answer(host, answer);
        return true;
      }
      case "checkpoint":
        return this.checkpoint(host, id, rest[0] ?? "", rest[1] === "yes");
      case "repeat": {
        const answer = this.answers.get(id);
        if (answer) {
          this.world.fault("decision answered again");
          this.answer(host, answer);
        }
        return answer !== undefined;
      }
      default:
        return false;
    }
  }

  need(): string | null {
    if (!this.power.isServed) return null;
    for (const { key, ids, refused } of this.starts.values()) if (ids.size === 0 && !refused && !this.isCalling(`start ${key}`)) return `runs again ${key}`;
    for (const answer of this.answers.values())
      if (answer.results.length === 0 && !answer.refused && !this.isCalling(`answer ${answer.key}`)) return `runs repeat ${answer.key}`;
    for (const { id, state } of this.live()) if (drivable.includes(state) && !this.isDriven(id)) return `runs drive ${id}`;
    for (const { id } of this.live()) {
      const visit = this.standing.checkpointOf(id);
      if (visit !== null && !this.isCalling(`checkpoint ${visit}`)) return `runs checkpoint ${id} ${visit} yes`;
    }
    for (const row of this.live()) if (this.couldReturn(row) && !this.isDriven(row.id)) return `runs drive ${row.id}`;
    for (const { id, run, state, deadlineAt } of this.shelf.decisions.values()) {
      const isOpen = state === "open" && deadlineAt === null && this.live().some((row) => row.id === run);
      if (isOpen && ![...this.answers.values()].some((answer) => answer.decision === id && answer.key.startsWith("last")))
        return `runs answer last-${this.answers.size} ${id} ${lastChoice(id)}`;
    }
    return null;
  }

  check(): void {
    for (const check of this.due.splice(0)) check();
    for (const { key, ids } of this.starts.values()) must(ids.size <= 1, "SIM-2", () => `the runs ${[...ids].join(" and ")} were started under one key ${key}`);
    for (const id of [...this.starts.values()].flatMap(({ ids }) => [...ids]))
      must(this.shelf.runs.has(id), "SIM-1", () => `run ${id} was started, its caller was told, and it is not stored`);
    const winners = new Map<string, Answer>();
    for (const answer of this.answers.values()) {
      if (!answer.results.some(({ status }) => status === "accepted")) continue;
      const other = winners.get(answer.decision);
      must(other === undefined, "SIM-5", () => `both ${other?.key ?? ""} and ${answer.key} were told that they decided ${answer.decision}`);
      winners.set(answer.decision, answer);
      const row = this.shelf.decisions.get(answer.decision);
      must(
        row?.state === "accepted" && row.choice === answer.choice,
        "SIM-5",
        () => `${answer.key} was told that "${answer.choice}" decided ${answer.decision}; it is ${row?.state ?? "not there"} with "${row?.choice ?? ""}"`,
      );
    }
  }

  atEnd(): void {
    for (const row of this.shelf.runs.values()) must(finalStates.includes(row.state), "SIM-13", () => `run ${row.id} never ended, it is ${row.state}`);
    for (const row of this.shelf.decisions.values()) must(row.state !== "open", "SIM-13", () => `decision ${row.id} is open though its run is over`);
    for (const [id, { life }] of this.driven) must(!life.alive, "SIM-13", () => `driving ${id} never came to its end`);
    for (const [what, life] of this.calling) must(!life.alive, "SIM-13", () => `${what} was never answered`);
  }

  /** It waits for its session alone, which no run has. */
  private couldReturn({ id, state, session }: RunRow): boolean {
    if (state !== "waiting" || session === null || this.standing.isHeldUp(id)) return false;
    if (this.standing.checkpointOf(id) !== null || this.standing.isResting(id)) return false;
    if (this.live().some((row) => row.session === session && row.reserves)) return false;
    return ![...this.shelf.decisions.values()].some((decision) => decision.run === id && decision.state === "open");
  }

  /** Driving is what offers a session that got free while no process was there. */
  private countTries(run: string): void {
    const row = this.shelf.runs.get(run);
    if (row === undefined || !this.couldReturn(row)) return;
    const tries = (this.tries.get(run) ?? 0) + 1;
    this.tries.set(run, tries);
    if (tries > maxTries) this.world.stray(new Violation("SIM-22", `run ${run} waits for session ${String(row.session)}, which is free, and does not get it`));
  }

  private live(): readonly RunRow[] {
    return [...this.shelf.runs.values()].filter(({ state }) => !finalStates.includes(state));
  }

  private isDriven(run: string): boolean {
    const drive = this.driven.get(run);
    return drive !== undefined && drive.life.alive && !drive.abort.signal.aborted;
  }

  private isCalling(what: string): boolean {
    return this.calling.get(what)?.alive ?? false;
  }

  private answering(random: Random): readonly Choice[] {
    const choices: Choice[] = [];
    const decisions = [...this.shelf.decisions.values()];
    const open = decisions.filter(({ state }) => state === "open");
    const next = `a${this.answers.size + 1}`;
    if (open.length > 0) {
      const { id } = random.pick(open);
      choices.push({ op: `runs answer ${next} ${id} ${random.pick(choicesOf(id))}`, weight: 5 }, { op: `runs answer ${next} ${id} nonsense`, weight: 0.3 });
    }
    if (decisions.length > 0) {
      const { id } = random.pick(decisions);
      choices.push({ op: `runs answer ${next} ${id} ${random.pick(choicesOf(id))}`, weight: 0.7 });
    }
    if (this.answers.size > 0) choices.push({ op: `runs repeat ${random.pick([...this.answers.keys()])}`, weight: 1.5 });
    return choices;
  }

  /** Twice, and late too: one answer of a checkpoint counts. */
  private checkpoint(host: EmbeddedHost, run: string, visit: string, ok: boolean): boolean {
    if (!this.shelf.runs.has(run)) return false;
    const key = `${visit} ${ok ? "yes" : "no"}`;
    const asked = host.answerCheckpoint({ run, visit, output: { ok }, idempotencyKey: key, source: { kind: "program", channel: "world", actor: "somebody" } });
    this.call(
      `checkpoint ${visit}`,
      asked,
      ({ status, code }) => {
        this.world.see(`${key} is told ${status} ${code ?? ""}`);
        if (status === "refused") return;
        const other = this.answered.get(visit) ?? ok;
        must(other === ok, "SIM-5", () => `both answers of checkpoint ${visit} were told that they counted`);
        this.answered.set(visit, ok);
      },
      // It may be over by now, and pruned with its run is nothing here.
      { whenRefused: () => {} },
    );
    return true;
  }

  private start(host: EmbeddedHost, start: Start): void {
    const { key, work, input, session, ids } = start;
    const file = this.works[work]?.file ?? "";
    const since = this.standing.looks;
    const asked = host.start({ workflow: file, input, cwd: this.cwd, idempotencyKey: key, ...(session === null ? {} : { session }) });
    this.call(`start ${key}`, asked, ({ id }) => void ids.add(id), {
      whenRefused: () => {
        if (session === null) throw new Violation("SIM-14", `start ${key} was refused, and it has no session`);
        this.world.fault("session refused");
        start.refused = true;
        this.due.push(() => this.standing.wasTaken(session, since));
      },
    });
  }

  private drive(host: EmbeddedHost, run: string): boolean {
    if (!this.shelf.runs.has(run)) return false;
    const drive = { life: this.power.life, abort: new AbortController() };
    const isNew = !this.isDriven(run);
    if (isNew) this.driven.set(run, drive);
    const over = (): void => {
      if (this.driven.get(run) === drive) this.driven.delete(run);
    };
    host.drive(run, { signal: drive.abort.signal }).then(
      (view) => {
        over();
        if (drive.life.alive) this.world.see(`${run} rests: ${view.state}`);
      },
      (error: unknown) => {
        over();
        this.told(drive.life, `drive ${run}`, error);
      },
    );
    return true;
  }

  private answer(host: EmbeddedHost, answer: Answer): void {
    const { key, decision, choice } = answer;
    const text = choice === "replan" ? { text: "another way" } : {};
    const { life } = this.power;
    this.calling.set(`answer ${key}`, life);
    host.answer({ decision, choice, ...text, idempotencyKey: key, source: { kind: "human", channel: "terminal", actor: "somebody" } }).then(
      (result) => {
        this.calling.delete(`answer ${key}`);
        if (!life.alive) return;
        this.world.see(`${key} is told ${result.status} ${result.code ?? ""}`);
        answer.results.push(result);
      },
      (error: unknown) => {
        this.calling.delete(`answer ${key}`);
        if (life.alive && !isStorageError(error) && !isUnanswered(error)) answer.refused = true;
        this.told(life, `answer ${key}`, error);
      },
    );
  }

  private call<T>(what: string, work: Promise<T>, then: (value: T) => void, { whenRefused }: { whenRefused?: () => void } = {}): void {
    const { life } = this.power;
    this.calling.set(what, life);
    work.then(
      (value) => {
        this.calling.delete(what);
        if (!life.alive) return;
        this.world.see(`${what} is done`);
        try {
          then(value);
        } catch (error) {
          this.world.stray(error);
        }
      },
      (error: unknown) => {
        this.calling.delete(what);
        if (whenRefused === undefined || !life.alive || !isPawlError(error) || error.code !== "refused") return this.told(life, what, error);
        this.world.see(`${what} is refused: ${messageOf(error)}`);
        try {
          whenRefused();
        } catch (violation) {
          this.world.stray(violation);
        }
      },
    );
  }

  /** What a caller may be told instead of an answer: that the disk refuses, or that the host is being closed. */
  private told(life: Life, what: string, error: unknown): void {
    if (!life.alive) return;
    this.world.see(`${what} is refused: ${messageOf(error)}`);
    if (isStorageError(error)) this.power.halted(life);
    else if (isUnanswered(error)) this.power.gone(life);
    else this.world.stray(new Violation("SIM-14", `${what} failed: ${messageOf(error)}`));
  }
}

const choicesOf = (decision: string): readonly string[] => (decision.includes("/ask.") ? ["go", "stop", "replan"] : ["more", "enough"]);
const lastChoice = (decision: string): string => (decision.includes("/ask.") ? "go" : "enough");

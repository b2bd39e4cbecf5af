/** The processes that author code runs in: what a worker is given may wait before it begins, its answer may wait before it is heard, and a worker
 *  may be lost at any moment with all that it has in hand. The code itself runs in this process: only its loss is played. */
import type { AuthorMachine, StepRequest } from "../../../src/host/author/authorMachine.ts";
import { InProcess } from "../../../src/host/author/inProcess.ts";
import { Interrupted } from "../../../src/runtime/executor.ts";
import type { FaultKind } from "../core/faults.ts";
import type { Random } from "../core/random.ts";
import { Violation, type Choice, type Part, type World } from "../core/world.ts";
import type { Outside } from "./outside.ts";
import { Died, type Life, type Power } from "./power.ts";

/** What a worker is asked on behalf of an effect. */
const methods = ["prepare", "execute", "prepareNode", "acceptNode", "promise"] as const;

/** How far a job has come. */
type Stage = "given" | "begun" | "done";

const lossOf: { readonly [stage in Stage]: FaultKind } = {
  given: "worker lost before its work",
  begun: "worker lost in the middle of its work",
  done: "worker lost before its result was heard",
};

interface Job {
  readonly id: string;
  readonly worker: number;
  readonly life: Life;
  /** The effect's key. */
  readonly key: string;
  readonly attempt: number;
  /** The visit that its code knows; null: it has none. */
  readonly visit: string | null;
  readonly signal: AbortSignal;
  stage: Stage;
  begin(): void;
  answer(): void;
  lose(error: Error): void;
}

/** What the host hands over as watch is its task. */
interface Task {
  readonly key: string;
  readonly attempt: number;
  readonly visit: string | null;
  readonly signal: AbortSignal;
}

const crew = 2;

export class Workers implements Part {
  readonly name = "worker";
  private readonly jobs = new Map<string, Job>();
  private readonly world: World;
  private readonly power: Power;
  private readonly outside: Outside;
  private readonly holds: boolean;
  private readonly losses: number;
  private given = 0;

  /** `holds`: false lets every job begin and answer at once; `losses`: weight of losing a worker. */
  constructor(world: World, power: Power, outside: Outside, holds: boolean, losses: number) {
    this.world = world;
    this.power = power;
    this.outside = outside;
    this.holds = holds;
    this.losses = losses;
  }

  /** Stands between the host and its author code; returns what undoes it. */
  takeOver(): () => void {
    const { world } = this;
    const undo = methods.map((name): (() => void) => {
      const holder = InProcess.prototype;
      const original = Reflect.get(holder, name) as (this: InProcess, ...given: unknown[]) => Promise<unknown>; // all of them take what is asked, and the watch at last
      const { work } = this;
      Reflect.set(holder, name, function (this: InProcess, ...given: unknown[]): Promise<unknown> {
        const task = given.at(-1) as Task; // as above
        // Else it would only fail, and every world would be one of failures.
        if (typeof task.key !== "string") world.stray(new Violation("SIM-23", `${name} is asked of a worker without the effect that it is for`));
        return work(task, () => original.apply(this, given));
      });
      return () => void Reflect.set(holder, name, original);
    });
    undo.push(this.takeOverSteps());
    return () => undo.forEach((back) => back());
  }

  /** Steps of authors' machines wait as visits do. One whose worker is lost is taken again in another: the host does not hear of it. */
  private takeOverSteps(): () => void {
    const holder = InProcess.prototype;
    const original = Reflect.get(holder, "step") as InProcess["step"]; // the method of that name
    const { work, world } = this;
    Reflect.set(holder, "step", function (this: InProcess, machine: AuthorMachine, request: StepRequest): Promise<unknown> {
      const signal = new AbortController().signal;
      const task: Task = { key: request.actor, attempt: 0, visit: null, signal };
      const take = (): Promise<unknown> =>
        work(task, async () => original.call(this, machine, request)).catch((error: unknown) => {
          if (!(error instanceof Interrupted)) throw error;
          world.see(`a step of ${request.actor} is taken again`);
          return take();
        });
      return take();
    });
    return () => void Reflect.set(holder, "step", original);
  }

  dieWith(life: Life): void {
    for (const job of this.jobs.values()) if (job.life === life) job.lose(new Died());
  }

  choices(random: Random): readonly Choice[] {
    const open = this.open;
    if (open.length === 0) return [];
    const waiting = this.holds ? open.filter(({ stage }) => stage !== "begun") : [];
    const next = waiting.length > 0 ? random.pick(waiting) : undefined;
    return [
      ...(next === undefined ? [] : [{ op: `worker ${next.stage === "given" ? "begin" : "answer"} ${next.id}`, weight: 30 }]),
      { op: `worker lose ${random.pick(open).worker}`, weight: this.losses },
    ];
  }

  perform([what = "", which = ""]: readonly string[]): boolean {
    if (what === "lose") return this.loseWorker(Number(which));
    const job = this.open.find(({ id }) => id === which);
    if (job === undefined || (what === "begin" ? job.stage !== "given" : job.stage !== "done")) return false;
    if (what === "begin") job.begin();
    else job.answer();
    return true;
  }

  need(): string | null {
    const job = this.open.find(({ stage }) => stage !== "begun");
    return job === undefined ? null : `worker ${job.stage === "given" ? "begin" : "answer"} ${job.id}`;
  }

  private get open(): readonly Job[] {
    return [...this.jobs.values()].filter(({ life }) => life.alive);
  }

  private loseWorker(number: number): boolean {
    const lost = this.open.filter(({ worker }) => worker === number);
    if (lost.length > 1) this.world.fault("worker lost with several visits");
    for (const job of lost) {
      this.world.see(`lost with ${job.id}, which was ${job.stage}`);
      this.world.fault(lossOf[job.stage]);
      // One that was told to stop ends as told, whatever becomes of its process.
      if (!job.signal.aborted && job.attempt > 0) this.outside.lost.add(`${job.key} ${job.attempt}`);
      job.lose(new Interrupted("The worker ended with SIGKILL."));
      if (job.visit !== null) this.outside.dieIn(job.life, job.visit, job.attempt);
    }
    return lost.length > 0;
  }

  private readonly work = (task: Task, real: () => Promise<unknown>): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { key, attempt, visit, signal } = task;
      const { life } = this.power;
      if (!life.alive) return reject(new Died());
      this.given += 1;
      const id = `${this.given}:${key}#${attempt}`;
      const over = (end: () => void) => (): void => {
        if (this.jobs.delete(id)) end();
      };
      const job: Job = {
        id,
        worker: workerOf(key),
        life,
        key,
        attempt,
        visit,
        signal,
        stage: "given",
        begin: () => {
          job.stage = "begun";
          const ended = (tell: () => void): void => {
            job.stage = "done";
            job.answer = over(tell);
            if (!this.holds) job.answer();
          };
          void settled(real()).then((tell) => ended(() => tell(resolve, reject)));
        },
        answer: () => undefined,
        lose: (error) => over(() => reject(error))(),
      };
      this.jobs.set(id, job);
      if (!this.holds) job.begin();
    });
}

/** How it ended, to be told when it is time. */
async function settled(work: Promise<unknown>): Promise<(resolve: (value: unknown) => void, reject: (error: unknown) => void) => void> {
  try {
    const value = await work;
    return (resolve) => resolve(value);
  } catch (error) {
    return (_, reject) => reject(error);
  }
}

/** All visits of a run go to one worker. */
function workerOf(key: string): number {
  const [run = ""] = key.split("/");
  return [...run].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % crew;
}

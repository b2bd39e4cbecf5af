/** Runs a workflow in a directory of its own, on a clock that stands still, with a scripted agent and a simulated person: for authors' tests. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openStore } from "../../persistence/openStore.ts";
import type { DecisionView, EmbeddedHost, RunEvent, RunView } from "../host/api.ts";
import { openEmbedded, type DaemonHost } from "../host/embedded.ts";
import { fakeClock, systemClock, type FakeClock } from "../runtime/clock.ts";
import { scriptedAgent, type ScriptedAgent, type ScriptedTurn, type TurnMaker } from "./scriptedAgent.ts";

/** A choice's id, or with its text. */
export type PersonAnswer = string | { readonly choice: string; readonly text?: string };

/** What the person does at a node: an answer to each question, or a function of the question; undefined leaves it open. */
export type Person = {
  readonly [node: string]: PersonAnswer | ((question: DecisionView) => PersonAnswer | undefined);
};

export interface WorkflowTestOptions {
  /** The workflow's file. */
  readonly workflow: string;
  /** Turns of a scripted agent, or such an agent; without either, agent steps wait. */
  readonly agent?: ScriptedAgent | readonly (ScriptedTurn | TurnMaker)[];
  /** Answers to decisions, by node. Those of no entry stay open until their deadline. */
  readonly person?: Person;
  /** Answers to checkpoints, by node: values, or functions of the run. */
  readonly answers?: { readonly [node: string]: unknown };
  /** Epoch ms of the beginning; 2030 unless set. */
  readonly startAt?: number;
  /** Where commands run; the test's own directory unless set. */
  readonly cwd?: string;
}

export interface WorkflowTest {
  /** Moved by `run` and `goOn` where a run waits for time alone. */
  readonly clock: FakeClock;
  readonly agent: ScriptedAgent | null;
  /** Everything that happened, over restarts too. */
  readonly events: readonly RunEvent[];
  /** The host of now: it is another one after a crash. */
  readonly host: EmbeddedHost;
  /** Starts a run and lets it go on until it ends, or only somebody else could move it. */
  run(input: unknown, options?: GoOnOptions): Promise<RunView>;
  start(input: unknown): Promise<string>;
  goOn(run: string, options?: GoOnOptions): Promise<RunView>;
  /** Goes on with what stands on the disk at this moment, as after `kill -9`: what runs is lost, and nothing is told of it. */
  crash(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface GoOnOptions {
  /** Crashes once, after the first event that it is true of, and goes on. */
  readonly crashWhen?: (event: RunEvent) => boolean;
  /** Stops here, and leaves what runs as it is. */
  readonly until?: (event: RunEvent) => boolean;
}

const person = { kind: "human", channel: "terminal", actor: "test" } as const;
/** More turns than this are a mistake: a run that waits for times without end. */
const turnLimit = 10_000;
const pollMs = 5;
/** States that time does not end. */
const standsStill: readonly RunView["state"][] = ["paused", "held", "ambiguous", "blocked"];

/** Close it at the end of the test, or bind it by `await using`. */
export async function openWorkflowTest(options: WorkflowTestOptions): Promise<WorkflowTest> {
  const test = new Test(options);
  await test.open();
  return test;
}

class Test implements WorkflowTest {
  readonly clock: FakeClock;
  readonly agent: ScriptedAgent | null;
  readonly events: RunEvent[] = [];
  private readonly options: WorkflowTestOptions;
  private readonly directory = mkdtempSync(path.join(realpathSync(tmpdir()), "pawl-test-"));
  private lives = 0;
  private opened: DaemonHost | null = null;
  private listener: (event: RunEvent) => void = () => undefined;

  constructor(options: WorkflowTestOptions) {
    const { agent, startAt } = options;
    this.options = options;
    this.clock = fakeClock(startAt);
    this.agent = agent === undefined ? null : "run" in agent ? agent : scriptedAgent(agent, { clock: this.clock });
  }

  get host(): DaemonHost {
    if (this.opened === null) throw new Error("The test was closed.");
    return this.opened;
  }

  private get home(): string {
    return path.join(this.directory, `life-${this.lives}`);
  }

  async open(): Promise<void> {
    this.opened = await openEmbedded({ home: this.home, clock: this.clock, adopt: "all", ...(this.agent === null ? {} : { agent: this.agent }) });
    this.opened.subscribe((event) => {
      this.events.push(event);
      this.listener(event);
    });
  }

  async start(input: unknown): Promise<string> {
    const { workflow, cwd = this.directory } = this.options;
    return (await this.host.start({ workflow: path.resolve(workflow), input, cwd })).id;
  }

  async run(input: unknown, options?: GoOnOptions): Promise<RunView> {
    return this.goOn(await this.start(input), options);
  }

  async goOn(run: string, { crashWhen, until }: GoOnOptions = {}): Promise<RunView> {
    let crashes = crashWhen;
    for (let turns = 0; turns < turnLimit; turns += 1) {
      const event = await this.stretch((seen) => (crashes?.(seen) ?? false) || (until?.(seen) ?? false));
      if (event !== null && crashes?.(event)) {
        crashes = undefined;
        await this.crash();
        continue;
      }
      const view = await this.host.run(run);
      if (event !== null || view.endedAt !== null || standsStill.includes(view.state)) return view;
      if (await this.answer(view)) continue;
      const next = this.clock.next();
      if (next === null) return view;
      this.clock.set(Math.max(next, this.clock.now()));
      // What waited for this moment goes on before anybody looks whether something does.
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`Run ${run} still goes on after ${turnLimit} turns of its clock: it waits for times without end.`);
  }

  async crash(): Promise<void> {
    const lost = this.host;
    const seen = await openStore({ home: this.home, mode: "reader" });
    this.lives += 1;
    try {
      mkdirSync(this.home, { mode: 0o700 });
      await seen.store.backup(path.join(this.home, "pawl.db"));
    } finally {
      await seen.release();
    }
    this.opened = null;
    await lost.close();
    await this.open();
  }

  async close(): Promise<void> {
    await this.opened?.close();
    this.opened = null;
    rmSync(this.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Until an event stops it (given back), or nothing but time and people would move it on. */
  private async stretch(stops: (event: RunEvent) => boolean): Promise<RunEvent | null> {
    const over = new AbortController();
    const stopped = new Promise<RunEvent>((resolve) => {
      this.listener = (event) => {
        if (stops(event)) resolve(event);
      };
    });
    try {
      return await Promise.race([stopped, this.quiet(over.signal).then(() => null)]);
    } finally {
      this.listener = () => undefined;
      over.abort();
    }
  }

  /** Nothing works, or only an agent that waits on the clock. */
  private async quiet(signal: AbortSignal): Promise<void> {
    const idle = this.host.idle(signal).catch(() => undefined);
    const resting = (async () => {
      while (!signal.aborted && (this.agent?.resting ?? 0) === 0) await new Promise<void>((resolve) => systemClock.schedule(Date.now() + pollMs, resolve));
    })();
    await Promise.race([idle, resting]);
  }

  /** What the person says to what waits for them; false where they leave it. */
  private async answer(view: RunView): Promise<boolean> {
    const { person: who = {}, answers = {} } = this.options;
    for (const question of view.decisions.filter(({ state }) => state === "open")) {
      const entry = who[question.node];
      const given = typeof entry === "function" ? entry(question) : entry;
      if (given === undefined) continue;
      const { choice, text } = typeof given === "string" ? { choice: given, text: undefined } : given;
      const result = await this.host.answer({ decision: question.id, choice, text, source: person });
      if (result.status === "refused") throw new Error(`The answer to "${question.node}" was refused: ${result.message}`);
      return true;
    }
    const { awaits } = view;
    if (awaits?.kind !== "checkpoint" || !(awaits.node in answers)) return false;
    const entry = answers[awaits.node];
    await this.host.answerCheckpoint({ run: view.id, output: typeof entry === "function" ? entry(view) : entry, source: person });
    return true;
  }
}

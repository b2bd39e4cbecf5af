/** Where races are run: one state directory, its real host in a process of its own, and client processes that live for all races of a kind. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connectHost } from "../../src/client/connectHost.ts";
import type { HostClient } from "../../src/client/hostClient.ts";
import type { RunView } from "../../src/host/api.ts";
import { isAlive, ownerOf } from "../host/daemonKit.ts";
import type { FromRacer, Salvo, Told } from "./talk.ts";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const bin = here("../../src/cli/bin.js");
/** Fewer than a connection may have open. */
const atOnce = 50;
const patienceMs = 60_000;

/** One race is about one run. */
export interface Run {
  readonly n: number;
  readonly run: string;
}

/** A run that waits in its decision. */
export interface Entry extends Run {
  readonly decision: string;
  /** Epoch ms; null without one. */
  readonly deadlineAt: number | null;
}

/** What one commit of the database held. */
export interface Group {
  readonly rows: readonly (readonly [actor: string, type: string])[];
  readonly inbox: readonly (readonly [actor: string, eventId: string])[];
}

export interface GroundOptions {
  /** A fault that its hosts hold, by its name in planted.mjs: `blocking` only while `planting(true)`, the others always. */
  readonly planted?: string;
}

export class Ground {
  readonly directory = mkdtempSync(join(realpathSync(tmpdir()), "pawl-races-"));
  readonly home = join(this.directory, "home");
  readonly side = join(this.directory, "side.txt");
  private readonly notes = join(this.directory, "groups.txt");
  private readonly order = join(this.directory, "kill");
  private readonly plant = join(this.directory, "plant");
  private readonly racers: Racer[] = [];
  private readonly env: NodeJS.ProcessEnv;
  private host: ChildProcess | null = null;

  constructor({ planted }: GroundOptions = {}) {
    const { PI_CODING_AGENT: _a, AI_AGENT: _b, PI_SESSION_ID: _c, PAWL_WORKER: _d, ...rest } = process.env;
    const preloads = [here("groups.mjs"), ...(planted === undefined ? [] : [here("planted.mjs")])].map((file) => `--import ${file}`).join(" ");
    // A racer that finds no host starts one, which has all of this from it.
    this.env = { ...rest, NODE_OPTIONS: preloads, PAWL_HOST_IDLE_MS: "600000", RACE_GROUPS: this.notes, RACE_KILL: this.order };
    if (planted !== undefined) this.env = { ...this.env, RACE_PLANT: planted, RACE_PLANTING: this.plant };
    for (const file of [this.side, this.notes]) writeFileSync(file, "");
  }

  /** Starts the host and resolves when it serves. */
  async open(): Promise<void> {
    const host = spawn(process.execPath, ["--conditions=pawl-source", bin, "host", "serve", "--home", this.home], {
      env: this.env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.host = host;
    let said = "";
    host.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
    await until(
      () => said.includes("is ready") || host.exitCode !== null,
      () => `the host does not serve: ${said}`,
    );
    if (host.exitCode !== null) throw new Error(`the host ended: ${said}`);
  }

  /** A client process that is with the host. */
  async racer(): Promise<Racer> {
    const racer = new Racer(this.home, this.env);
    this.racers.push(racer);
    await racer.ready;
    // Connected before its first race, or it would lose all of the first round.
    await racer.fire([], { client: "met" }).told;
    return racer;
  }

  /** Has runs stand still in their decision; resolves when all of them do. Paused ones are resumed for it. */
  async enter(runs: readonly Run[]): Promise<Entry[]> {
    return this.client((client) =>
      inTurn(runs, async ({ n, run }) => {
        const { pausedAt } = await client.drive(run);
        if (pausedAt !== null) await client.resume(run);
        const { decisions, state } = await client.drive(run);
        const [decision] = decisions;
        if (decision === undefined) throw new Error(`run ${run} waits in no decision but is ${state}`);
        return { n, run, decision: decision.id, deadlineAt: decision.deadlineAt };
      }),
    );
  }

  /** Drives runs until they rest; gives their views in order. A host is started where none is. */
  async rest(entries: readonly Entry[]): Promise<RunView[]> {
    return this.client((client) => inTurn(entries, ({ run }) => client.drive(run)));
  }

  /** Resolves when no run of these waits in a decision any more, with their views. */
  async settled(entries: readonly Entry[]): Promise<RunView[]> {
    return this.client((client) =>
      inTurn(entries, async ({ run }) => {
        for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(20)) {
          const view = await client.drive(run);
          if (view.state !== "waiting") return view;
        }
        throw new Error(`run ${run} waits on`);
      }),
    );
  }

  private async client<T>(use: (client: HostClient) => Promise<T>): Promise<T> {
    const client = connectHost({ home: this.home, start: false, name: "races" });
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }

  /** Kills the host as it is; the time at which that was done. */
  kill(): number {
    const pid = ownerOf(this.home);
    if (pid === null) throw new Error("there is no host to kill");
    process.kill(pid, "SIGKILL");
    return Date.now();
  }

  async dead(pid: number | null): Promise<void> {
    await until(
      () => pid === null || !isAlive(pid),
      () => "the host lives on after its kill",
    );
  }

  get owner(): number | null {
    return ownerOf(this.home);
  }

  /** The commit group that holds so many answers from now on is the host's last: it dies before that is durable, or after it. */
  orderToDie(when: "before" | "after", answers: number): void {
    writeFileSync(this.order, `${when} ${answers}`);
  }

  planting(on: boolean): void {
    if (on) writeFileSync(this.plant, "");
    else if (existsSync(this.plant)) unlinkSync(this.plant);
  }

  private get lines(): readonly unknown[] {
    return readFileSync(this.notes, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line): unknown => JSON.parse(line));
  }

  get groups(): readonly Group[] {
    return this.lines.filter((line): line is Group => typeof line === "object" && line !== null && "rows" in line);
  }

  /** Epoch ms of each kill at a commit, in order. */
  get kills(): readonly number[] {
    return this.lines.flatMap((line) => (typeof line === "object" && line !== null && "killed" in line ? [Number(line.killed)] : []));
  }

  /** Executions of steps: `<visit> <attempt>`. */
  get marks(): readonly string[] {
    return readFileSync(this.side, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  }

  /** Ends the host as `pawl host stop` does: everything it began is stored. */
  async stop(): Promise<void> {
    const pid = this.owner;
    if (pid === null || !isAlive(pid)) return;
    process.kill(pid, "SIGTERM");
    await this.dead(pid);
  }

  async remove(): Promise<void> {
    for (const racer of this.racers) racer.end();
    const pid = this.owner;
    if (pid !== null && isAlive(pid)) process.kill(pid, "SIGKILL");
    this.host?.kill("SIGKILL");
    await this.dead(pid);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A client process. */
export class Racer {
  readonly ready: Promise<void>;
  private readonly child: ChildProcess;
  private readonly waits = new Map<number, { readonly told: (told: readonly Told[]) => void; readonly lost: () => void }>();
  private number = 0;

  constructor(home: string, env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, ["--conditions=pawl-source", here("racer.ts"), home], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.ready = new Promise((resolve, reject) => {
      this.child.once("exit", (code, signal) => reject(new Error(`a racer ended with ${code ?? signal}`)));
      this.child.on("message", (message) => {
        const said = message as FromRacer; // test/races/racer.ts sends nothing else
        if (said.kind === "ready") return resolve();
        const wait = this.waits.get(said.id);
        if (said.kind === "lost") return wait?.lost();
        this.waits.delete(said.id);
        wait?.told(said.told);
      });
    });
  }

  /** `lost` resolves when the replies of a salvo whose replies get lost are. */
  fire(shots: Salvo["shots"], { client = "lasting", lose = "none" }: Partial<Pick<Salvo, "client" | "lose">> = {}) {
    const id = (this.number += 1);
    const lost = Promise.withResolvers<void>();
    const told = new Promise<readonly Told[]>((resolve) => this.waits.set(id, { told: resolve, lost: lost.resolve }));
    this.child.send({ id, shots, client, lose } satisfies Salvo);
    return { told, lost: lost.promise };
  }

  end(): void {
    this.child.kill("SIGKILL");
  }
}

/** Does it for each item, so many at once as a connection takes; the results in order. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let at = (next += 1) - 1; at < items.length; at = (next += 1) - 1) {
        const item = items[at];
        if (item !== undefined) results[at] = await work(item);
      }
    }),
  );
  return results;
}

export async function until(holds: () => boolean, why: () => string): Promise<void> {
  for (const end = Date.now() + patienceMs; !holds();) {
    if (Date.now() > end) throw new Error(why());
    await sleep(5);
  }
}

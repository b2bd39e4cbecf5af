/** The parent of a process that is killed: sends it events, keeps what was acknowledged, and compares with what the database holds in the end. */
import { fork, type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { openStore, type JournalRow, type SqliteStore } from "../../persistence/index.ts";
import { openPawl } from "../../src/index.ts";
import { accountMachine, tickerMachine, workerMachine } from "./libraryMachines.ts";
import type { Said, Told } from "./libraryChild.ts";

const program = fileURLToPath(new URL("./libraryChild.ts", import.meta.url));

/** Seeded numbers from 0 up to 1, so that a failing order of kills can be had again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export class Books {
  readonly home = mkdtempSync(join(tmpdir(), "pawl-crash-"));
  readonly sideFile = join(this.home, "side.txt");
  /** Everything that was ever sent, by event id. */
  readonly sent = new Map<string, Told>();
  /** What was acknowledged, with the revision it was told. */
  readonly acknowledged = new Map<string, number>();
  private readonly waiting: Told[] = [];
  private readonly knocks = new EventEmitter();

  /** A life that ends gracefully leaves its compiled code behind for all others. */
  async warm(): Promise<void> {
    const { signal } = await this.life({ actors: ["account-0"], events: 1 });
    expect(signal).toBeNull();
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }

  /** An event of its own for this actor. */
  next(actor: string): Told {
    const told: Told = { actor, eventId: `e${this.sent.size}`, n: this.sent.size + 1 };
    this.sent.set(told.eventId, told);
    return told;
  }

  /** Starts a child that keeps some events in flight until it ends. `killAfter`: ms after it is ready, and with `contended` not before
   *  another process has found the directory taken. Resolves with how it ended. */
  async life(options: {
    readonly actors: readonly string[];
    readonly stop?: string;
    readonly killAfter?: number;
    readonly contended?: boolean;
    readonly events?: number;
    readonly inFlight?: number;
  }): Promise<{
    readonly signal: NodeJS.Signals | null;
    readonly wasReady: boolean;
    readonly sawOwner: boolean;
  }> {
    const child = fork(program, [join(this.home, "state"), this.sideFile, options.stop ?? "none:0"], {
      execArgv: ["--conditions=pawl-source"],
      // Most of a short life would be compiling.
      env: { ...process.env, NODE_COMPILE_CACHE: join(this.home, "compiled") },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const mine = new Set<string>();
    let wasReady = false;
    let sawOwner = false;
    let left = options.events ?? Number.POSITIVE_INFINITY;
    let turn = 0;
    const give = (): void => {
      while (mine.size < (options.inFlight ?? 20) && left > 0) {
        // First what an earlier owner left unanswered: the same ids again.
        const told = this.waiting.shift() ?? this.next(options.actors[(turn += 1) % options.actors.length] ?? "shared");
        left -= 1;
        mine.add(told.eventId);
        if (child.connected) child.send(told, () => {});
      }
    };
    child.on("message", (said: Said) => {
      if (said.kind === "taken") {
        sawOwner = true;
        this.knocks.emit("knock");
      }
      if (said.kind === "ready") {
        wasReady = true;
        give();
        if (options.killAfter !== undefined) void this.due(options.killAfter, options.contended ?? false).then(() => child.kill("SIGKILL"));
      }
      if (said.kind === "acknowledged") {
        mine.delete(said.eventId);
        this.acknowledge(said);
        if (left > 0) give();
        else if (mine.size === 0 && child.connected) child.send("close", () => {});
      }
    });
    const signal = await exit(child);
    for (const eventId of mine) {
      const told = this.sent.get(eventId);
      if (told) this.waiting.push(told);
    }
    return { signal, wasReady, sawOwner };
  }

  /** How fast processes start decides whether they meet; so a killed owner waits for the next one. The last has nobody to wait for. */
  private async due(killAfter: number, contended: boolean): Promise<void> {
    if (contended) await Promise.race([once(this.knocks, "knock"), sleep(3_000)]);
    await sleep(killAfter);
  }

  private acknowledge({ eventId, status, revision }: Extract<Said, { kind: "acknowledged" }>): void {
    expect(["applied", "duplicate"]).toContain(status);
    expect(this.acknowledged.get(eventId) ?? revision, `${eventId} was acknowledged with another revision before`).toBe(revision);
    this.acknowledged.set(eventId, revision);
  }

  /** Opens the directory once more, sends what is unanswered, and reads the books. */
  async audit(): Promise<void> {
    const worker = workerMachine(this.sideFile);
    const pawl = await openPawl({ path: join(this.home, "state"), machines: [accountMachine, worker, tickerMachine], adopt: "none" });
    for (const told of this.waiting.splice(0)) {
      const { status, revision } = await pawl.send(told.actor, { type: "add", n: told.n }, { eventId: told.eventId });
      this.acknowledge({ kind: "acknowledged", eventId: told.eventId, status, revision });
    }
    await pawl.close();
    const opened = await openStore({ home: join(this.home, "state"), mode: "owner" });
    try {
      expect(await opened.store.check()).toEqual([]);
      await this.auditAccounts(opened.store);
      await this.auditWorkers(opened.store);
      await this.auditTickers(opened.store);
    } finally {
      await opened.release();
    }
  }

  /** No event was lost, none counted twice, and each stands where its sender was told. */
  private async auditAccounts(store: SqliteStore): Promise<void> {
    expect(this.acknowledged.size).toBe(this.sent.size);
    for (const actor of new Set([...this.sent.values()].map((told) => told.actor))) {
      const mine = [...this.sent.values()].filter((told) => told.actor === actor);
      const [record] = await store.load([actor]);
      expect(contextOf(record?.snapshot), actor).toEqual({ sum: mine.reduce((sum, { n }) => sum + n, 0), count: mine.length });
      const rows = (await journalOf(store, actor)).filter((row) => row.type === "add");
      expect(new Map(rows.map((row) => [row.eventId, row.revision]))).toEqual(new Map(mine.map(({ eventId }) => [eventId, this.acknowledged.get(eventId)])));
      expect(rows.length).toBe(mine.length);
    }
  }

  /** Each result was taken once, and no `once` effect was done twice. */
  private async auditWorkers(store: SqliteStore): Promise<void> {
    const done = existsSync(this.sideFile) ? readFileSync(this.sideFile, "utf8").trim().split("\n") : [];
    const times = new Map<string, number>();
    for (const line of done) times.set(keyOf(line), (times.get(keyOf(line)) ?? 0) + 1);
    for (let number = 0; number < 3; number += 1) {
      const actor = `worker-${number}`;
      const [record] = await store.load([actor]);
      if (!record) continue;
      const results = (await journalOf(store, actor)).filter((row) => row.type === "xstate.done.actor.work");
      const effects = await effectsOf(store, actor);
      const confirmed = effects.filter(({ state }) => state === "confirmed");
      expect(contextOf(record.snapshot), actor).toMatchObject({ results: results.length });
      expect(results.length, actor).toBe(confirmed.length);
      for (const { key, once } of confirmed) {
        if (once) expect(times.get(key), `${key} is once`).toBe(1);
        else expect(times.get(key) ?? 0, key).toBeGreaterThan(0);
      }
      // One is open, or waits for a person; all others are over.
      expect(effects.length - confirmed.length, actor).toBe(1);
    }
  }

  /** Each timer fired once. */
  private async auditTickers(store: SqliteStore): Promise<void> {
    for (const actor of ["ticker-0", "ticker-1"]) {
      const [record] = await store.load([actor]);
      if (!record) continue;
      const fired = (await journalOf(store, actor)).filter((row) => row.type.startsWith("xstate.after."));
      expect(contextOf(record.snapshot), actor).toEqual({ ticks: fired.length });
      expect(new Set(fired.map((row) => row.eventId)).size, actor).toBe(fired.length);
      expect((await store.timers(actor)).length, actor).toBe(1);
    }
  }
}

const keyOf = (line: string): string => line.slice(0, line.lastIndexOf(" "));

const contextOf = (snapshot: string | undefined): unknown => (snapshot === undefined ? null : (JSON.parse(snapshot) as { context: unknown }).context);

async function journalOf(store: SqliteStore, actor: string): Promise<readonly JournalRow[]> {
  const rows: JournalRow[] = [];
  for (let from = 1; ;) {
    const page = await store.journal(actor, from, 1000);
    rows.push(...page);
    const last = page.at(-1);
    if (!last) return rows;
    expect(
      page.map((row) => row.revision),
      `${actor}: no revision is missing`,
    ).toEqual(page.map((_, index) => from + index));
    from = last.revision + 1;
  }
}

async function effectsOf(store: SqliteStore, actor: string) {
  const rows = [];
  for (let cursor: string | undefined; ;) {
    const page = await store.query("effects", { actor }, { limit: 500, cursor });
    rows.push(...page.items);
    if (page.cursor === null) return rows;
    cursor = page.cursor;
  }
}

const exit = (child: ChildProcess): Promise<NodeJS.Signals | null> => new Promise((resolve) => child.on("exit", (_code, signal) => resolve(signal)));

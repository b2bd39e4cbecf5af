/** RUN-23 A host, its workers and its clients are killed in every combination while many runs are active. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { openStore } from "../../persistence/index.ts";
import { openReader } from "../../src/host/embedded.ts";
import { ownerOf } from "../host/daemonKit.ts";
import { seeded } from "./libraryKit.ts";

const clients = 4;
const runsOfClient = 5;
const seed = Number(process.env["PAWL_TEST_SEED"] ?? 1);
/** Fewer than a step may be interrupted by lost workers before it fails. */
const rounds = 2;

/** A host last: without it nobody can tell any more which workers were its own. */
const victims = ["worker", "client", "host"] as const;
type Victim = (typeof victims)[number];
const combinations = Array.from({ length: 2 ** victims.length - 1 }, (_, bits) => victims.filter((_victim, at) => ((bits + 1) >> at) % 2 === 1));

/** Processes by their parents, and how they were called. */
function children(of: number): readonly { readonly pid: number; readonly line: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        return parent === of ? [{ pid: Number(name), line: readFileSync(`/proc/${name}/cmdline`, "utf8") }] : [];
      } catch {
        return []; // it ended between being listed and being read
      }
    });
}

class Company {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), "pawl-company-")));
  readonly home = join(this.directory, "home");
  readonly side = join(this.directory, "side.txt");
  readonly workflow = join(this.directory, "company.workflow.ts");
  readonly killed: { [who in Victim]: number } = { host: 0, worker: 0, client: 0 };
  private readonly running: ChildProcess[] = [];

  constructor() {
    writeFileSync(this.side, "");
    writeFileSync(this.workflow, readFileSync(fileURLToPath(new URL("company.workflow.ts", import.meta.url))));
  }

  /** A client with its runs; one that is killed is started again with the same keys. Resolves with the states of its runs. */
  async client(number: number): Promise<string> {
    const program = fileURLToPath(new URL("companyClient.ts", import.meta.url));
    for (;;) {
      const child = spawn(
        process.execPath,
        ["--conditions=pawl-source", program, this.home, this.workflow, String(number * runsOfClient), String(runsOfClient)],
        { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, COMPANY_SIDE: this.side } },
      );
      this.running[number] = child;
      let printed = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
      const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
      if (code === 0) return printed.trim();
      if (child.signalCode !== "SIGKILL") throw new Error(`a client ended with ${String(code)}`);
    }
  }

  kill(who: Victim, random: () => number): void {
    if (who === "client") {
      const alive = this.running.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      if (alive[Math.floor(random() * alive.length)]?.kill("SIGKILL")) this.killed.client += 1;
      return;
    }
    const host = ownerOf(this.home);
    if (host === null) return;
    const pids = who === "host" ? [host] : children(host).flatMap(({ pid, line }) => (line.includes("workerMain") ? [pid] : []));
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
        this.killed[who] += 1;
      } catch {
        // It ended by itself a moment ago.
      }
    }
  }

  async stopHost(): Promise<void> {
    const pid = ownerOf(this.home);
    if (pid === null || !existsSync(`/proc/${pid}`)) return;
    process.kill(pid, "SIGTERM");
    for (let waited = 0; existsSync(`/proc/${pid}`) && waited < 10_000; waited += 50) await sleep(50);
  }
}

describe.skipIf(process.platform !== "linux")("kill -9 in company", () => {
  test.each(combinations.map((who) => [who.join(" and "), who] as const))(
    "RUN-23 case 41 case 45 case 90 of %s: all runs finish, each step once",
    { timeout: 300_000 },
    async (_name, who) => {
      const random = seeded(seed * 8 + combinations.indexOf(who));
      const company = new Company();
      try {
        const ends = Promise.all(Array.from({ length: clients }, (_, number) => company.client(number)));
        let over = false;
        const finished = ends.finally(() => (over = true));
        for (let round = 0; round < rounds && !over; round += 1) {
          // Not before there is something to lose.
          const lines = (): number => readFileSync(company.side, "utf8").split("\n").length;
          for (const before = lines(); lines() < before + 3 && !over;) await sleep(10);
          await sleep(random() * 150);
          for (const victim of who) company.kill(victim, random);
        }
        expect((await finished).join(" ").split(" ")).toEqual(Array.from({ length: clients * runsOfClient }, () => "completed"));
        for (const victim of who) expect(company.killed[victim], `${victim}s killed`).toBeGreaterThan(0);
        await company.stopHost();

        const reader = await openReader({ home: company.home });
        const { items } = await reader.runs({}, { limit: 100 });
        expect(items.length).toBe(clients * runsOfClient);
        for (const { id } of items) {
          const view = await reader.run(id);
          expect(view.result).toEqual([expect.any(Number), "one", "two", "three", "four"]);
          expect(view.visits.map(({ node, status }) => `${node} ${status}`)).toEqual(["one", "two", "three", "four", "five"].map((node) => `${node} accepted`));
        }
        await reader.close();
        // No attempt was made twice, and none more often than it was interrupted.
        const attempts = readFileSync(company.side, "utf8").trim().split("\n");
        expect(new Set(attempts).size).toBe(attempts.length);
        expect(attempts.length).toBeLessThanOrEqual(clients * runsOfClient * 3 + rounds * clients * runsOfClient);
        const { store, release } = await openStore({ home: company.home, mode: "owner" });
        expect(await store.check()).toEqual([]);
        await release();
      } finally {
        await company.stopHost();
        rmSync(company.directory, { recursive: true, force: true });
      }
    },
  );
});

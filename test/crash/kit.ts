/** Runs the real command in its own process, in a pseudo-terminal where a person is asked for, and kills it at a point of its life. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const bin = join(root, "src/cli/bin.js");
export const stepsWorkflow = join(root, "test/crash/steps.workflow.ts");
const preload = join(root, "test/crash/stopAtCommit.mjs");

export type StopPoint = `${"before" | "after"}:${number}`;

export interface Ended {
  /** Null when it was killed. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A state directory and a working directory of one run; removed by `remove`. */
export class Place {
  readonly dir = mkdtempSync(join(tmpdir(), "pawl-kill-"));
  readonly home = join(this.dir, "home");
  private marks = 0;

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Lines of the side file, counted. */
  get counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const line of this.lines("side.txt")) counts[line] = (counts[line] ?? 0) + 1;
    return counts;
  }

  lines(file: string): readonly string[] {
    return existsSync(join(this.dir, file))
      ? readFileSync(join(this.dir, file), "utf8")
          .split("\n")
          .filter((line) => line !== "")
      : [];
  }

  /** Process that owns the state directory: in a pseudo-terminal it is not our child. */
  get owner(): number | null {
    const file = join(this.home, "owner.json");
    if (!existsSync(file)) return null;
    const found = /"pid":\s*(\d+)/.exec(readFileSync(file, "utf8"));
    return found ? Number(found[1]) : null;
  }

  /** Runs to its end, or is killed where it stands still (`stop`) or when `killWhen` holds. */
  async pawl(
    args: readonly string[],
    options: { readonly terminal?: boolean; readonly stop?: StopPoint; readonly killWhen?: () => boolean } = {},
  ): Promise<Ended & { readonly commits: number | null }> {
    const mark = join(this.dir, `mark-${(this.marks += 1)}`);
    const command = [process.execPath, "--import", preload, bin, ...args];
    const env = cleanEnvironment({ PAWL_HOME: this.home, PAWL_TEST_MARK: mark, PAWL_TEST_STOP: options.stop ?? "never:0" });
    const child = options.terminal
      ? spawn("script", ["--quiet", "--return", "--flush", "--command", command.map(quoted).join(" "), "/dev/null"], {
          env,
          stdio: ["ignore", "pipe", "pipe"],
          cwd: this.dir,
        })
      : spawn(command[0] ?? "", command.slice(1), { env, stdio: ["ignore", "pipe", "pipe"], cwd: this.dir });
    const ended = outcome(child);
    const isOver = { value: false };
    void ended.then(() => (isOver.value = true));
    for (let reached = false; !reached && !isOver.value;) {
      if (options.stop && existsSync(mark)) {
        const pid = Number(readFileSync(mark, "utf8"));
        if (pid > 0) {
          process.kill(pid, "SIGKILL");
          reached = true;
        }
      } else if (options.killWhen?.()) {
        const owner = this.owner;
        if (owner === null) continue;
        process.kill(owner, "SIGKILL");
        reached = true;
      }
      await sleep(2);
    }
    const result = await ended;
    const said = existsSync(mark) ? /^commits (\d+)$/.exec(readFileSync(mark, "utf8")) : null;
    return { ...result, commits: said ? Number(said[1]) : null };
  }

  async json<T>(args: readonly string[]): Promise<T> {
    const { out, err, code } = await this.pawl([...args, "--json"]);
    if (out.trim() === "") throw new Error(`pawl ${args.join(" ")} said nothing (exit ${code}): ${err}`);
    return JSON.parse(out) as T; // the tests below name the shape they read
  }
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

function cleanEnvironment(more: Record<string, string>): NodeJS.ProcessEnv {
  const { PI_CODING_AGENT: _a, AI_AGENT: _b, PI_SESSION_ID: _c, PAWL_WORKER: _d, ...rest } = process.env;
  return { ...rest, NO_COLOR: "1", PAWL_EMBEDDED: "1", ...more };
}

function outcome(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let out = "";
    let err = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

/** Starts a host as a process of its own, which outlives whoever started it. */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { PawlError } from "../errors.ts";
import { makeDirectory } from "../makeDirectory.ts";
import { openLogFile } from "../host/protocol/logFile.ts";
import { commandFile } from "../packageRoot.ts";
import type { Clock } from "../runtime/clock.ts";
import { reportVariable, StartReport } from "../host/protocol/startReport.ts";

/** Variables that speak of the one process that has them, and not of what a run's steps should see. */
const ownVariables = ["PAWL_EMBEDDED", "PAWL_WORKER", reportVariable];

/** A host waits most of its life: with the engine's usual room for new objects it would hold a fifth more memory while it does. MiB. */
const memoryFlags = ["--max-semi-space-size=2"];

const reportFd = 3;
const shownLines = 5;

/** Starts a host and hears how it went. @throws nodeTooOld, hostUnavailable */
export async function startHost(home: string, until: number, clock: Clock): Promise<StartReport> {
  const log = openLog(home);
  try {
    const env = { ...process.env, [reportVariable]: String(reportFd) };
    for (const name of ownVariables) if (name !== reportVariable) Reflect.deleteProperty(env, name);
    // Its directory is the root: nothing is kept from being unmounted or removed. What the engine itself says at a crash goes to the log.
    const child = spawn(nodeProgram(), [...memoryFlags, ...loaderFlags(), commandFile(), "host", "serve", "--home", home], {
      cwd: "/",
      env,
      detached: true,
      stdio: ["ignore", "ignore", log ?? "ignore", "pipe"],
    });
    child.unref();
    const pipe = child.stdio[reportFd];
    const failed = new Promise<never>((_resolve, reject) => child.once("error", (cause) => reject(notStarted(home, cause.message))));
    const exited = new Promise<null>((resolve) => child.once("exit", () => resolve(null)));
    let giveUp = (): void => {};
    const patience = new Promise<null>((resolve) => {
      giveUp = clock.schedule(until, () => resolve(null));
    });
    try {
      const line = await Promise.race([failed, firstLine(pipe as Readable, exited), patience]); // "pipe" above: a readable stream on this side
      const report = StartReport.safeParse(line === null ? null : parsed(line));
      if (report.success) return report.data;
      throw notStarted(home, `it ended without a word.${lastLogLines(home)}`);
    } finally {
      giveUp();
      (pipe as Readable).destroy(); // as above
    }
  } finally {
    if (log !== null) closeSync(log);
  }
}

/** The last lines of a host's log, for a message; empty when there are none. */
export function lastLogLines(home: string): string {
  try {
    const path = join(home, "host.log");
    if (!statSync(path).isFile()) return "";
    const lines = readFileSync(path, "utf8").trimEnd().split("\n").slice(-shownLines);
    return ` The end of its log (\`pawl host logs\`):\n${lines.join("\n")}\n`;
  } catch {
    return "";
  }
}

/** What the owner of a directory says of itself; it proves nothing. */
export function ownerPid(home: string): number | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(join(home, "owner.json"), "utf8"));
    return typeof owner === "object" && owner !== null && "pid" in owner && typeof owner.pid === "number" ? owner.pid : null;
  } catch {
    return null;
  }
}

const notStarted = (home: string, why: string): PawlError =>
  new PawlError("hostUnavailable", `The host of ${home} could not be started: ${why} Try again, or do without it: --embedded`, { subject: home });

/** Null where no log can be: the host itself says what is wrong with the directory. */
function openLog(home: string): number | null {
  try {
    makeDirectory(home);
    return openLogFile(join(home, "host.log"));
  } catch {
    return null;
  }
}

async function firstLine(pipe: Readable, exited: Promise<null>): Promise<string | null> {
  let text = "";
  const line = new Promise<string | null>((resolve) => {
    pipe.setEncoding("utf8");
    pipe.on("data", (more: string) => {
      text += more;
      const end = text.indexOf("\n");
      if (end >= 0) resolve(text.slice(0, end));
    });
    pipe.on("error", () => resolve(null));
    pipe.on("end", () => resolve(null));
  });
  // What it wrote last may still be on the way when its end is known.
  return (await Promise.race([line, exited])) ?? (await line);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Flags by which this process finds its modules: where those are needed, the host needs them too. */
const loaderFlags = (): readonly string[] => process.execArgv.filter((flag) => /^(?:--conditions|-C)=/.test(flag));

/** Node's own program: this process's, or where that is another engine, what PATH calls node. @throws nodeTooOld */
function nodeProgram(): string {
  if (process.versions["bun"] === undefined && process.release.name === "node") return process.execPath;
  let version = "";
  try {
    version = execFileSync("node", ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    throw new PawlError("nodeTooOld", "The host needs Node 22.19 or newer, and there is no `node` on PATH. Install it and run this again.");
  }
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return "node";
  throw new PawlError("nodeTooOld", `The host needs Node 22.19 or newer, and \`node\` on PATH is ${version}. Install a newer one and run this again.`);
}

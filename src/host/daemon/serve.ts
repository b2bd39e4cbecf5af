/** The daemon process: owns a state directory, lets its runs go on, serves clients, and ends when nobody needs it. HOST-53 to HOST-60. */
import { writeSync } from "node:fs";
import { readOwner, hostCommand } from "../../../persistence/lock.ts";
import { isPawlError } from "../../errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import { openEmbedded, type DaemonHost } from "../embedded.ts";
import { killGroups } from "../processes.ts";
import { wireError } from "../protocol/messages.ts";
import { reportVariable, type StartReport } from "../protocol/startReport.ts";
import type { StartedWorker } from "../workers/startWorker.ts";
import { watchIdle } from "./idle.ts";
import { listen, type Listening } from "./listen.ts";
import { openLog, type HostLog } from "./log.ts";
import { HostServer } from "./server.ts";

export interface ServeOptions {
  /** State directory, absolute. */
  readonly home: string;
  /** Of Pawl. */
  readonly version: string;
  /** How long it stays without anything to do; 10 s when left out. */
  readonly idleMs?: number;
  /** The worker that stands by first, where it was started already. */
  readonly worker?: StartedWorker | undefined;
}

/** Exit codes, as the command line has them. */
const exits = { stopped: 0, broken: 1, refused: 4 } as const;

const defaultIdleMs = 10_000;
/** The last commit and the processes' ends fit into this; SIGTERM promises 5 s. */
const closeMs = 4_000;

/** Runs until the host ends, and ends the process. */
export async function serveHost({ home, version, idleMs = defaultIdleMs, worker }: ServeOptions): Promise<never> {
  const report = startReporter();
  const clock = systemClock;
  let log: HostLog | null = null;
  const leave = (code: number): never => {
    killGroups();
    log?.close();
    process.exit(code);
  };
  let opened: DaemonHost | undefined;
  let listening: Listening | undefined;
  try {
    const ends = new Ends();
    opened = await openEmbedded({
      home,
      adopt: "all",
      author: "workers",
      workerLimits: { spare: worker ?? true },
      command: hostCommand,
      // Whoever waits has been told why; the next host opens the store again, and finds the disk as it is then.
      onHalted: ({ code }) => ends.end(code),
      onProblem: (error) => log?.write("warn", "problem", fieldsOf(error)),
    });
    log = openLog(home, clock);
    const writing = log;
    silenceOutput();
    const host = opened;
    const server = new HostServer({
      host,
      home,
      identity: { pid: process.pid, version },
      clock,
      log: (level, event, ids) => writing.write(level, event, ids),
      onStop: () => ends.end("stopped"),
      onClients: () => idle.touch(),
    });
    listening = await listen(home, (connection) => server.accept(connection));
    const place = listening;
    const idle = watchIdle({
      clock,
      idleMs,
      clients: () => server.clients,
      standing: () => host.standing(),
      isInPlace: () => place.isInPlace(),
      onIdle: () => ends.end("idle"),
      onDisplaced: () => ends.end("displaced"),
    });
    host.subscribe((event) => {
      if (event.kind !== "line") idle.touch();
      if (event.kind === "run") writing.write("info", "run", { run: event.run, state: event.state });
      if (event.kind === "decision") writing.write("info", "decision", { decision: event.decision, state: event.state });
    });
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, () => ends.end(name));
    const broken = (error: unknown): void => {
      writing.write("error", "uncaught", fieldsOf(error));
      // At once and without a goodbye: what ran is an interrupted attempt, which is counted, and clients find a new host.
      leave(exits.broken);
    };
    process.on("uncaughtException", broken);
    process.on("unhandledRejection", broken);
    writing.write("info", "host.started", { pid: process.pid, version, socket: place.path });
    report({ ready: true, pid: process.pid });

    const why = await ends.ended;
    writing.write("info", "host.ending", { reason: why });
    // Whoever waits longer than this for a step or a disk is left behind: what was committed is safe.
    clock.schedule(clock.now() + closeMs, () => {
      writing.write("warn", "host.cutOff", { reason: why });
      leave(exits.stopped);
    });
    idle.stop();
    server.sayClosing(why);
    place.close();
    await host.close();
    server.close();
    writing.write("info", "host.ended", { reason: why });
    return leave(exits.stopped);
  } catch (error) {
    log?.write("error", "host.refused", fieldsOf(error));
    const owner = readOwner(home);
    report({ ready: false, error: wireError(error), byHost: isOwnedElsewhere(error) && (owner === null || owner.command === hostCommand) });
    listening?.close();
    await opened?.close().catch(() => undefined);
    return leave(exits.refused);
  }
}

const isOwnedElsewhere = (error: unknown): boolean => isPawlError(error) && error.code === "ownedElsewhere";

/** Why the host ends: the first reason counts. */
class Ends {
  readonly ended: Promise<string>;
  private resolve: (why: string) => void = () => {};
  constructor() {
    this.ended = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
  end(why: string): void {
    this.resolve(why);
  }
}

/** Code and place of an error, without what it says: a message may hold what a workflow works with. Pawl's own are made for logs. */
function fieldsOf(error: unknown): { readonly [name: string]: string } {
  if (isPawlError(error)) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: "internal", thrown: typeof error };
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return {
    code: "internal",
    name: error.name,
    where: frames
      .slice(0, 8)
      .map((line) => line.trim())
      .join(" < "),
  };
}

/** Code of workflows that runs in this process may print: nobody reads it, and the log must not hold it. */
function silenceOutput(): void {
  const drop = (_text: unknown, encoding?: unknown, done?: unknown): boolean => {
    const called = typeof encoding === "function" ? encoding : done;
    if (typeof called === "function") setImmediate(() => void Reflect.apply(called, undefined, []));
    return true;
  };
  process.stdout.write = drop;
  process.stderr.write = drop;
}

/** Tells whoever started this process how it went: over the pipe it gave, else on standard error. */
function startReporter(): (report: StartReport) => void {
  const given = process.env[reportVariable];
  delete process.env[reportVariable];
  const fd = given !== undefined && /^[0-9]{1,3}$/.test(given) ? Number(given) : null;
  return (report) => {
    try {
      if (fd !== null) writeSync(fd, `${JSON.stringify(report)}\n`);
      else writeSync(2, report.ready ? `pawl: host ${report.pid} is ready\n` : `pawl: ${report.error.message}\n`);
    } catch {
      // Whoever started it has gone; others will find the socket.
    }
  };
}

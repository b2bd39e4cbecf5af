/** `pawl host start`, `status`, `stop` and `logs`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PawlError } from "../../errors.ts";
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { HostStatus } from "../../host/protocol/messages.ts";
import type { Environment } from "../environment.ts";
import { exitCodes, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";
import { duration } from "../render/time.ts";
import { clientOf } from "./state.ts";

export async function startHost(environment: Environment): Promise<ExitCode> {
  return show(await askStatus(environment, true), environment);
}

export async function statusOfHost(environment: Environment): Promise<ExitCode> {
  return show(await askStatus(environment, false), environment);
}

export async function stopHost(environment: Environment): Promise<ExitCode> {
  const stopped = await endHost(environment, false);
  if (environment.json) environment.out(jsonLine({ stopped: stopped !== null, pid: stopped?.pid ?? null, home: environment.home }));
  else if (stopped === null) say(environment, noHost(environment));
  else
    say(
      environment,
      `Host ${stopped.pid} of ${visibleLine(environment.home)} has ended. What was saved is safe${stopped.open > 0 ? `; ${runs(stopped.open)} not finished: what was going on goes on when a host starts again, what waits for somebody goes on waiting` : ""}.`,
    );
  return exitCodes.completed;
}

export function hostLogs({ lines = 50 }: { readonly lines?: number }, environment: Environment): ExitCode {
  const shown = logLines(environment.home).slice(-lines);
  if (shown.length === 0 && !environment.json) say(environment, `No host has written a log in ${visibleLine(environment.home)}.`);
  for (const line of shown) environment.out(environment.json ? `${asJson(line)}\n` : `${visibleLine(readable(line))}\n`);
  return exitCodes.completed;
}

/** For work that needs the directory for itself: has a host that is not in use end. @throws refused, saying how to stop it, when it is in use */
export async function withoutHost(environment: Environment): Promise<void> {
  await endHost(environment, true);
}

/** Ends the host and waits until the directory is free; what it was, or null when none ran. */
async function endHost(environment: Environment, ifIdle: boolean): Promise<HostStatus | null> {
  if (!(await isThere(environment))) return null;
  const client = await clientOf(environment, false);
  let status: HostStatus;
  try {
    status = await client.status();
    await client.stop({ ifIdle });
  } finally {
    await client.close();
  }
  const { ownerGone } = await import("../../host/daemon/gone.ts");
  if (!(await ownerGone(environment.home, status.pid, environment.clock)))
    throw new PawlError("hostUnavailable", `Host ${status.pid} was told to end, but is still there. End it at once, which is safe: kill -9 ${status.pid}`, {
      subject: environment.home,
    });
  return status;
}

async function isThere({ home }: Environment): Promise<boolean> {
  const { isHostThere } = await import("../../client/dial.ts");
  return isHostThere(home);
}

async function askStatus(environment: Environment, start: boolean): Promise<HostStatus | null> {
  if (!start && !(await isThere(environment))) return null;
  const client = await clientOf(environment, start);
  try {
    return await client.status();
  } finally {
    await client.close();
  }
}

function show(status: HostStatus | null, environment: Environment): ExitCode {
  const { json, out, clock, home } = environment;
  if (json) out(jsonLine(status === null ? { running: false, home } : { running: true, ...status }));
  else if (status === null) say(environment, noHost(environment));
  else
    say(
      environment,
      `Host ${status.pid} (Pawl ${status.version}) runs for ${visibleLine(home)} since ${duration(clock.now() - status.startedAt)}: ${runs(status.open)} not finished, ${status.moving} of them going on; ${others(status.clients - 1)}.`,
    );
  return exitCodes.completed;
}

const others = (count: number): string => (count === 1 ? "1 other client" : `${count} other clients`);

const runs = (count: number): string => (count === 1 ? "1 run is" : `${count} runs are`);

const noHost = ({ home }: Environment): string => `No host runs for ${visibleLine(home)}. One starts by itself when it is needed.`;

const say = ({ out, width }: Environment, text: string): void =>
  out(
    wrap(text, width())
      .map((line) => `${line}\n`)
      .join(""),
  );

/** Oldest first, over all files of the log. */
function logLines(home: string): readonly string[] {
  const path = join(home, "host.log");
  return [`${path}.2`, `${path}.1`, path]
    .flatMap((file) => {
      try {
        return readFileSync(file, "utf8").split("\n");
      } catch {
        return []; // not there yet, or taken away by the rotation
      }
    })
    .filter((line) => line !== "");
}

/** What the engine itself wrote is no JSON. */
const asJson = (line: string): string => (fieldsOf(line) === null ? JSON.stringify({ level: "error", event: "engine", text: line }) : line);

function readable(line: string): string {
  const fields = fieldsOf(line);
  if (fields === null) return line;
  const { at, level, event, ...rest } = fields;
  return [at, level, event, ...Object.entries(rest).map(([name, value]) => `${name}=${String(value)}`)].map(String).join(" ");
}

function fieldsOf(line: string): { readonly [name: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

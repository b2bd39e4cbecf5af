/** Finds the host of a state directory, and starts one where there is none. CLIENT-7 to CLIENT-11. */
import { connect } from "node:net";
import { PawlError } from "../errors.ts";
import type { Clock } from "../runtime/clock.ts";
import { checkSocketDirectory, socketPath } from "../host/protocol/address.ts";
import type { Connection } from "../host/protocol/connection.ts";
import { socketConnection } from "../host/protocol/socketConnection.ts";
import { errorOfWire } from "../host/protocol/messages.ts";
import { lastLogLines, startHost } from "./startHost.ts";

export interface DialOptions {
  /** State directory, absolute. */
  readonly home: string;
  readonly clock: Clock;
  /** Start a host where none answers; only look for one when false. */
  readonly start: boolean;
}

/** A new host must answer within this time. */
const patienceMs = 10_000;
const retryMs = 40;

/**
 * A connection to the host of `home`.
 * @throws hostUnavailable when there is none and none is to be started, or a new one does not answer; what a new one refused with otherwise
 */
export async function dial({ home, clock, start }: DialOptions): Promise<Connection> {
  const until = clock.now() + patienceMs;
  const there = await tryConnect(home);
  if (there !== null) return there;
  if (!start) throw noHost(home);
  while (clock.now() < until) {
    const started = await startHost(home, until, clock);
    // Another one was faster, or has just gone: it answers soon, or makes room.
    if (!started.ready && !started.byHost) throw errorOfWire(started.error);
    const connection = await connectSoon(home, started.ready ? until : Math.min(until, clock.now() + 10 * retryMs), clock);
    if (connection !== null) return connection;
    if (!started.ready && clock.now() >= until) throw errorOfWire(started.error);
  }
  throw new PawlError(
    "hostUnavailable",
    `The host of ${home} did not answer within ${patienceMs / 1000} s.${lastLogLines(home)} Try again, or do without it: --embedded`,
    { subject: home },
  );
}

/** Whether somebody listens where the host of `home` would. */
export async function isHostThere(home: string): Promise<boolean> {
  const connection = await tryConnect(home);
  connection?.close();
  return connection !== null;
}

const noHost = (home: string): PawlError => new PawlError("hostUnavailable", `No host runs for ${home}. Start one: \`pawl host start\``, { subject: home });

async function connectSoon(home: string, until: number, clock: Clock): Promise<Connection | null> {
  for (;;) {
    const connection = await tryConnect(home);
    if (connection !== null || clock.now() >= until) return connection;
    await new Promise<void>((resolve) => clock.schedule(clock.now() + retryMs, resolve));
  }
}

/** Null when nobody listens there: no socket, or one that a killed host left. @throws storageFailed for one that may not be used */
function tryConnect(home: string): Promise<Connection | null> {
  const path = socketPath(home);
  checkSocketDirectory(path, false);
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(socketConnection(socket));
    });
    socket.once("error", (cause) => {
      const code = "code" in cause ? cause.code : "";
      if (code === "EACCES" || code === "EPERM")
        reject(
          new PawlError(
            "hostUnavailable",
            `The host of ${home} belongs to another user, who alone may use it. Use a state directory of your own: PAWL_HOME=/another/directory`,
            {
              subject: home,
              cause,
            },
          ),
        );
      else resolve(null);
    });
  });
}

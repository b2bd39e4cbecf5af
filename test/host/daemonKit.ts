/** Clients of a host for tests: one that says exactly what it is told to, over a pair in memory or a socket, and real hosts in processes of their own. */
import { connect } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { connectHost } from "../../src/client/connectHost.ts";
import type { HostClient } from "../../src/client/hostClient.ts";
import { openEmbedded, type DaemonHost } from "../../src/host/embedded.ts";
import { HostServer } from "../../src/host/daemon/server.ts";
import type { Connection } from "../../src/host/protocol/connection.ts";
import { parseEnvelope, type Envelope } from "../../src/host/protocol/envelope.ts";
import { memoryPair } from "../../src/host/protocol/memory.ts";
import { socketConnection } from "../../src/host/protocol/socketConnection.ts";
import { systemClock, type Clock } from "../../src/runtime/clock.ts";
import type { Project } from "./kit.ts";

export const patience = { timeout: 15_000, interval: 10 };

/** Says lines and keeps what it hears. */
export class RawClient {
  readonly heard: Envelope[] = [];
  isClosed = false;
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
    connection.listen({
      line: (line) => this.heard.push(parseEnvelope(line)),
      drain: () => {},
      fault: () => {},
      closed: () => {
        this.isClosed = true;
      },
    });
  }

  say(id: string, kind: string, body: object = {}, v = 1): void {
    this.connection.send(JSON.stringify({ v, id, kind, body }));
  }

  /** Says hello and waits for the welcome. */
  async hello(client = "client-one"): Promise<this> {
    this.say("hello", "hello", { versions: { min: 1, max: 1 }, client: { id: client, name: "test", version: "0" } });
    await this.answer("hello");
    return this;
  }

  /** The first message under this id. */
  answer(id: string): Promise<Envelope> {
    return vi.waitFor(
      () => this.heard.find((one) => one.id === id) ?? Promise.reject(new Error(`no answer to ${id}: ${JSON.stringify(this.heard.slice(-3))}`)),
      patience,
    );
  }

  async ask(id: string, kind: string, body: object = {}): Promise<Envelope> {
    this.say(id, kind, body);
    return this.answer(id);
  }

  closed(): Promise<unknown> {
    return vi.waitUntil(() => this.isClosed, patience);
  }
}

/** The project's state directory as a daemon has it, in this process. */
export async function openDaemon(project: Project): Promise<DaemonHost> {
  const host = await openEmbedded({ home: project.home, adopt: "all" });
  onTestFinished(() => host.close());
  return host;
}

/** A server on this host without a socket; every call of `client` is a new connection. */
export function serverOn(host: DaemonHost, home: string, clock: Clock = systemClock) {
  const log: { readonly event: string; readonly ids: object }[] = [];
  const server = new HostServer({
    host,
    home,
    identity: { pid: process.pid, version: "test" },
    clock,
    log: (_level, event, ids) => log.push({ event, ids }),
    onStop: () => {},
  });
  onTestFinished(() => server.close());
  const dial = (): Connection => {
    const [near, far] = memoryPair();
    server.accept(far);
    return near;
  };
  return { server, log, dial, client: () => new RawClient(dial()) };
}

/** A client of the real host of this directory; it and the host are gone when the test is over. */
export function realHost(home: string, idleMs = 60_000): HostClient {
  vi.stubEnv("PAWL_HOST_IDLE_MS", String(idleMs));
  onTestFinished(() => void vi.unstubAllEnvs());
  onTestFinished(() => endHost(home));
  return anotherClient(home);
}

export function anotherClient(home: string, start = true): HostClient {
  const client = connectHost({ home, start, name: "test" });
  onTestFinished(() => client.close());
  return client;
}

/** Process number of the owner of a directory; null when it says none. */
export function ownerOf(home: string): number | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(join(home, "owner.json"), "utf8"));
    return typeof owner === "object" && owner !== null && "pid" in owner && typeof owner.pid === "number" ? owner.pid : null;
  } catch {
    return null;
  }
}

export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false; // no such process
  }
}

/** Ends the host that owns the directory, if one does. */
export async function endHost(home: string): Promise<void> {
  const pid = ownerOf(home);
  if (pid === null || pid === process.pid || !isAlive(pid)) return;
  process.kill(pid, "SIGKILL");
  await vi.waitUntil(() => !isAlive(pid), patience);
}

/** A connection to a socket that says what it is told to. */
export async function rawSocket(path: string): Promise<RawClient & { readonly write: (bytes: Uint8Array | string) => void }> {
  const socket = connect(path);
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", () => resolve());
    socket.once("error", reject);
  });
  onTestFinished(() => void socket.destroy());
  return Object.assign(new RawClient(socketConnection(socket)), { write: (bytes: Uint8Array | string) => void socket.write(bytes) });
}

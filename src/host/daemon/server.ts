/** All clients of one host: who may come, what they share, and what is told to all of them. */
import { PawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { DaemonHost } from "../embedded.ts";
import type { Connection } from "../protocol/connection.ts";
import type { HeldRoom } from "../protocol/envelope.ts";
import type { HostIdentity } from "../protocol/hello.ts";
import { maxClients, maxHeldChars } from "../protocol/limits.ts";
import type { HostStatus } from "../protocol/messages.ts";
import { Ledger } from "./ledger.ts";
import { perform, type Asking, type HostRequest } from "./perform.ts";
import { Session, type SessionRoom } from "./session.ts";

export interface HostServerOptions {
  readonly host: DaemonHost;
  readonly home: string;
  readonly identity: HostIdentity;
  readonly clock: Clock;
  readonly log: SessionRoom["log"];
  /** A client asked for the host to end; called after it was answered. */
  readonly onStop: () => void;
  /** A client came or left. */
  readonly onClients?: () => void;
}

export class HostServer implements SessionRoom {
  readonly identity: HostIdentity;
  readonly clock: Clock;
  readonly held: HeldRoom = { left: maxHeldChars };
  readonly log: SessionRoom["log"];
  private readonly options: HostServerOptions;
  private readonly sessions = new Set<Session>();
  private readonly ledger = new Ledger();
  private readonly startedAt: number;
  private readonly unsubscribe: () => void;

  constructor(options: HostServerOptions) {
    this.options = options;
    this.identity = options.identity;
    this.clock = options.clock;
    this.log = options.log;
    this.startedAt = options.clock.now();
    this.unsubscribe = options.host.subscribe((event) => {
      for (const session of this.sessions) session.tell(event);
    });
  }

  get clients(): number {
    return this.sessions.size;
  }

  accept(connection: Connection): void {
    const session = new Session(connection, this);
    if (this.sessions.size >= maxClients) {
      session.refuse(
        new PawlError("hostUnavailable", `The host (process ${this.identity.pid}) has ${maxClients} clients already. Try again when one has gone.`, {
          subject: this.options.home,
        }),
      );
      return;
    }
    this.sessions.add(session);
    this.options.onClients?.();
  }

  perform(request: HostRequest, asking: Asking): Promise<unknown> {
    return perform(request, this.options.host, this.ledger, asking);
  }

  async status(): Promise<HostStatus> {
    const { open, moving } = await this.options.host.standing();
    return {
      pid: this.identity.pid,
      version: this.identity.version,
      home: this.options.home,
      startedAt: this.startedAt,
      clients: this.sessions.size,
      open,
      moving,
    };
  }

  async stop(ifIdle: boolean): Promise<void> {
    const { moving, clients } = await this.status();
    if (ifIdle && (moving > 0 || clients > 1))
      throw new PawlError(
        "refused",
        `The host (process ${this.identity.pid}) is in use: ${moving === 1 ? "1 run goes" : `${moving} runs go`} on, ${clients === 2 ? "1 other client is" : `${clients - 1} other clients are`} there. Stop it first, which leaves the runs safe: \`pawl host stop\``,
        { subject: this.options.home },
      );
    // After the answer is on its way.
    setImmediate(() => this.options.onStop());
  }

  ended(session: Session): void {
    if (this.sessions.delete(session)) this.options.onClients?.();
  }

  /** The host ends: says so to everybody, so that nobody takes it for a crash and starts another. */
  sayClosing(reason: string): void {
    for (const session of this.sessions) session.sayClosing(reason);
  }

  close(): void {
    this.unsubscribe();
    for (const session of this.sessions) session.close();
  }
}

/** One client of a host, from its hello to its end. A client can hold up, fill or break its own connection only. HOST-45 to HOST-49. */
import { isPawlError, messageOf, PawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { RunEvent } from "../api.ts";
import type { Connection } from "../protocol/connection.ts";
import { Assembler, linesOf, type Envelope, type HeldRoom } from "../protocol/envelope.ts";
import { greet, type HostIdentity } from "../protocol/hello.ts";
import { helloMs, maxOpenRequests, maxReplyChars, maxRequestChars, protocolVersions } from "../protocol/limits.ts";
import { parseRequest, wireError, type HostMessage, type HostStatus, type ParsedRequest } from "../protocol/messages.ts";
import type { HostRequest } from "./perform.ts";

/** What a session needs of the host around it. */
export interface SessionRoom {
  readonly identity: HostIdentity;
  readonly clock: Clock;
  readonly held: HeldRoom;
  perform(request: HostRequest, asking: { readonly client: string; readonly id: string; readonly signal: AbortSignal }): Promise<unknown>;
  status(): Promise<HostStatus>;
  /** @throws refused when it is to stop only if idle, and is not */
  stop(ifIdle: boolean): Promise<void>;
  log(level: "info" | "warn", event: string, ids: Readonly<Record<string, string | number>>): void;
  ended(session: Session): void;
}

export class Session {
  private readonly connection: Connection;
  private readonly room: SessionRoom;
  private readonly assembler: Assembler;
  private readonly open = new Map<string, AbortController>();
  private readonly subscriptions = new Set<string>();
  private state: "greeting" | "open" | "closed" = "greeting";
  private client: { readonly id: string; readonly name: string } | null = null;
  private version: number = protocolVersions.max;
  private lagged = false;
  private cancelPatience: () => void;

  constructor(connection: Connection, room: SessionRoom) {
    this.connection = connection;
    this.room = room;
    this.assembler = new Assembler(maxRequestChars, room.held);
    this.cancelPatience = room.clock.schedule(room.clock.now() + helloMs, () =>
      this.refuse(new PawlError("protocolBroken", `Nothing was said for ${helloMs / 1000} s: a client begins with its hello.`)),
    );
    connection.listen({
      line: (line) => this.line(line),
      drain: () => this.drained(),
      fault: (error) => this.refuse(error),
      closed: () => this.end(),
    });
  }

  /** Sends the event to the client's subscriptions; one that reads too slowly is told later that it missed some. */
  tell(event: RunEvent): void {
    if (this.subscriptions.size === 0) return;
    if (this.lagged || this.connection.isCongested) {
      this.lagged = true;
      return;
    }
    for (const id of this.subscriptions) this.say(id, { kind: "event", body: { event } });
  }

  /** The last word: why the connection ends. */
  refuse(error: PawlError): void {
    if (this.state === "closed") return;
    this.room.log("warn", "client.refused", { code: error.code, ...(this.client === null ? {} : { client: this.client.id }) });
    this.say("host", { kind: "refused", body: wireError(error) });
    this.close();
  }

  sayClosing(reason: string): void {
    this.say("host", { kind: "closing", body: { reason } });
  }

  close(): void {
    this.connection.close();
    this.end();
  }

  private end(): void {
    if (this.state === "closed") return;
    this.state = "closed";
    this.cancelPatience();
    this.assembler.drop();
    for (const controller of this.open.values()) controller.abort();
    this.subscriptions.clear();
    if (this.client !== null) this.room.log("info", "client.left", { client: this.client.id });
    this.room.ended(this);
  }

  private line(line: string): void {
    if (this.state === "closed") return;
    try {
      const envelope = this.assembler.take(line);
      if (envelope === null) return;
      if (this.state === "greeting") this.greet(envelope);
      else this.take(envelope);
    } catch (error) {
      this.refuse(isPawlError(error) ? error : new PawlError("internal", messageOf(error), { cause: error }));
    }
  }

  private greet(envelope: Envelope): void {
    const { version, client } = greet(envelope, this.room.identity);
    this.cancelPatience();
    this.state = "open";
    this.version = version;
    this.client = client;
    this.room.log("info", "client.came", { client: client.id, name: client.name, version: client.version });
    this.say(envelope.id, { kind: "welcome", body: { version, host: this.room.identity } });
  }

  private take({ v, id, kind, body }: Envelope): void {
    if (v !== this.version)
      throw new PawlError("protocolBroken", `A message of protocol ${v} came after ${this.version} was agreed on. The connection is closed.`, { path: "v" });
    if (this.open.has(id))
      throw new PawlError("protocolBroken", "Two requests under one id at the same time. The connection is closed; nothing was done for the second.", {
        path: "id",
      });
    try {
      const request = parseRequest(kind, body);
      if (request.kind === "abandon") this.open.get(request.body.request)?.abort();
      else if (this.open.size >= maxOpenRequests)
        throw new PawlError("refused", `More than ${maxOpenRequests} requests are open on this connection. Wait for an answer first; nothing was done.`, {
          subject: id,
        });
      void this.answer(id, request);
    } catch (error) {
      this.say(id, { kind: "failed", body: { error: wireError(error) } });
    }
  }

  private async answer(id: string, request: ParsedRequest): Promise<void> {
    const controller = new AbortController();
    this.open.set(id, controller);
    try {
      const value = await this.done(id, request, controller.signal);
      this.say(id, { kind: "reply", body: { value } });
    } catch (error) {
      // A host that ends says so once, and not to each who waits.
      if (!(isPawlError(error) && error.code === "closed")) this.say(id, { kind: "failed", body: { error: wireError(error) } });
    } finally {
      this.open.delete(id);
    }
  }

  private async done(id: string, request: ParsedRequest, signal: AbortSignal): Promise<unknown> {
    switch (request.kind) {
      case "subscribe":
        this.subscriptions.add(id);
        return {};
      case "unsubscribe":
        this.subscriptions.delete(request.body.subscription);
        return {};
      case "abandon":
        return {};
      case "status":
        return this.room.status();
      case "stop":
        await this.room.stop(request.body.ifIdle);
        return { pid: this.room.identity.pid };
      default:
        return this.room.perform(request, { client: this.client?.id ?? "", id, signal });
    }
  }

  private say(id: string, { kind, body }: HostMessage): void {
    if (this.state === "closed") return;
    for (const line of this.linesFor(id, kind, body)) this.connection.send(line);
    // Nothing more is asked for by who does not take the answers: what waits to be read stays bounded.
    if (this.connection.isCongested) this.connection.pause();
  }

  private linesFor(id: string, kind: string, body: HostMessage["body"]): readonly string[] {
    try {
      return linesOf({ v: this.version, id, kind, body }, maxReplyChars);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const tooLarge = new PawlError("refused", "The answer is too large for a connection. Read it without the host: `pawl show`, or `pawl export`.", {
        subject: id,
      });
      return linesOf({ v: this.version, id, kind: "failed", body: { error: wireError(tooLarge) } }, maxReplyChars);
    }
  }

  private drained(): void {
    if (this.state === "closed") return;
    this.connection.resume();
    if (!this.lagged) return;
    this.lagged = false;
    this.room.log("info", "client.lagged", { client: this.client?.id ?? "" });
    for (const id of this.subscriptions) this.say(id, { kind: "lagged", body: {} });
  }
}

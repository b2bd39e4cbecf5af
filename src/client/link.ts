/** One client's tie to its host: what was asked stays asked while connections come and go, under the same ids, until it is answered.
 *  CLIENT-1 to CLIENT-5. */
import { asSentence, isPawlError, messageOf, PawlError } from "../errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { RunEvent } from "../host/api.ts";
import type { Connection } from "../host/protocol/connection.ts";
import { Assembler, linesOf, type Envelope } from "../host/protocol/envelope.ts";
import { maxOpenRequests, maxReplyChars, maxRequestChars, protocolVersions } from "../host/protocol/limits.ts";
import {
  errorOfWire,
  parseHostMessage,
  parseValue,
  type HostMessage,
  type RequestBody,
  type RequestKind,
  type RequestValue,
} from "../host/protocol/messages.ts";
import { ownerPid } from "./startHost.ts";

export interface LinkOptions {
  /** A new connection to the host, which is started when there is none. @throws when there can be none */
  readonly dial: () => Promise<Connection>;
  readonly clock: Clock;
  readonly client: { readonly id: string; readonly name: string; readonly version: string };
  /** State directory, for messages. */
  readonly home: string;
  readonly onEvent: (event: RunEvent) => void;
  /** Events may have been missed. */
  readonly onMissed: () => void;
}

/** Who the owner says it is: for a message only. */
function processOf(home: string): string {
  const pid = ownerPid(home);
  return pid === null ? "" : `It is process ${pid}.`;
}

interface Asked {
  readonly id: string;
  readonly kind: RequestKind;
  readonly lines: readonly string[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  sent: boolean;
}

/** So many connections lost within this time, and the host is given up: something ends it again and again. */
const lostAtMost = 5;
const lostWithinMs = 10_000;
/** A host that takes a connection and says nothing for so long is stuck, or stopped. */
const welcomeMs = 15_000;
const firstBackoffMs = 50;
const longestBackoffMs = 2_000;

/** `idle`: nothing was asked yet, or everything was answered and the connection lost. */
type State =
  | { readonly kind: "idle" }
  | { readonly kind: "connecting" }
  | { readonly kind: "open"; readonly connection: Connection }
  | { readonly kind: "ended"; readonly error: PawlError };

export class HostLink {
  private readonly options: LinkOptions;
  private readonly asked = new Map<string, Asked>();
  private state: State = { kind: "idle" };
  /** When connections were lost. */
  private losses: readonly number[] = [];
  private numbers = 0;
  private subscription: string | null = null;
  private closing: string | null = null;
  private cancelBackoff = (): void => {};

  constructor(options: LinkOptions) {
    this.options = options;
  }

  /** Asks, now or as soon as there is a connection and room. @throws what the host answered; hostUnavailable when there is none to ask */
  ask<K extends RequestKind>(kind: K, body: RequestBody<K>, started?: (id: string) => void): Promise<RequestValue<K>> {
    return new Promise((resolve, reject) => {
      if (this.state.kind === "ended") return reject(this.state.error);
      const id = `${kind}:${(this.numbers += 1)}`;
      let lines: readonly string[];
      try {
        lines = linesOf({ v: protocolVersions.max, id, kind, body }, maxRequestChars);
      } catch (error) {
        if (!(error instanceof RangeError)) return reject(error);
        return reject(
          new PawlError("invalidInput", `What is sent to the host is too large: ${asSentence(error.message)} Put it into a file and give its path.`, {
            path: "",
          }),
        );
      }
      const settle = (value: unknown): void => {
        try {
          resolve(parseValue(kind, value));
        } catch (error) {
          reject(error);
        }
      };
      this.asked.set(id, { id, kind, lines, resolve: settle, reject, sent: false });
      started?.(id);
      this.move();
    });
  }

  /** From now on events come, over every connection that follows too. */
  subscribe(): void {
    if (this.subscription !== null) return;
    const asking = this.ask("subscribe", {}, (id) => {
      this.subscription = id;
    });
    // Whoever waits for a run hears of a host that is lost.
    asking.catch(() => undefined);
  }

  /** No more events are wanted. */
  unsubscribe(): void {
    const { subscription } = this;
    this.subscription = null;
    if (subscription !== null && this.state.kind !== "ended") this.ask("unsubscribe", { subscription }).catch(() => undefined);
  }

  /** Nobody waits for that answer any more. */
  abandon(id: string): void {
    const asked = this.asked.get(id);
    if (asked === undefined) return;
    this.asked.delete(id);
    if (asked.sent) this.ask("abandon", { request: id }).catch(() => undefined);
  }

  /** Ends the tie; what is still asked is refused. The runs go on. Idempotent. */
  close(): void {
    this.end(new PawlError("closed", "This client was closed. The host and its runs go on."));
  }

  private end(error: PawlError): void {
    if (this.state.kind === "ended") return;
    const { state } = this;
    this.state = { kind: "ended", error };
    this.cancelBackoff();
    if (state.kind === "open") state.connection.close();
    for (const { reject } of this.asked.values()) reject(error);
    this.asked.clear();
  }

  /** Sends what can be sent, over a connection that is made when there is none. */
  private move(): void {
    if (this.state.kind === "idle") void this.connect();
    if (this.state.kind !== "open") return;
    const { connection } = this.state;
    let open = [...this.asked.values()].filter(({ sent }) => sent).length;
    for (const asked of this.asked.values()) {
      if (asked.sent || (open >= maxOpenRequests && asked.kind !== "abandon")) continue;
      asked.sent = true;
      open += 1;
      for (const line of asked.lines) connection.send(line);
    }
  }

  private async connect(): Promise<void> {
    this.state = { kind: "connecting" };
    let connection: Connection;
    try {
      connection = await this.options.dial();
    } catch (error) {
      this.end(
        isPawlError(error)
          ? error
          : new PawlError("hostUnavailable", `The host cannot be reached: ${messageOf(error)}`, { subject: this.options.home, cause: error }),
      );
      return;
    }
    // The state may have changed while it was dialled.
    if (this.isEnded()) return connection.close();
    const assembler = new Assembler(maxReplyChars);
    const { clock, home } = this.options;
    const cancelPatience = clock.schedule(clock.now() + welcomeMs, () =>
      fail(
        new PawlError(
          "hostUnavailable",
          `The host of ${home} takes connections, but has said nothing for ${welcomeMs / 1000} s. ${processOf(home)} If it stays so, end it, which is safe, and the next command starts another.`,
          { subject: home },
        ),
      ),
    );
    let refused: PawlError | null = null;
    let broken: PawlError | null = null;
    const fail = (error: PawlError): void => {
      broken ??= error;
      connection.close();
    };
    connection.listen({
      line: (line) => {
        try {
          const envelope = assembler.take(line);
          if (envelope === null) return;
          const message = parseHostMessage(envelope.kind, envelope.body);
          cancelPatience();
          if (message.kind === "refused") refused = errorOfWire(message.body);
          else this.take(envelope, message, connection);
        } catch (error) {
          fail(isPawlError(error) ? error : new PawlError("internal", messageOf(error), { cause: error }));
        }
      },
      drain: () => {},
      fault: fail,
      closed: () => {
        cancelPatience();
        this.disconnected(refused ?? broken);
      },
    });
    const { client } = this.options;
    for (const line of linesOf({ v: protocolVersions.max, id: "hello", kind: "hello", body: { versions: protocolVersions, client } }, maxRequestChars))
      connection.send(line);
  }

  private isEnded(): boolean {
    return this.state.kind === "ended";
  }

  private take(envelope: Envelope, message: Exclude<HostMessage, { kind: "refused" }>, connection: Connection): void {
    switch (message.kind) {
      case "welcome":
        if (this.isEnded()) return;
        this.state = { kind: "open", connection };
        return this.reunite();
      case "reply":
      case "failed": {
        const asked = this.asked.get(envelope.id);
        if (asked === undefined) return;
        this.asked.delete(envelope.id);
        if (message.kind === "reply") asked.resolve(message.body.value);
        else asked.reject(errorOfWire(message.body.error));
        return this.move();
      }
      case "event":
        return this.options.onEvent(message.body.event);
      case "lagged":
        return this.options.onMissed();
      case "closing":
        // Said to whoever was with it; who only comes now finds the next one.
        if (this.state.kind === "open") this.closing = message.body.reason;
    }
  }

  /** A new connection: asks again what was not answered, and looks at what was missed. */
  private reunite(): void {
    const wasSubscribed = this.subscription !== null && !this.asked.has(this.subscription);
    this.move();
    if (!wasSubscribed) return;
    this.subscription = null;
    this.subscribe();
    this.options.onMissed();
  }

  private disconnected(why: PawlError | null): void {
    if (this.isEnded()) return;
    // Whoever only watches loses nothing by it.
    const waits = [...this.asked.values()].some(({ kind }) => kind !== "subscribe" && kind !== "abandon" && kind !== "wait");
    if (why !== null) return this.end(why);
    if (this.closing !== null) return this.end(this.wasStopped(waits));
    for (const asked of this.asked.values()) asked.sent = false;
    const { clock } = this.options;
    const now = clock.now();
    this.losses = [...this.losses.filter((at) => at > now - lostWithinMs), now];
    if (this.losses.length >= lostAtMost)
      return this.end(
        new PawlError(
          "hostUnavailable",
          `The host of ${this.options.home} was lost ${this.losses.length} times within ${lostWithinMs / 1000} s. What was saved is safe. See why: \`pawl host logs\``,
          { subject: this.options.home },
        ),
      );
    this.state = { kind: "connecting" };
    const wait = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (this.losses.length - 1));
    this.cancelBackoff = clock.schedule(now + wait, () => {
      if (this.isEnded()) return;
      this.state = { kind: "idle" };
      if (this.asked.size > 0 || this.subscription !== null) void this.connect();
    });
  }

  private wasStopped(waits: boolean): PawlError {
    const why = this.closing === null || this.closing === "stopped" ? "" : ` (${this.closing})`;
    const what = waits ? "What was asked last may or may not have been done. " : "";
    return new PawlError(
      "hostUnavailable",
      `The host of ${this.options.home} was stopped${why}. ${what}What was saved is safe, and what was going on goes on when a host starts again: \`pawl host start\``,
      { subject: this.options.home },
    );
  }
}

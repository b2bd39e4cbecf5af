/** Clients that send events under ids of their own: out of order, twice, and again when the reply was lost. The ledger of what they were told. */
import type { Receipt } from "../../../src/runtime/runtime.ts";
import type { Random } from "../core/random.ts";
import { must, type Choice, type Part, type Rule, type World } from "../core/world.ts";
import { isStorageError, type Life, type Power } from "./power.ts";

export type Content =
  | {
      readonly kind: "send";
      readonly to: string;
      readonly event: { readonly type: string; readonly [key: string]: unknown };
      /** Revision that the actor must have. */ readonly expects?: number;
    }
  | { readonly kind: "start"; readonly to: string; readonly machine: string; readonly input: unknown };

export interface Request {
  /** The event's id. */
  readonly id: string;
  readonly content: Content;
  /** Receipts that reached the client, in order. */
  readonly heard: Receipt[];
  /** Told that it is refused, nothing kept: a later repetition may do better. */
  refusals: number;
  delivered: number;
}

interface Flight {
  readonly request: Request;
  readonly life: Life;
  lost: boolean;
}

/** Makes up a request that will get this id; null: nothing to ask for. It may be called for nothing. */
export type Propose = (random: Random, id: string, requests: readonly Request[]) => Content | null;

/** Who clients talk to. */
export interface Server {
  deliver(request: Request): Promise<Receipt>;
}

export class Clients implements Part, Rule {
  readonly name = "client";
  readonly requests = new Map<string, Request>();
  private readonly flights: Flight[] = [];
  private readonly world: World;
  private readonly power: Power;
  private readonly server: Server;
  private readonly propose: Propose;
  private readonly eagerness: number;
  private made = 0;

  /** `eagerness`: weight of a new request. */
  constructor(world: World, power: Power, server: Server, propose: Propose, eagerness: number) {
    this.world = world;
    this.power = power;
    this.server = server;
    this.propose = propose;
    this.eagerness = eagerness;
  }

  /** What was sent under this id; undefined: nothing. */
  request(id: string): Request | undefined {
    return this.requests.get(id);
  }

  choices(random: Random): readonly Choice[] {
    const waiting = [...this.requests.values()].filter((request) => !this.isAnswered(request));
    const choices: Choice[] = [];
    if (waiting.length < 8) {
      const id = `q${this.made + 1}`;
      const content = this.propose(random, id, [...this.requests.values()]);
      if (content) choices.push({ op: `client make ${id} ${JSON.stringify(content)}`, weight: this.eagerness });
    }
    if (this.power.isUp) {
      const unsent = waiting.filter((request) => !this.isFlying(request));
      if (unsent.length > 0) choices.push({ op: `client send ${random.pick(unsent).id}`, weight: 25 });
      // A nervous client, or a network that delivers twice, or very late.
      if (this.requests.size > 0) choices.push({ op: `client send ${random.pick([...this.requests.keys()])}`, weight: 2 });
    }
    const flying = this.flights.filter((flight) => !flight.lost);
    if (flying.length > 0) choices.push({ op: `client lose ${random.pick(flying).request.id}`, weight: 1.5 });
    return choices;
  }

  perform([what = "", id = "", content = "null"]: readonly string[]): boolean {
    const request = this.requests.get(id);
    if (what === "make") {
      if (request) return false;
      this.made += 1;
      this.requests.set(id, { id, content: JSON.parse(content), heard: [], refusals: 0, delivered: 0 });
      return true;
    }
    if (request === undefined) return false;
    if (what === "lose") {
      const flying = this.flights.filter((flight) => flight.request === request);
      for (const flight of flying) flight.lost = true;
      if (flying.length > 0) this.world.fault("answer lost");
      return flying.length > 0;
    }
    if (what !== "send" || !this.power.isUp) return false;
    this.send(request);
    return true;
  }

  need(): string | null {
    if (!this.power.isUp) return null;
    for (const request of this.requests.values()) if (!this.isAnswered(request) && !this.isFlying(request)) return `client send ${request.id}`;
    return null;
  }

  check(): void {
    for (const request of this.requests.values()) {
      const [first, ...others] = request.heard;
      if (first === undefined) continue;
      for (const other of others) {
        const isSame = other.revision === first.revision && JSON.stringify(other.reply) === JSON.stringify(first.reply) && other.code === first.code;
        must(isSame, "SIM-2", () => `event ${request.id} was answered ${JSON.stringify(first)}, and then ${JSON.stringify(other)}`);
      }
      const applied = request.heard.filter((receipt) => receipt.status === "applied").length;
      must(applied <= 1, "SIM-2", () => `event ${request.id} was applied ${applied} times, as its sender was told`);
    }
  }

  atEnd(): void {
    for (const request of this.requests.values()) must(this.isAnswered(request), "SIM-13", () => `event ${request.id} was never answered`);
  }

  private isAnswered(request: Request): boolean {
    return request.heard.length > 0 || request.refusals >= 3;
  }

  private isFlying(request: Request): boolean {
    return this.flights.some((flight) => flight.request === request && flight.life.alive);
  }

  private send(request: Request): void {
    const flight: Flight = { request, life: this.power.life, lost: false };
    this.flights.push(flight);
    if (request.delivered > 0) this.world.fault("request sent again");
    request.delivered += 1;
    const arrives = (tell: () => void): void => {
      this.flights.splice(this.flights.indexOf(flight), 1);
      // What was on its way when the process died never arrives.
      if (flight.life.alive && !flight.lost) tell();
    };
    this.server.deliver(request).then(
      (receipt) =>
        arrives(() => {
          request.heard.push(receipt);
          this.world.see(`${request.id} is told ${JSON.stringify(receipt)}`);
        }),
      (error: unknown) =>
        arrives(() => {
          this.world.see(`${request.id} is refused: ${error instanceof Error ? error.message : String(error)}`);
          // A refusing disk is no answer: the sender tries again when it is mended.
          if (!isStorageError(error)) request.refusals += 1;
        }),
    );
  }
}

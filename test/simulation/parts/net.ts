/** Real clients and a real host that talk over simulated connections: pieces of lines arrive late, connections are cut in the middle of them,
 *  clients and hosts go away and others come. */
import { createHash } from "node:crypto";
import { HostClient } from "../../../src/client/hostClient.ts";
import { HostServer } from "../../../src/host/daemon/server.ts";
import type { DaemonHost } from "../../../src/host/embedded.ts";
import type { Connection } from "../../../src/host/protocol/connection.ts";
import { systemClock, type Clock } from "../../../src/runtime/clock.ts";
import type { Random } from "../core/random.ts";
import type { Choice, Part, World } from "../core/world.ts";
import { Life, type Power, type Standpoint } from "./power.ts";
import { Wire } from "./wire.ts";

interface Client {
  readonly number: number;
  readonly life: Life;
  readonly host: HostClient;
  /** Resolves a dial that waits for a host. */
  dialling: ((connection: Connection) => void) | null;
  wires: Wire[];
}

const sides = ["up", "down"] as const;
const home = "/simulated";

/** The network, and the client processes on it. It is who other parts talk to: each thing is asked of the next client in turn. */
export class Net implements Part, Standpoint {
  readonly name = "net";
  private readonly world: World;
  private readonly power: Power;
  private readonly odds: number;
  private server: { readonly life: Life; readonly server: HostServer } | null = null;
  private clients: Client[] = [];
  private wires: Wire[] = [];
  private made = 0;
  private laid = 0;
  private turn = 0;
  /** What a host was sent, to see what comes again: client, id and body. */
  private readonly delivered = new Set<string>();

  /** Clients' own: their timers do not go with a host's process. */
  private readonly clock: Clock = {
    now: () => Date.now(),
    schedule: (atMs, fn) => {
      const timer = { due: this.world.held.passed + Math.max(0, atMs - Date.now()), fn };
      this.timers.push(timer);
      return () => {
        this.timers = this.timers.filter((one) => one !== timer);
      };
    },
  };
  private timers: { readonly due: number; readonly fn: () => void }[] = [];

  /** `odds`: weight of everything that goes wrong on the way. */
  constructor(world: World, power: Power, odds: number, size: number) {
    this.world = world;
    this.power = power;
    this.odds = odds;
    for (let count = 0; count < size; count += 1) this.clients.push(this.newClient());
  }

  /** A host that takes connections from now on. */
  open(life: Life, host: DaemonHost): void {
    const server = new HostServer({ host, home, identity: { pid: life.number, version: "1" }, clock: systemClock, log: () => {}, onStop: () => {} });
    this.server = { life, server };
  }

  /** As a daemon ends: says so, ends its work, then closes what is left. */
  async stop(host: DaemonHost): Promise<void> {
    const { server } = this;
    this.server = null;
    server?.server.sayClosing("stopped");
    await host.close();
    server?.server.close();
  }

  /** The host's process is gone: what it sent is still under way. */
  drop(): void {
    this.server = null;
    for (const { server } of this.wires) server.die();
  }

  /** There is always somebody to ask. */
  get isUp(): boolean {
    return true;
  }

  get isServed(): boolean {
    return this.server !== null && this.power.isUp;
  }

  get life(): Life {
    return this.current.life;
  }

  halted(): void {
    this.power.halted(this.power.life);
  }

  /** The client has ended for good: another process takes its place. */
  gone(life: Life): void {
    const client = this.clients.find((one) => one.life === life);
    if (client !== undefined) this.replace(client);
  }

  /** The next client in turn; it stays the current one until the next is asked for. */
  next(): HostClient {
    this.turn += 1;
    return this.current.host;
  }

  get current(): Client {
    const client = this.clients[this.turn % this.clients.length];
    if (client === undefined) throw new Error("there are no clients");
    return client;
  }

  choices(random: Random): readonly Choice[] {
    const choices: Choice[] = [];
    const ready = this.ready();
    if (ready.length > 0) {
      const [wire, side] = random.pick(ready);
      const { length } = wire.pipe(side).bytes;
      const count = random.chance(0.15) ? random.below(length + 1) : length;
      choices.push({ op: `net deliver ${wire.number} ${side} ${count}`, weight: 60 });
    }
    const dialling = this.clients.filter((client) => client.dialling !== null);
    if (dialling.length > 0 && this.server !== null) choices.push({ op: `net dial ${random.pick(dialling).number}`, weight: 30 });
    const live = this.live();
    if (live.length > 0) {
      const wire = random.pick(live);
      choices.push({ op: `net cut ${wire.number} ${random.below(wire.up.bytes.length + 1)} ${random.below(wire.down.bytes.length + 1)}`, weight: this.odds });
    }
    if (this.timers.length > 0) choices.push({ op: "net tick", weight: this.untilNext === 0 ? 15 : 3 });
    return [...choices, { op: `net leave ${random.pick(this.clients).number}`, weight: this.odds / 4 }];
  }

  perform([what = "", number = "", ...args]: readonly string[]): boolean {
    const wire = this.wires.find((one) => one.number === Number(number));
    const client = this.clients.find((one) => one.number === Number(number));
    switch (what) {
      case "deliver":
        return wire !== undefined && this.deliver(wire, args[0] ?? "", Number(args[1]));
      case "cut":
        if (wire === undefined || !this.live().includes(wire)) return false;
        this.cut(wire, Number(args[0]), Number(args[1]));
        return true;
      case "dial": {
        const { server } = this;
        if (client === undefined || client.dialling === null || server === null) return false;
        this.laid += 1;
        const laid = new Wire(this.laid, client.life, server.life);
        this.wires.push(laid);
        client.wires.push(laid);
        server.server.accept(laid.server);
        client.dialling(laid.client);
        client.dialling = null;
        return true;
      }
      case "tick": {
        if (this.timers.length === 0) return false;
        const { held } = this.world;
        held.pass(this.untilNext);
        const next = this.timers.find(({ due }) => due <= held.passed);
        this.timers = this.timers.filter((one) => one !== next);
        next?.fn();
        return next !== undefined;
      }
      case "leave":
        if (client === undefined) return false;
        this.world.fault("client gone");
        this.replace(client);
        return true;
      default:
        return false;
    }
  }

  need(): string | null {
    const [first] = this.ready();
    if (first !== undefined) return `net deliver ${first[0].number} ${first[1]} ${first[0].pipe(first[1]).bytes.length}`;
    const dialling = this.clients.find((client) => client.dialling !== null);
    if (dialling !== undefined && this.server !== null) return `net dial ${dialling.number}`;
    return this.timers.length > 0 ? "net tick" : null;
  }

  /** Until the next timer of a client runs out. */
  private get untilNext(): number {
    return Math.max(0, Math.min(...this.timers.map(({ due }) => due)) - this.world.held.passed);
  }

  /** Where something can arrive. */
  private ready(): readonly (readonly [Wire, (typeof sides)[number]])[] {
    return this.wires.flatMap((wire) => sides.filter((side) => wire.end(side)?.canHear).map((side) => [wire, side] as const));
  }

  private live(): readonly Wire[] {
    return this.wires.filter(({ up, down }) => !up.isEnded && !down.isEnded);
  }

  private deliver(wire: Wire, side: string, count: number): boolean {
    const end = wire.end(side);
    if (!end?.canHear) return false;
    const older = this.wires.some((other) => other.number < wire.number && other.end(side)?.canHear && other.pipe(side).bytes.length > 0);
    if (older) this.world.fault("line overtaken by one of another connection");
    const pipe = wire.pipe(side);
    if (count < pipe.bytes.length) this.world.fault("line arrived in pieces");
    if (side === "up") this.note(wire, count);
    end.hear(count);
    this.wires = this.wires.filter(
      ({ client, server, up, down }) => !((client.isDead || !client.canHear) && (server.isDead || !server.canHear) && up.isEnded && down.isEnded),
    );
    return true;
  }

  /** Requests that a host gets again, told by what they say. */
  private note(wire: Wire, count: number): void {
    const owner = this.clients.find(({ wires }) => wires.includes(wire));
    const text = Buffer.from(wire.up.bytes.subarray(0, count)).toString("utf8");
    for (const line of text.split("\n")) {
      if (!line.includes('"kind"') || line.includes('"hello"')) continue;
      const key = createHash("sha256")
        .update(`${owner?.number ?? 0} ${line}`)
        .digest("hex");
      if (this.delivered.has(key)) this.world.fault("request delivered again");
      this.delivered.add(key);
    }
  }

  private cut(wire: Wire, up: number, down: number): void {
    this.world.fault("connection cut");
    const isTorn = (bytes: Uint8Array, kept: number): boolean => kept > 0 && kept < bytes.length && bytes[kept - 1] !== 10;
    if (isTorn(wire.up.bytes, up) || isTorn(wire.down.bytes, down)) this.world.fault("connection cut in the middle of a line");
    if (wire.up.cut(up) > 0) this.world.fault("request lost on its way");
    if (wire.down.cut(down) > 0) this.world.fault("answer lost on its way");
  }

  private newClient(): Client {
    this.made += 1;
    const number = this.made;
    const life = new Life(number);
    const client: Client = {
      number,
      life,
      host: new HostClient({
        // Only a client that lives dials, and it waits until there is a host.
        dial: () =>
          new Promise<Connection>((resolve) => {
            client.dialling = resolve;
          }),
        clock: this.clock,
        home,
        name: "simulated",
        version: "1",
      }),
      dialling: null,
      wires: [],
    };
    return client;
  }

  /** The process of a client is gone, and another one does what it was to do. */
  private replace(client: Client): void {
    client.life.alive = false;
    client.dialling = null;
    for (const wire of client.wires) wire.client.die();
    this.world.see(`client ${client.number} is gone`);
    this.clients = this.clients.map((one) => (one === client ? this.newClient() : one));
    // It hears nothing any more; what it still waits for is let go of.
    void client.host.close();
  }
}

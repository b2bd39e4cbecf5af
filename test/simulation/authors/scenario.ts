/** Author machines on the runtime itself: one runtime at a time over one store, whose every answer may be held back. */
import { rmSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { openDatabase } from "../../../persistence/database.ts";
import { openStore, type OpenedStore } from "../../../persistence/openStore.ts";
import { sqliteStore } from "../../../persistence/sqliteStore.ts";
import type { Store } from "../../../persistence/store.ts";
import { messageOf } from "../../../src/errors.ts";
import { createRuntime } from "../../../src/runtime/createRuntime.ts";
import type { EffectTask, Executors } from "../../../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../../../src/runtime/registry.ts";
import type { Receipt, Runtime } from "../../../src/runtime/runtime.ts";
import { newDirectory, readerOf } from "../core/place.ts";
import type { Scenario } from "../core/simulate.ts";
import type { World } from "../core/world.ts";
import { Adopter } from "../parts/adopter.ts";
import { Clients, type Request } from "../parts/clients.ts";
import { Gate } from "../parts/gate.ts";
import { Observer } from "../parts/observer.ts";
import { Outside } from "../parts/outside.ts";
import { Person } from "../parts/person.ts";
import { isStorageError, oddsOf, Power, type Life, type Tenant } from "../parts/power.ts";
import { EventLoop, Time } from "../parts/time.ts";
import { EffectBook } from "../rules/effects.ts";
import { Ledger } from "../rules/ledger.ts";
import { Replay } from "../rules/replay.ts";
import { State } from "../rules/state.ts";
import { Stored } from "../rules/stored.ts";
import { door, machines } from "./machines.ts";
import { proposer } from "./requests.ts";

/** Where the state lives: in memory, where a life is a new store over the same image, or in files that are opened anew. */
interface Place {
  open(hooks: Parameters<typeof sqliteStore>[1]): Promise<Store>;
  leave(): Promise<void>;
  /** A connection for looking. */
  readonly reader: Database;
  remove(): Promise<void>;
}

function inMemory(): Place {
  const db = openDatabase(":memory:", { mode: "owner" });
  return {
    open: async (hooks) => sqliteStore(db, hooks),
    leave: async () => {},
    reader: db,
    remove: async () => void db.close(),
  };
}

async function inFiles(): Promise<Place> {
  const home = newDirectory();
  await (await openStore({ home, mode: "owner" })).release();
  const reader = readerOf(home);
  let opened: OpenedStore | undefined;
  return {
    async open(hooks) {
      opened = await openStore({ home, mode: "owner", ...(hooks === undefined ? {} : { hooks }) });
      return opened.store;
    },
    async leave() {
      await opened?.release();
    },
    reader,
    async remove() {
      await opened?.release();
      reader.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

class AuthorsProcess implements Tenant {
  runtime: Runtime | null = null;
  power: Power | null = null;
  outside: Outside | null = null;
  /** Null on days on which nobody can look. */
  observer: Observer | null = null;
  private readonly world: World;
  private readonly place: Place;
  private readonly gate: Gate;
  private readonly decorate: (store: Store) => Store;

  constructor(world: World, place: Place, gate: Gate, decorate: (store: Store) => Store) {
    this.world = world;
    this.place = place;
    this.gate = gate;
    this.decorate = decorate;
  }

  async open(life: Life): Promise<void> {
    const store = this.gate.between(this.decorate(await this.place.open(this.power?.hooks(life))), life);
    let isHalted = false;
    const runtime = await createRuntime({
      store,
      definitions: registry,
      executors: this.executors(life),
      onHalted: () => {
        isHalted = true;
        this.power?.halted(life);
      },
      onError: (error) => {
        if (life.alive && !isHalted && !isStorageError(error)) this.world.stray(error);
        else this.world.see(`told of ${messageOf(error)}`);
      },
    });
    door.call = (label, signal) => this.call(life, { key: label, attempt: null, idempotencyKey: label, once: false, signal });
    this.runtime = runtime;
    await runtime.recover();
  }

  async stop(): Promise<void> {
    await this.runtime?.close();
  }

  async drop(): Promise<void> {
    if (this.power) this.outside?.dieWith(this.power.life);
    this.runtime = null;
    this.gate.clear();
    await this.place.leave();
  }

  async deliver({ id, content }: Request): Promise<Receipt> {
    const { runtime } = this;
    if (!runtime) throw new Error("the process is not there");
    return content.kind === "send"
      ? runtime.send(content.to, content.event, { eventId: id, ...(content.expects === undefined ? {} : { expectedRevision: content.expects }) })
      : runtime.start(content.machine, { id: content.to, input: content.input, eventId: id });
  }

  private executors(life: Life): Executors {
    const run = async (task: EffectTask) => ({ output: await this.call(life, task) });
    const { observer } = this;
    return { "sim.work": run, "sim.note": run, "sim.pay": observer ? { run, observe: (task) => observer.look(life, task) } : run };
  }

  private call(life: Life, facts: Parameters<Outside["call"]>[1]): ReturnType<Outside["call"]> {
    return this.outside?.call(life, facts) ?? Promise.reject(new Error("there is no outside"));
  }
}

const registry = createRegistry(machines.map((machine) => defineMachine(machine)));

/** Author machines; `decorate` puts something between the runtime and its store. */
export const authors = (decorate: (store: Store) => Store = (store) => store): Scenario => ({
  name: "authors",
  async build(world, random) {
    const place = random.chance(0.15) ? await inFiles() : inMemory();
    const gate = new Gate(world, random.chance(0.4));
    const process = new AuthorsProcess(world, place, gate, decorate);
    const power = new Power(world, process, oddsOf(random));
    const outside = new Outside(world, random.pick([0, 1, 3]), random.pick([15, 5, 0.5]), random.pick([0, 1.5]));
    process.power = power;
    process.outside = outside;
    const observer = new Observer(world, outside);
    if (random.chance(0.5)) process.observer = observer;
    const state = new State(place.reader);
    const replay = new Replay(state, registry);
    const person = new Person(
      world,
      power,
      {
        confirm: (key, output) => live(process).confirmEffect(key, { output }),
        retry: (key) => live(process).retryEffect(key),
        mend: (actor) => live(process).retryFault(actor),
      },
      () => book.ambiguous,
      () => [...replay.actors.values()].filter(({ status }) => status === "faulted").map(({ id }) => id),
    );
    const book: EffectBook = new EffectBook(state, replay, outside, person, observer);
    const clients = new Clients(world, power, process, proposer(random, replay), random.pick([12, 5, 2]));
    const unfinished = (): readonly string[] => [
      ...new Set([
        ...[...replay.actors.values()].filter(({ parent, status }) => parent === null && status === "active").map(({ id }) => id),
        ...book.open.map(({ root }) => root),
      ]),
    ];
    const adopter = new Adopter(world, power, () => process.runtime, unfinished);
    world.parts.push(power, gate, new EventLoop(world), clients, adopter, outside, observer, person, new Time(world, random.pick([0, 0, 1])));
    world.rules.push(new Stored(world, power, state, replay, book), clients, new Ledger(clients, replay), power, adopter, book);
    return { close: () => place.remove() };
  },
});

function live(process: AuthorsProcess): Runtime {
  if (!process.runtime) throw new Error("the process is not there");
  return process.runtime;
}

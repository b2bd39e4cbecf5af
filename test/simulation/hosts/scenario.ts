/** Workflows on an embedded host, opened over one state directory again and again. */
import { mkdirSync, rmSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { lockFileName } from "../../../persistence/lock.ts";
import { openStore } from "../../../persistence/openStore.ts";
import type { EmbeddedHost } from "../../../src/host/api.ts";
import { createMachine } from "xstate";
import { authorMachineId, machineAt, placeOf } from "../../../src/host/author/authorMachine.ts";
import type { Definition } from "../../../src/runtime/definition.ts";
import { defineMachine } from "../../../src/runtime/registry.ts";
import type { AnyWorkflow } from "../../../src/workflow/definition.ts";
import { loadWorkflow } from "../../../src/workflow/loader.ts";
import { nodeMachine } from "../../../src/workflow/machineStep.ts";
import { hostRegistry } from "../../../src/host/catalog.ts";
import { openEmbedded, type DaemonHost } from "../../../src/host/embedded.ts";
import { turn } from "../core/hold.ts";
import { newDirectory, readerOf } from "../core/place.ts";
import type { Scenario } from "../core/simulate.ts";
import { Violation, type World } from "../core/world.ts";
import { Holder } from "../parts/holder.ts";
import { Net } from "../parts/net.ts";
import { Outside } from "../parts/outside.ts";
import { Person } from "../parts/person.ts";
import { oddsOf, Power, type Life, type Tenant } from "../parts/power.ts";
import { Runs } from "../parts/runs.ts";
import { EventLoop, Time } from "../parts/time.ts";
import { Workers } from "../parts/workers.ts";
import { EffectBook } from "../rules/effects.ts";
import { Pauses } from "../rules/pauses.ts";
import { Replay } from "../rules/replay.ts";
import { Shelves } from "../rules/shelf.ts";
import { State } from "../rules/state.ts";
import { Stored } from "../rules/stored.ts";
import { doorName } from "./workflows/outside.ts";

const workflow = (name: string): string => fileURLToPath(new URL(`workflows/${name}.workflow.ts`, import.meta.url));

const works = {
  ship: {
    file: workflow("ship"),
    inputs: [
      { task: "a", patience: 0 },
      { task: "b", patience: 900 },
      { task: "c", patience: 600_000 },
    ],
  },
  voyage: {
    file: workflow("voyage"),
    inputs: [
      { legs: 1, restMs: 100 },
      { legs: 2, restMs: 86_400_000 },
    ],
  },
  tours: { file: workflow("tours"), inputs: [{ stops: 1 }, { stops: 3 }] },
  rounds: {
    file: workflow("rounds"),
    inputs: [
      { rounds: 1, expires: 0 },
      { rounds: 2, expires: 2500 },
      { rounds: 3, expires: 2_592_000_000 },
    ],
  },
} as const;

let tours: AnyWorkflow | undefined;

/** Machines of authors as this process has them itself: what the host asks for is foretold without asking. */
function ownMachine(version: string): Definition | undefined {
  const place = placeOf(version);
  if (place === undefined || tours === undefined) return undefined;
  const machine = machineAt(nodeMachine(tours, place.node), place.path);
  return { ...defineMachine(createMachine({ id: authorMachineId, version }), { identity: "author" }), machine };
}

/** Turns in which a process that is gone must have let go of everything. */
const dyingTurns = 400;

class HostProcess implements Tenant {
  host: DaemonHost | null = null;
  private opening: Promise<DaemonHost> | null = null;
  private readonly world: World;
  private readonly home: string;
  power: Power | null = null;
  /** Where it is used from other processes. */
  net: Net | null = null;
  onLost = (): void => {};
  outside: Outside | null = null;
  workers: Workers | null = null;

  constructor(world: World, home: string) {
    this.world = world;
    this.home = home;
  }

  async open(life: Life): Promise<void> {
    const hooks = this.power?.hooks(life);
    this.opening = openEmbedded({ home: this.home, ...(this.net === null ? {} : { adopt: "all" as const }), ...(hooks === undefined ? {} : { hooks }) });
    const host = await this.opening;
    if (!life.alive) return;
    this.host = host;
    this.net?.open(life, host);
  }

  async stop(): Promise<void> {
    if (this.host !== null) await (this.net === null ? this.host.close() : this.net.stop(this.host));
  }

  /** As when somebody deletes the lock file of a process that lives, and starts another. */
  async usurp(): Promise<() => Promise<void>> {
    rmSync(join(this.home, lockFileName));
    const { release } = await openStore({ home: this.home, mode: "owner" });
    return release;
  }

  async drop(): Promise<void> {
    if (this.power) this.outside?.dieWith(this.power.life);
    if (this.power) this.workers?.dieWith(this.power.life);
    this.net?.drop();
    this.onLost();
    const { opening } = this;
    this.host = null;
    this.opening = null;
    let isGone = opening === null;
    const goes = opening?.then((host) => host.close()).catch(() => undefined); // whatever it meets at its end: nobody is there to hear it
    void goes?.then(() => (isGone = true));
    const { held } = this.world;
    // Nothing of it can be stored any more; its code runs out.
    for (let turns = 0; !isGone; turns += 1) {
      if (turns === dyingTurns) throw new Violation("SIM-13", "a process that is gone does not let go of its files");
      if (!held.runImmediate() && turns > dyingTurns / 2) {
        held.pass(held.untilNext ?? 0);
        held.fire();
      }
      await turn();
    }
    held.forget();
  }
}

/** Whoever uses the host is in its process. */
export const hosts = (): Scenario => ofHosts("hosts", false);

/** Whoever uses the host is in other processes, and speaks with it over connections. */
export const clients = (): Scenario => ofHosts("clients", true);

const ofHosts = (name: string, isWired: boolean): Scenario => ({
  name,
  prepare: () => (loaded ??= loadAll()),
  async build(world, random) {
    const directory = newDirectory();
    const home = join(directory, "home");
    mkdirSync(home, { mode: 0o700 });
    await (await openStore({ home, mode: "owner" })).release();
    const reader = readerOf(home);
    const tenant = new HostProcess(world, home);
    const power = new Power(world, tenant, oddsOf(random));
    const outside = new Outside(world, random.pick([0, 1, 3]), random.pick([15, 5, 0.5]), 0);
    const workers = new Workers(world, power, outside, random.chance(0.3), random.pick([0, 0.5, 4]));
    tenant.power = power;
    tenant.outside = outside;
    tenant.workers = workers;
    const state = new State(reader);
    const replay = new Replay(state, hostRegistry(state.store, ownMachine));
    const net = isWired ? new Net(world, power, random.pick([0, 0.5, 2.5]), 2) : null;
    tenant.net = net;
    const desk = net ?? power;
    const next = (): EmbeddedHost | null => (net === null ? tenant.host : net.next());
    const live = (): EmbeddedHost => net?.current.host ?? tenant.host ?? nobody();
    const person = new Person(
      world,
      desk,
      { confirm: (key, output) => live().confirmEffect(key, output), retry: (key) => live().retryEffect(key), mend: nobody },
      () => book.ambiguous,
      () => [],
    );
    const book: EffectBook = new EffectBook(state, replay, outside, person, null);
    const shelves = new Shelves(replay);
    // The directory is part of what a run stores: the same each time.
    const pauses = new Pauses(replay, shelves, state);
    const holder = new Holder(world, desk, next, pauses, random.pick([0, 0.4, 2]));
    const runs = new Runs(world, desk, next, shelves, pauses, works, sep);
    tenant.onLost = () => holder.hostLost();
    world.parts.push(
      power,
      ...(net === null ? [] : [net]),
      new EventLoop(world),
      runs,
      holder,
      workers,
      outside,
      person,
      new Time(world, random.pick([0, 0, 1])),
    );
    world.rules.push(
      new Stored(world, power, state, replay, book, { row: (write) => shelves.put(write), look: (rows, actors) => pauses.look(rows, actors) }),
      shelves,
      runs,
      holder,
      power,
      book,
      pauses,
    );
    const undo = [
      workers.takeOver(),
      replaced(
        globalThis,
        doorName,
        (step: { readonly visit: string; readonly attempt: number; readonly idempotencyKey: string; readonly signal: AbortSignal }) =>
          outside.call(power.life, { ...step, key: step.visit, once: false }),
      ),
      replaced(process, "emitWarning", (warning: unknown) => {
        if (power.life.alive) world.stray(new Violation("SIM-14", `a warning: ${String(warning)}`));
      }),
    ];
    return {
      async close() {
        power.life.alive = false;
        await tenant.drop();
        for (const back of undo) back();
        reader.close();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  },
});

/** Compiling a file takes turns of the event loop, once in a process. */
let loaded: Promise<void> | undefined;

/** Every workflow, started and driven as far as it comes when nobody is outside. */
async function loadAll(): Promise<void> {
  tours = (await loadWorkflow(works.tours.file)).definition;
  const directory = newDirectory();
  const host = await openEmbedded({ home: join(directory, "home") });
  for (const { file, inputs } of Object.values(works)) {
    const { id } = await host.start({ workflow: file, input: inputs[0], cwd: sep });
    await host.drive(id);
  }
  await host.close();
  rmSync(directory, { recursive: true, force: true });
}

function nobody(): never {
  throw new Error("the process is not there");
}

function replaced(holder: object, name: PropertyKey, value: unknown): () => void {
  const before: unknown = Reflect.get(holder, name);
  Reflect.set(holder, name, value);
  return () => void (before === undefined ? Reflect.deleteProperty(holder, name) : Reflect.set(holder, name, before));
}

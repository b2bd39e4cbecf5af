/** The runtime over a store: either it stays alive, or it is lost after each call and a new one restores everything from the store. */
import type { AnyEventObject, AnyStateMachine } from "xstate";
import { memoryStore, type Store } from "../../persistence/index.ts";
import type { EffectRecord } from "../../persistence/store.ts";
import { fakeClock, type FakeClock } from "../../src/runtime/clock.ts";
import type { Definition } from "../../src/runtime/definition.ts";
import { createRuntime } from "../../src/runtime/createRuntime.ts";
import type { EffectTask, Executors } from "../../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import { Replayer } from "../../src/runtime/replay.ts";
import type { Change, Runtime } from "../../src/runtime/runtime.ts";
import { steppedElsewhere } from "./elsewhere.ts";
import { traces, type Subject } from "./machines/subject.ts";
import { effectTypesOf, plain, promisesOf, type Deed, type SeenActor, type World } from "./observed.ts";

interface Started {
  readonly key: string;
  resolve: (outcome: { readonly output: unknown }) => void;
  reject: (error: Error) => void;
}

export interface DurableOptions {
  /** Lose the runtime after each call. */
  readonly restarts: boolean;
  /** In memory when left out. */
  readonly store?: Store;
  /** Every machine is stepped through data, as one in another process is; each answer comes later, or at once. */
  readonly elsewhere?: "later" | "atOnce";
}

const epoch = Date.UTC(2030, 0, 1);

export class DurableWorld implements World {
  private readonly subject: Subject;
  private readonly restarts: boolean;
  private readonly elsewhere: DurableOptions["elsewhere"];
  private readonly store: Store;
  private readonly ownsStore: boolean;
  private clock: FakeClock = fakeClock(epoch);
  private runtime: Runtime | null = null;
  private readonly started: Started[] = [];
  private readonly byKey = new Map<string, Started>();
  private readonly names = new Map<string, { readonly parent: string | null; readonly key: string | null }>();
  /** Effects that are not over, and those of them that the runtime of now has called. */
  private readonly open = new Map<string, EffectRecord>();
  private called = new Set<string>();
  private done: Deed[] = [];
  private life = {};
  private readonly errors: unknown[] = [];

  constructor(subject: Subject, { restarts, store, elsewhere }: DurableOptions) {
    this.elsewhere = elsewhere;
    this.subject = subject;
    this.restarts = restarts;
    this.store = store ?? memoryStore();
    this.ownsStore = store === undefined;
  }

  async start(): Promise<void> {
    // A live actor that cannot start errs; this one is refused, and is not there.
    await this.doing((runtime) => runtime.start(this.subject.machine.id, { id: "root", input: this.subject.input }).catch(() => null));
  }

  async send(path: string, event: AnyEventObject): Promise<void> {
    const id = await this.idAt(path);
    await this.doing((runtime) => runtime.send(id, event));
  }

  async advance(ms: number): Promise<void> {
    await this.doing(async () => this.clock.advance(ms));
  }

  async settle(nth: number, outcome: { readonly output: unknown } | { readonly error: string }): Promise<void> {
    const started = this.started[nth];
    if (!started) throw new Error(`No promise number ${nth} was started`);
    await this.doing(async () => {
      const isWanted = this.open.has(started.key);
      if ("error" in outcome) started.reject(new Error(outcome.error));
      else started.resolve({ output: outcome.output });
      if (isWanted) await this.until(() => !this.open.has(started.key));
    });
  }

  async tree(): Promise<readonly SeenActor[]> {
    return this.seen("root", "");
  }

  async timers(): Promise<readonly number[]> {
    const ids = [...this.names.keys()];
    const all = await Promise.all(ids.map((id) => this.store.timers(id)));
    return all
      .flat()
      .map(({ dueAt }) => dueAt - this.clock.now())
      .toSorted((a, b) => a - b);
  }

  deeds(): readonly Deed[] {
    const { done } = this;
    this.done = [];
    // What an actor emits is told before its own change is, which brings its name.
    return done.map((deed) => (deed.kind === "emitted" ? { ...deed, path: this.pathOf(deed.path) } : deed));
  }

  /** What deriving every actor's journal again comes to, where it does not come to the same. */
  async replayed(): Promise<readonly string[]> {
    const { machine, children = [] } = this.subject;
    const replayer = new Replayer(this.store, createRegistry(this.definitions([machine, ...children])));
    const found: string[] = [];
    for (const id of this.names.keys()) {
      const [record] = await this.store.load([id]);
      const replay = record && (await replayer.replay(record));
      if (replay?.outcome !== "same") found.push(`${id}: ${JSON.stringify(replay)}`);
    }
    return found;
  }

  async close(): Promise<void> {
    // A runtime that closes waits a while for what it runs, cancelled or not.
    for (const { key, reject } of this.started) if (!this.open.has(key)) reject(new Error("the walk is over"));
    await this.runtime?.close();
    if (this.ownsStore) await this.store.close();
  }

  private async doing(work: (runtime: Runtime) => Promise<unknown>): Promise<void> {
    const before = traces.note;
    traces.note = (name, params) => void this.done.push({ kind: "volatile", name, params: plain(params) });
    try {
      this.runtime ??= await this.boot();
      await work(this.runtime);
      await this.quiet();
      if (this.errors.length > 0) throw this.errors[0];
      if (this.restarts) {
        // No close: the process is lost. Its clock stands still for ever, so nothing of it comes back.
        this.clock = fakeClock(this.clock.now());
        this.runtime = await this.boot();
        await this.quiet();
      }
    } finally {
      traces.note = before;
    }
  }

  private async boot(): Promise<Runtime> {
    this.called = new Set();
    const life = (this.life = {});
    const { machine, children = [] } = this.subject;
    const machines = [machine, ...children];
    const execute = Object.fromEntries([
      ...promisesOf(machines).flatMap((source) => [`promise:${source}`, source].map((type) => [type, (task: EffectTask) => this.promise(source, task)])),
      ...effectTypesOf(machines).map((type) => [type, async (task: EffectTask) => this.effect(type, task)]),
    ]) as Executors; // entries of one shape
    const runtime = await createRuntime({
      store: this.store,
      clock: this.clock,
      executors: execute,
      definitions: createRegistry(this.definitions(machines)),
      // What a lost runtime meets is nobody's business any more.
      onError: (error) => void (this.life === life && this.errors.push(error)),
    });
    runtime.subscribe((change) => this.note(change));
    await runtime.adopt("root");
    await runtime.recover();
    return runtime;
  }

  private definitions(machines: readonly AnyStateMachine[]): readonly Definition[] {
    const definitions = machines.map((one) => defineMachine(one));
    return this.elsewhere === undefined ? definitions : steppedElsewhere(definitions, this.elsewhere);
  }

  private promise(source: string, task: EffectTask): Promise<{ readonly output: unknown }> {
    this.called.add(task.key);
    return new Promise((resolve, reject) => {
      // A late result is still wanted after a cancel; only a runtime that closes waits for what it runs.
      task.signal.addEventListener("abort", () => task.signal.reason === "shutdown" && reject(new Error("the walk is over")));
      const known = this.byKey.get(task.key);
      if (known) {
        Object.assign(known, { resolve, reject });
        return;
      }
      const started: Started = { key: task.key, resolve, reject };
      this.byKey.set(task.key, started);
      this.started.push(started);
      this.done.push({ kind: "promise", path: this.pathOf(task.actor, this.open.get(task.key)?.invokeId ?? ""), source, input: plain(task.input) });
    });
  }

  private effect(type: string, task: EffectTask): { readonly output: null } {
    this.called.add(task.key);
    if (task.attempt === 1) this.done.push({ kind: "effect", path: this.pathOf(task.actor), type, params: plain(task.input) });
    return { output: null };
  }

  private note(change: Change): void {
    if (change.kind === "actor") this.names.set(change.view.record.id, { parent: change.view.record.parent, key: change.view.record.childKey });
    if (change.kind === "emitted") this.done.push({ kind: "emitted", path: change.actor, event: plain(change.event) });
    if (change.kind === "log") this.done.push({ kind: "log", label: change.label, value: plain(change.value) });
    if (change.kind !== "effect") return;
    const { record } = change;
    if (record.state === "planned" || record.state === "attempting") this.open.set(record.key, record);
    else this.open.delete(record.key);
  }

  private pathOf(actor: string, last?: string): string {
    const name = this.names.get(actor);
    const own = name?.parent ? this.pathOf(name.parent, name.key ?? "") : "";
    return last === undefined ? own : `${own}/${last}`;
  }

  /** Nothing due is left, every open effect was begun, and what actions asked for is over. */
  private async quiet(): Promise<void> {
    await this.until(async () => {
      const due = await this.store.nextDue();
      if (due !== null && due <= this.clock.now()) return false;
      return [...this.open.values()].every((record) => record.invokeId !== null && this.called.has(record.key));
    });
  }

  private async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 10_000; turn += 1) {
      if (await isSo()) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`The runtime does not come to rest: open effects ${[...this.open.keys()].join(", ")}`);
  }

  private async idAt(path: string): Promise<string> {
    let id = "root";
    for (const key of path.split("/").slice(1)) id = (await this.linksOf(id))[key]?.actor ?? id;
    return id;
  }

  private async linksOf(id: string): Promise<{ readonly [key: string]: { readonly actor?: string; readonly effect?: string } }> {
    const [record] = await this.store.load([id]);
    const { children }: { children: { [key: string]: { snapshot: { actor?: string; effect?: string } } } } = JSON.parse(record?.snapshot ?? '{"children":{}}');
    return Object.fromEntries(Object.entries(children).map(([key, child]) => [key, child.snapshot]));
  }

  private async seen(id: string, path: string): Promise<readonly SeenActor[]> {
    const [record] = await this.store.load([id]);
    if (!record) return [{ path, machine: "", status: "error", children: [] }];
    const { value, context, output, error }: { value: unknown; context: unknown; output?: unknown; error?: { message: string } } = JSON.parse(record.snapshot);
    const links = await this.linksOf(id);
    const own: SeenActor = {
      path,
      machine: record.machineId,
      status: record.status,
      value,
      context: plain(context),
      ...(output === undefined ? {} : { output: plain(output) }),
      ...(error === undefined ? {} : { error: error.message }),
      children: Object.keys(links).toSorted(),
    };
    const below: SeenActor[] = [];
    for (const [key, link] of Object.entries(links)) if (link.actor !== undefined) below.push(...(await this.seen(link.actor, `${path}/${key}`)));
    return [own, ...below];
  }
}

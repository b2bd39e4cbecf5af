/** `testNode`: walks through a machine of an author's as the durable runtime would, and checks in each state that it can be stored, goes on from what was
 *  stored as if nothing had happened, answers events that it does not know, and can still come to an end. */
import type { AnyStateMachine, EventObject } from "xstate";
import { PawlError, messageOf } from "../errors.ts";
import { checkAuthorRules, workflowMachineProblems } from "../runtime/authorRules.ts";
import { everyNode } from "../runtime/fit.ts";
import type { AnyNode } from "../workflow/definition.ts";
import { createStepper, type Hydrated, type StepRecord, type StepResult, type Stepper } from "../runtime/step.ts";

/** How a child of the machine may end. */
export type ChildEnd = { readonly output: unknown } | { readonly error: unknown };

export interface TestNodeOptions {
  /** What the machine is started with. */
  readonly input?: unknown;
  /** Events from outside with their payloads, each tried in every state. */
  readonly events?: readonly EventObject[];
  /** How its promises and child machines may end, by their names in `setup({ actors })`; without an entry: with nothing, and with an error. */
  readonly ends?: { readonly [src: string]: readonly ChildEnd[] };
  /** More states than this are a mistake: a context that counts without end. 2,000 when left out. */
  readonly maxStates?: number;
}

/** What was walked through. */
export interface TestNodeReport {
  /** Different snapshots, ended ones included. */
  readonly states: number;
  /** Steps from one of them. */
  readonly steps: number;
  /** Outputs that it ended with, each once. */
  readonly outputs: readonly unknown[];
  /** States of the chart that no walk entered, as `machine.state.child`: give events or ends that lead there. */
  readonly unvisited: readonly string[];
}

/** Events that no machine knows: a restored actor may get one from a version that is gone. */
const stranger: EventObject = { type: "pawl.event.that.nobody.knows" };
const actor = "r_test/graph/node.1";
const parent = "r_test/graph";
const startedAt = Date.UTC(2030, 0, 1);
const noNames: ReadonlyMap<string, string> = new Map();

/** A snapshot, what its machine still waits for, and the way to it. */
interface Place {
  readonly at: Hydrated;
  readonly text: string;
  readonly status: StepResult["status"];
  /** Delayed events by key. */
  readonly timers: ReadonlyMap<string, EventObject>;
  /** Sources of the children that have not ended, by key. */
  readonly children: ReadonlyMap<string, string>;
  readonly way: readonly string[];
  readonly next: Set<string>;
}

/**
 * Walks through every snapshot that the machine, or the machine of this node, can reach with these events and ends.
 * @throws invalidMachine for a machine that breaks the author rules, or naming what went wrong, in which state and after which events
 */
export async function testNode(node: AnyStateMachine | AnyNode, options: TestNodeOptions = {}): Promise<TestNodeReport> {
  const machine = machineOf(node);
  checkRules(machine);
  return new Walk(machine, options).all();
}

/** @throws invalidInput for a node that is no machine of its author's */
function machineOf(node: AnyStateMachine | AnyNode): AnyStateMachine {
  if (!("behaviour" in node)) return node;
  if (node.behaviour.kind === "machine") return node.behaviour.machine;
  throw new PawlError(
    "invalidInput",
    `A node of the kind ${node.behaviour.kind} is Pawl's own: give testNode a machine, or a node of machineNode or defineNode.`,
    {
      path: "node",
    },
  );
}

/** One without a version is part of a workflow, whose sources are stored with the run. */
function checkRules(machine: AnyStateMachine): void {
  if (machine.config.version !== undefined) return checkAuthorRules(machine);
  const problems = workflowMachineProblems(machine);
  if (problems.length > 0) throw new PawlError("invalidMachine", `It cannot be durable as it is: ${problems.join(" ")}`, { subject: machine.id });
}

class Walk {
  private readonly machine: AnyStateMachine;
  private readonly options: TestNodeOptions;
  private readonly stepper: Stepper;
  private readonly places = new Map<string, Place>();
  private readonly entered = new Set<string>();
  private steps = 0;

  constructor(machine: AnyStateMachine, options: TestNodeOptions) {
    this.machine = machine;
    this.options = options;
    this.stepper = createStepper(machine);
  }

  async all(): Promise<TestNodeReport> {
    const nothing = { timers: new Map<string, EventObject>(), children: new Map<string, string>(), way: [] };
    const first = await this.tried([], "start", () => this.stepper.init(actor, parent, this.options.input, "node", noNames));
    const open = [this.arrive(nothing, first, "start")];
    for (let place = open.pop(); place; place = open.pop()) {
      if (place.status !== "active") continue;
      await this.answersStrangers(place);
      for (const [name, event] of this.eventsAt(place)) {
        const known = this.places.size;
        const next = await this.step(place, name, event);
        place.next.add(next.text);
        if (this.places.size > known) open.push(next);
      }
    }
    this.allEnd();
    return {
      states: this.places.size,
      steps: this.steps,
      outputs: [
        ...new Set([...this.places.values()].filter(({ status }) => status === "done").map(({ at }) => JSON.stringify(at.snapshot.output) ?? "null")),
      ].map((text): unknown => JSON.parse(text)),
      unvisited: [...everyNode(this.machine.root)]
        .filter(({ path, type }) => path.length > 0 && type !== "history" && !this.entered.has(path.join(".")))
        .map(({ id }) => id),
    };
  }

  /** From what was stored and from what is in memory: both must come to the same. */
  private async step(place: Place, name: string, event: EventObject): Promise<Place> {
    const given = stamped(event);
    const live = await this.tried(place.way, name, () => this.stepper.step(place.at, given, noNames));
    const restored = await this.tried(place.way, `${name}, after it was stored and read back`, () =>
      this.stepper.step(this.stepper.hydrate(actor, parent, place.text, "node"), given, noNames),
    );
    this.steps += 1;
    if (!live.changed && !restored.changed) return place;
    const [a, b] = [this.stored(place.way, name, live), this.stored(place.way, name, restored)];
    if (a !== b || shapeOf(live.records) !== shapeOf(restored.records))
      this.fail(place.way, name, `comes to something else when it was stored and read back before. In memory: ${a} Restored: ${b}`);
    return this.arrive(place, live, name, event);
  }

  private arrive(from: Pick<Place, "timers" | "children" | "way">, result: StepResult, name: string, event?: EventObject): Place {
    const timers = new Map(from.timers);
    const children = new Map(from.children);
    if (event !== undefined) for (const [key, timer] of timers) if (timer === event) timers.delete(key);
    const ended = event === undefined ? undefined : /^xstate\.(?:done|error)\.actor\.(.+)$/.exec(event.type)?.[1];
    if (ended !== undefined) children.delete(ended);
    let unnamed = 0;
    for (const record of result.records) {
      if (record.kind === "timer" && record.to.kind === "self") timers.set(record.key ?? `(${(unnamed += 1)}) ${record.event.type}`, record.event);
      if (record.kind === "cancelTimer") timers.delete(record.key);
      if (record.kind === "spawn") children.set(record.key, record.src);
      if (record.kind === "stop") children.delete(record.key);
    }
    const text = this.stored(from.way, name, result);
    const key = `${text}\n${[...timers.keys()].toSorted().join()}\n${[...children.keys()].toSorted().join()}`;
    const known = this.places.get(key);
    if (known) return known;
    for (const path of pathsOf(result.next.snapshot.value)) this.entered.add(path);
    const place: Place = { at: result.next, text, status: result.status, timers, children, way: [...from.way, name], next: new Set() };
    this.places.set(key, place);
    const { maxStates = 2_000 } = this.options;
    if (this.places.size > maxStates) this.fail(place.way, name, `has more than ${maxStates} different snapshots: something in its context grows without end`);
    return place;
  }

  /** Delays are over, children end, and events come from outside. */
  private *eventsAt({ timers, children }: Place): Generator<[string, EventObject]> {
    for (const event of this.options.events ?? []) yield [event.type, event];
    for (const [key, event] of timers) yield [`the delay "${key}"`, event];
    for (const [key, src] of children) {
      const ends = this.options.ends?.[src] ?? [{ output: undefined }, { error: { reason: "nodeFailed", message: "It failed in a test." } }];
      for (const end of ends) {
        if ("error" in end) yield [`the failure of "${key}"`, errorEvent(key, end.error)];
        else yield [`the end of "${key}"`, doneEvent(key, end.output)];
      }
    }
  }

  private async answersStrangers(place: Place): Promise<void> {
    const { changed } = await this.tried(place.way, stranger.type, () => this.stepper.step(place.at, stamped(stranger), noNames));
    // A wildcard may take it.
    if (changed && !this.machine.events.includes("*")) this.fail(place.way, stranger.type, "moves at an event that it does not know");
  }

  /** Every snapshot has a way to an end. */
  private allEnd(): void {
    const ending = new Set([...this.places.values()].filter(({ status }) => status !== "active").map(({ text }) => text));
    for (let grown = true; grown;) {
      grown = false;
      for (const { text, next } of this.places.values()) {
        if (ending.has(text) || ![...next].some((other) => ending.has(other))) continue;
        ending.add(text);
        grown = true;
      }
    }
    const stuck = [...this.places.values()].find(({ text }) => !ending.has(text));
    if (stuck) this.fail(stuck.way.slice(0, -1), stuck.way.at(-1) ?? "start", `never ends from then on, whatever of the given events and ends comes`);
  }

  private stored(way: readonly string[], name: string, { next }: StepResult): string {
    try {
      return this.stepper.persist(next).snapshot;
    } catch (error) {
      return this.fail(way, name, `cannot be stored: ${messageOf(error)}`, error);
    }
  }

  private async tried<T>(way: readonly string[], name: string, work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      return this.fail(way, name, `throws: ${messageOf(error)}`, error);
    }
  }

  private fail(way: readonly string[], name: string, what: string, cause?: unknown): never {
    const before = way.length === 0 ? "" : ` after ${way.join(", ")}`;
    throw new PawlError("invalidMachine", `Machine "${this.machine.id}", at ${name}${before}: it ${what}`, { subject: this.machine.id, cause });
  }
}

const stamped = (event: EventObject): EventObject => Object.assign({ at: startedAt, id: "e_test" }, event);

/** `a`, `a.b`, … of a state value. */
function pathsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) => [name, ...pathsOf(below).map((path) => `${name}.${path}`)]);
}

const doneEvent = (key: string, output: unknown): EventObject => ({ type: `xstate.done.actor.${key}`, actorId: key, output }) as EventObject; // XState's own event has these fields
const errorEvent = (key: string, error: unknown): EventObject => ({ type: `xstate.error.actor.${key}`, actorId: key, error }) as EventObject; // as above

/** What a step asked for, without what is an object's own. */
const shapeOf = (records: readonly StepRecord[]): string =>
  JSON.stringify(
    records.map((record) => [
      record.kind,
      "key" in record ? record.key : null,
      "event" in record ? record.event.type : null,
      "delayMs" in record ? record.delayMs : null,
    ]),
  );

/** Takes hold of everything in this process that would go on by itself or differ from one run to the next: the time, timers, the
 *  event loop's next turn, randomness, and the thread pool behind `node:fs/promises`. What Pawl does stays real; when it happens is ours. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import fsPromises from "node:fs/promises";

/** A real turn of the event loop: when it comes, every promise that could go on has gone on. */
const realImmediate = globalThis.setImmediate;
export const turn = (): Promise<void> => new Promise((resolve) => void realImmediate(resolve));

interface Armed {
  readonly id: number;
  /** Time since the start of the world, which no change of the clock touches. */
  readonly due: number;
  readonly fn: () => void;
}

/** The time and the event loop of a simulated process. */
export class Held {
  /** What `Date.now()` says; epoch ms. */
  wall: number;
  /** Milliseconds that have really passed. */
  passed = 0;
  private readonly immediates: (() => void)[] = [];
  private readonly timers = new Map<number, Armed>();
  private ids = 0;
  private readonly undo: (() => void)[] = [];

  constructor(startMs: number) {
    this.wall = startMs;
    const immediate = (fn: (...args: unknown[]) => void, ...args: unknown[]): void => void this.immediates.push(() => fn(...args));
    const timeout = (fn: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): number => {
      const id = (this.ids += 1);
      this.timers.set(id, { id, due: this.passed + Math.max(1, ms), fn: () => fn(...args) });
      return id;
    };
    this.replace(globalThis, "setImmediate", immediate);
    this.replace(globalThis, "setTimeout", timeout);
    this.replace(globalThis, "clearTimeout", (id: number) => void this.timers.delete(id));
    this.replace(Date, "now", () => this.wall);
    this.replace(Math, "random", () => 0.5); // only a backoff's jitter asks
    for (const name of ["readFile", "writeFile", "mkdir", "rename", "rm", "chmod"] as const) {
      const now: (...args: never[]) => unknown = fs[`${name}Sync`];
      this.replace(fsPromises, name, async (...args: never[]) => now(...args));
    }
    syncBuiltinESMExports();
  }

  /** Gives everything back. */
  release(): void {
    for (const back of this.undo.splice(0).reverse()) back();
    syncBuiltinESMExports();
  }

  /** Pieces of work that wait for the next turn of the event loop. */
  get waiting(): number {
    return this.immediates.length;
  }

  runImmediate(): boolean {
    const fn = this.immediates.shift();
    fn?.();
    return fn !== undefined;
  }

  /** Lets time pass; the clock on the wall goes with it. */
  pass(ms: number): void {
    this.passed += ms;
    this.wall += ms;
  }

  /** Sets the clock on the wall; no time passes. */
  setWall(ms: number): void {
    this.wall = ms;
  }

  /** How many timers have run out. */
  get ripe(): number {
    return [...this.timers.values()].filter(({ due }) => due <= this.passed).length;
  }

  /** Fires the timer that ran out first. */
  fire(): boolean {
    const first = this.first();
    if (first === undefined || first.due > this.passed) return false;
    this.timers.delete(first.id);
    first.fn();
    return true;
  }

  /** Milliseconds until the next timer runs out; null: none is armed. */
  get untilNext(): number | null {
    const first = this.first();
    return first === undefined ? null : Math.max(0, first.due - this.passed);
  }

  /** What a process takes with it when it dies. */
  forget(): void {
    this.immediates.length = 0;
    this.timers.clear();
  }

  private first(): Armed | undefined {
    let first: Armed | undefined;
    for (const timer of this.timers.values())
      if (first === undefined || timer.due < first.due || (timer.due === first.due && timer.id < first.id)) first = timer;
    return first;
  }

  private replace(holder: object, name: string, value: unknown): void {
    const before: unknown = Reflect.get(holder, name);
    Reflect.set(holder, name, value);
    this.undo.push(() => void Reflect.set(holder, name, before));
  }
}

/** The simulated world: parts that say what can happen next, one of which happens, again and again, and rules that are checked after each.
 *  Later machines add parts and rules; the world itself knows neither runtime nor host. */
import { createHash } from "node:crypto";
import type { FaultCounts, FaultKind } from "./faults.ts";
import { turn, Held } from "./hold.ts";
import type { Random } from "./random.ts";

/** Something that can happen: a word and its arguments, as the schedule keeps them and a replay performs them. */
export interface Choice {
  readonly op: string;
  readonly weight: number;
}

/** A part of the world. `name` is the first word of all its ops. */
export interface Part {
  readonly name: string;
  /** What it could do now. Randomness goes into the op's arguments, never into performing it. */
  choices(random: Random): readonly Choice[];
  /** False: that cannot happen now (a shrunk schedule may ask for it). */
  perform(args: readonly string[]): boolean;
  /** What it still needs when nothing bad happens any more; null: nothing. Parts are asked in order, the first need is met. */
  need(): string | null;
}

/** A rule of this world. Both throw `Violation`. */
export interface Rule {
  /** After every step. */
  check?(): Promise<void> | void;
  /** After the last one, when all needs are met. */
  atEnd?(): Promise<void> | void;
}

/** A rule that does not hold. `rule` is its id in docs/spec.md. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly rule: string;
  constructor(rule: string, message: string) {
    super(message);
    this.rule = rule;
  }
}

/** Holds, or is a violation of this rule. */
export function must(holds: boolean, rule: string, message: () => string): asserts holds {
  if (!holds) throw new Violation(rule, message());
}

/** Names that differ each time and mean nothing: of the directory, and of events that nobody else names. */
const ownNames = /(pawl-simulated-|\be_)\w+/g;

export class World {
  readonly held: Held;
  readonly parts: Part[] = [];
  readonly rules: Rule[] = [];
  /** Ops performed, in order. */
  readonly schedule: string[] = [];
  /** Ops and what was seen after each. */
  readonly trace: string[] = [];
  /** True when nothing bad happens any more. */
  calm = false;
  private readonly counts: { [kind in FaultKind]?: number } = {};
  private readonly strays: unknown[] = [];
  private readonly unfinished: Promise<void>[] = [];

  constructor(startMs = Date.UTC(2030, 0, 1)) {
    this.held = new Held(startMs);
  }

  /** What can happen now, of all parts. */
  choices(random: Random): readonly Choice[] {
    return this.parts.flatMap((part) => part.choices(random));
  }

  /** The next thing that must happen for the world to come to rest. */
  need(): string | null {
    for (const part of this.parts) {
      const need = part.need();
      if (need !== null) return need;
    }
    return null;
  }

  /** Performs one op and checks every rule; false when it could not happen. @throws Violation */
  async step(op: string): Promise<boolean> {
    const [name = "", ...args] = op.split(" ");
    const part = this.parts.find((one) => one.name === name);
    this.trace.push(`> ${op}`);
    if (!part?.perform(args)) {
      this.trace.pop();
      return false;
    }
    this.schedule.push(op);
    await turn();
    for (let work = this.unfinished.shift(); work !== undefined; work = this.unfinished.shift()) await work;
    await this.checkAll();
    return true;
  }

  /** Nothing else happens before this is done. */
  wait(work: Promise<void>): void {
    this.unfinished.push(work);
  }

  async checkAll(): Promise<void> {
    for (const rule of this.rules) await rule.check?.();
    const [stray] = this.strays;
    if (stray instanceof Violation) throw stray;
    if (stray !== undefined)
      throw new Violation("SIM-14", `an error reached nobody: ${stray instanceof Error ? (stray.stack ?? stray.message) : JSON.stringify(stray)}`);
  }

  async checkEnd(): Promise<void> {
    for (const rule of this.rules) await rule.atEnd?.();
  }

  see(line: string): void {
    this.trace.push(`  ${line.replaceAll(ownNames, "$1")}`);
  }

  /** An error that nobody awaits, or a violation seen where nobody would pass it on. */
  stray(error: unknown): void {
    this.strays.push(error);
  }

  /** Something went wrong, as it was meant to. */
  fault(kind: FaultKind): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }

  get faults(): FaultCounts {
    return this.counts;
  }

  hash(): string {
    return createHash("sha256").update(this.trace.join("\n")).digest("hex");
  }
}

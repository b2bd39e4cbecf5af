/** A person who settles effects with an unknown outcome. Two words at once may meet: one wins. */
import { isPawlError } from "../../../src/errors.ts";
import type { Random } from "../core/random.ts";
import { Violation, type Choice, type Part, type World } from "../core/world.ts";
import { isStorageError, isUnanswered, type Life, type Standpoint } from "./power.ts";

/** Who is told the person's word. */
export interface Settler {
  confirm(key: string, output: unknown): Promise<unknown>;
  retry(key: string): Promise<unknown>;
  /** Tries again what faulted an actor. */
  mend(actor: string): Promise<unknown>;
}

/** What a person says that the effect gave. */
interface Word {
  readonly person: number;
  readonly serial: 0;
}

export class Person implements Part {
  readonly name = "person";
  private readonly world: World;
  private readonly power: Standpoint;
  private readonly settler: Settler;
  private readonly uncertain: () => ReadonlySet<string>;
  private readonly faulted: () => readonly string[];
  private readonly retries = new Map<string, number>();
  private readonly confirmations = new Map<string, number>();
  private readonly speaking = new Map<string, Life>();
  private words = 0;

  /** `uncertain`: the effects that wait for a word now; `faulted`: the actors that stand still. */
  constructor(world: World, power: Standpoint, settler: Settler, uncertain: () => ReadonlySet<string>, faulted: () => readonly string[]) {
    this.world = world;
    this.power = power;
    this.settler = settler;
    this.uncertain = uncertain;
    this.faulted = faulted;
  }

  /** How often somebody asked that this effect be done again. */
  retried(key: string): number {
    return this.retries.get(key) ?? 0;
  }

  /** Whether anybody said anything of it. */
  spokeOf(key: string): boolean {
    return (this.confirmations.get(key) ?? 0) + (this.retries.get(key) ?? 0) > 0;
  }

  /** Whether this output is what a person said. */
  confirmed(key: string, output: unknown): boolean {
    return typeof output === "object" && output !== null && "person" in output && (this.confirmations.get(key) ?? 0) > 0;
  }

  choices(random: Random): readonly Choice[] {
    if (!this.power.isUp) return [];
    const [keys, faulted] = [[...this.uncertain()], this.faulted()];
    const choices: Choice[] = faulted.length > 0 ? [{ op: `person mend ${random.pick(faulted)}`, weight: 1 }] : [];
    if (keys.length === 0) return choices;
    const key = random.pick(keys);
    return [...choices, { op: `person confirm ${key}`, weight: 2 }, { op: `person retry ${key}`, weight: 6 }];
  }

  perform([what = "", subject = ""]: readonly string[]): boolean {
    if (!this.power.isUp) return false;
    if (what === "mend") {
      if (!this.faulted().includes(subject)) return false;
      this.mend(subject);
      return true;
    }
    if (!this.uncertain().has(subject)) return false;
    if (what === "confirm") this.speak(subject, "confirm");
    else if (what === "retry") this.speak(subject, "retry");
    else return false;
    return true;
  }

  need(): string | null {
    if (!this.power.isServed) return null;
    for (const key of this.uncertain()) if (!this.speaking.get(key)?.alive) return `person confirm ${key}`;
    return null;
  }

  private mend(actor: string): void {
    const { life } = this.power;
    this.settler.mend(actor).then(
      () => this.world.see(`${actor} was tried again`),
      (error: unknown) => {
        if (life.alive && !isStorageError(error)) this.world.stray(error);
      },
    );
  }

  private speak(key: string, what: "confirm" | "retry"): void {
    const { life } = this.power;
    this.speaking.set(key, life);
    const said = what === "confirm" ? this.confirmations : this.retries;
    // Counted when it is said: it may be stored though the process dies before anybody hears so.
    said.set(key, (said.get(key) ?? 0) + 1);
    this.words += 1;
    const word: Word = { person: this.words, serial: 0 };
    const done = what === "confirm" ? this.settler.confirm(key, word) : this.settler.retry(key);
    done.then(
      () => {
        this.speaking.delete(key);
        this.world.see(`${what} of ${key} is taken`);
      },
      (error: unknown) => {
        this.speaking.delete(key);
        if (!life.alive || isStorageError(error)) return;
        if (isUnanswered(error)) return this.power.gone(life);
        if (isPawlError(error) && (error.code === "refused" || error.code === "stale")) said.set(key, (said.get(key) ?? 1) - 1);
        else this.world.stray(new Violation("SIM-14", `a person's ${what} of ${key} failed: ${String(error)}`));
      },
    );
  }
}

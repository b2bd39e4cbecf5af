/** Looks outside whether something happened, truthfully, when it is asked and when the schedule says so. Now and then nobody can tell. */
import type { Observed } from "../../../src/runtime/executor.ts";
import type { Random } from "../core/random.ts";
import type { Choice, Part, World } from "../core/world.ts";
import type { Outside } from "./outside.ts";
import { Died, type Life } from "./power.ts";

interface Question {
  readonly id: string;
  readonly key: string;
  readonly idempotencyKey: string;
  readonly life: Life;
  readonly resolve: (seen: Observed) => void;
  readonly reject: (error: Error) => void;
}

export class Observer implements Part {
  readonly name = "observer";
  /** Effects of which it was told that they happened. */
  readonly seen = new Set<string>();
  private readonly lookedFor = new Set<string>();
  private readonly questions: Question[] = [];
  private readonly world: World;
  private readonly outside: Outside;
  private asked = 0;

  constructor(world: World, outside: Outside) {
    this.world = world;
    this.outside = outside;
  }

  look(life: Life, { key, idempotencyKey }: { readonly key: string; readonly idempotencyKey: string }): Promise<Observed> {
    return new Promise((resolve, reject) => {
      if (!life.alive) {
        reject(new Died());
        return;
      }
      this.asked += 1;
      this.questions.push({ id: `${key}?${this.asked}`, key, idempotencyKey, life, resolve, reject });
      this.lookedFor.add(key);
      this.world.see(`look for ${key}`);
    });
  }

  /** Whether it was ever asked about this effect. */
  isAsked(key: string): boolean {
    return this.lookedFor.has(key);
  }

  choices(random: Random): readonly Choice[] {
    const open = this.open;
    if (open.length === 0) return [];
    const { id } = random.pick(open);
    return [
      { op: `observer tell ${id}`, weight: 12 },
      { op: `observer shrug ${id}`, weight: 2 },
      { op: `observer fail ${id}`, weight: 1 },
    ];
  }

  perform([what = "", id = ""]: readonly string[]): boolean {
    const question = this.open.find((one) => one.id === id);
    if (question === undefined) return false;
    this.questions.splice(this.questions.indexOf(question), 1);
    if (what === "tell") question.resolve(this.truth(question));
    else if (what === "shrug") {
      this.world.fault("nobody can tell whether it happened");
      question.resolve(null);
    } else {
      this.world.fault("looking whether it happened fails");
      question.reject(new Error("nobody answers there"));
    }
    return true;
  }

  need(): string | null {
    const [question] = this.open;
    return question === undefined ? null : `observer tell ${question.id}`;
  }

  private get open(): readonly Question[] {
    return this.questions.filter(({ life }) => life.alive);
  }

  private truth({ key, idempotencyKey }: Question): Observed {
    const calls = this.outside.calls.filter((call) => call.idempotencyKey === idempotencyKey);
    const reached = calls.find((call) => call.reached);
    if (reached) {
      this.seen.add(key);
      return { happened: true, output: { serial: reached.serial, key: reached.key, attempt: reached.attempt } };
    }
    // While code that could still do it runs, nobody can say that it did not happen.
    return calls.some((call) => call.outcome === null && call.life.alive) ? null : { happened: false };
  }
}

/** Stands between a runtime and its store: what a store answers arrives when the schedule says so, and a process that is gone hears nothing any more. */
import type { Store } from "../../../persistence/store.ts";
import type { Random } from "../core/random.ts";
import type { Choice, Part, World } from "../core/world.ts";
import type { Life } from "./power.ts";

/** How far down the queue an answer may overtake others. */
const reach = 4;

export class Gate implements Part {
  readonly name = "store";
  private readonly world: World;
  private readonly holds: boolean;
  private readonly waiting: { readonly what: string; readonly go: () => void }[] = [];

  /** `holds`: false lets everything through at once. */
  constructor(world: World, holds: boolean) {
    this.world = world;
    this.holds = holds;
  }

  between(store: Store, life: Life): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        return (...args: unknown[]) => this.through(String(name), life, () => Promise.resolve(Reflect.apply(method, target, args)));
      },
    });
  }

  clear(): void {
    this.waiting.length = 0;
  }

  choices(random: Random): readonly Choice[] {
    const count = Math.min(reach, this.waiting.length);
    return count === 0 ? [] : [{ op: `store answer ${random.below(count)}`, weight: 60 }];
  }

  perform([, index = ""]: readonly string[]): boolean {
    const [one] = this.waiting.splice(Number(index), 1);
    if (one === undefined) return false;
    if (Number(index) > 0) this.world.fault("store answers out of order");
    this.world.see(one.what);
    one.go();
    return true;
  }

  need(): string | null {
    return this.waiting.length > 0 ? "store answer 0" : null;
  }

  private through<T>(what: string, life: Life, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        if (!life.alive) return;
        work().then(
          (value) => life.alive && resolve(value),
          (error: unknown) => life.alive && reject(error),
        );
      };
      if (this.holds) this.waiting.push({ what, go });
      else go();
    });
  }
}

/** Whoever drives trees of actors: takes them up, leaves them, at any time; at last everything is taken up. */
import type { Runtime } from "../../../src/runtime/runtime.ts";
import type { Random } from "../core/random.ts";
import { must, type Choice, type Part, type Rule, type World } from "../core/world.ts";
import { isStorageError, type Life, type Power } from "./power.ts";

export class Adopter implements Part, Rule {
  readonly name = "tree";
  private readonly world: World;
  private readonly power: Power;
  private readonly runtime: () => Runtime | null;
  private readonly roots: () => readonly string[];
  /** In the life in which they were taken up. */
  private readonly taken = new Map<string, Life>();
  private readonly busy = new Map<string, Life>();

  /** `roots`: trees in which something is left to do. */
  constructor(world: World, power: Power, runtime: () => Runtime | null, roots: () => readonly string[]) {
    this.world = world;
    this.power = power;
    this.runtime = runtime;
    this.roots = roots;
  }

  choices(random: Random): readonly Choice[] {
    if (!this.power.isUp) return [];
    const [left, held] = [this.roots().filter((id) => !this.isTaken(id)), this.roots().filter((id) => this.isTaken(id))];
    return [
      ...(left.length > 0 ? [{ op: `tree take ${random.pick(left)}`, weight: 20 }] : []),
      ...(held.length > 0 ? [{ op: `tree leave ${random.pick(held)}`, weight: 0.4 }] : []),
      ...(held.length > 0 ? [{ op: `tree stop ${random.pick(held)}`, weight: 0.15 }] : []),
    ];
  }

  perform([what = "", root = ""]: readonly string[]): boolean {
    const runtime = this.runtime();
    if (!this.power.isUp || runtime === null || this.busy.get(root)?.alive) return false;
    if (what !== "take" && what !== "leave" && what !== "stop") return false;
    const { life } = this.power;
    this.busy.set(root, life);
    if (what === "take") this.taken.set(root, life);
    if (what === "leave") this.taken.delete(root);
    const done: Promise<unknown> = what === "take" ? runtime.adopt(root) : what === "leave" ? runtime.release(root) : runtime.stop(root);
    done.then(
      () => {
        if (this.busy.get(root) === life) this.busy.delete(root);
      },
      (error: unknown) => {
        if (this.busy.get(root) === life) this.busy.delete(root);
        if (life.alive && !isStorageError(error)) this.world.stray(error);
      },
    );
    return true;
  }

  need(): string | null {
    if (!this.power.isUp) return null;
    const root = this.roots().find((id) => !this.isTaken(id) && !this.busy.get(id)?.alive);
    return root === undefined ? null : `tree take ${root}`;
  }

  atEnd(): void {
    for (const [root, life] of this.busy) must(!life.alive, "SIM-13", () => `taking up or leaving ${root} never came to its end`);
  }

  private isTaken(root: string): boolean {
    return this.taken.get(root)?.alive ?? false;
  }
}

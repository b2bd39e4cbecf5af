/** Time and the event loop: what is ready runs when the schedule says so, and the clock on the wall may be set. */
import type { Random } from "../core/random.ts";
import type { Choice, Part, World } from "../core/world.ts";

/** The next turn of the process's event loop. While it does not come, what arrives meanwhile gets into the same group. */
export class EventLoop implements Part {
  readonly name = "loop";
  private readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  choices(): readonly Choice[] {
    return this.world.held.waiting > 0 ? [{ op: "loop", weight: 30 }] : [];
  }

  perform(): boolean {
    return this.world.held.runImmediate();
  }

  need(): string | null {
    return this.world.held.waiting > 0 ? "loop" : null;
  }
}

/** Timers of the operating system, and the passing and setting of time. */
export class Time implements Part {
  readonly name = "time";
  private readonly world: World;
  private readonly jumps: number;

  /** `jumps`: weight of a clock that is set, forward or back. */
  constructor(world: World, jumps: number) {
    this.world = world;
    this.jumps = jumps;
  }

  choices(random: Random): readonly Choice[] {
    const { held } = this.world;
    const until = held.untilNext;
    return [
      { op: "time fire", weight: held.ripe > 0 ? 15 : 0 },
      { op: `time pass ${random.pick([1, 7, 50, 400, 3000])}`, weight: 3 },
      { op: `time pass ${Math.max(0, (until ?? 0) + random.pick([-1, 0, 0, 0, 1]))}`, weight: until === null ? 0 : 2 },
      { op: `time set ${random.pick([-86_400_000, -60_000, -5000, -1, 1, 5000, 60_000, 86_400_000])}`, weight: this.jumps },
    ];
  }

  perform([what = "", by = "0"]: readonly string[]): boolean {
    const { held } = this.world;
    if (what === "fire") return held.fire();
    if (what === "pass") held.pass(Number(by));
    else if (what === "set") {
      this.world.fault(Number(by) < 0 ? "clock set back" : "clock set forward");
      held.setWall(held.wall + Number(by));
    } else return false;
    return true;
  }

  need(): string | null {
    const { held } = this.world;
    if (held.ripe > 0) return "time fire";
    const until = held.untilNext;
    if (until === null) return null;
    // A clock that waits long does so in hops of an hour: nothing else is near, and five days are as good as one hop.
    return `time pass ${until >= 3_600_000 ? 432_000_000 : until}`;
  }
}

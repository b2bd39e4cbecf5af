/** Lines of a command for whoever watches: as fast as people and screens can take them. What comes faster is counted, and the command waits in its pipe. */
import { systemClock } from "../runtime/clock.ts";

/** So many lines are told in each window. */
const windowLines = 100;
const windowMs = 100;

export class SteadyLines {
  private readonly tell: (line: string) => void;
  private readonly now: () => number;
  private opened = Number.NEGATIVE_INFINITY;
  private told = 0;
  private skipped = 0;
  private lastSkipped = "";

  constructor(tell: (line: string) => void, now: () => number = () => systemClock.now()) {
    this.tell = tell;
    this.now = now;
  }

  /** No line is wanted now. */
  isFull(): boolean {
    const now = this.now();
    const passed = now - this.opened;
    // A clock that was set back opens a window too.
    if (passed >= windowMs || passed < 0) {
      this.opened = now;
      this.told = 0;
    }
    return this.told >= windowLines;
  }

  line(text: string): void {
    this.sayHowMany(this.skipped);
    this.skipped = 0;
    this.told += 1;
    this.tell(text);
  }

  /** So many lines are not told, of which this is the last. */
  skip(count: number, last: string): void {
    this.skipped += count;
    this.lastSkipped = last;
  }

  /** The last line of all is told, however fast it came. */
  end(): void {
    if (this.skipped === 0) return;
    this.sayHowMany(this.skipped - 1);
    this.skipped = 0;
    this.tell(this.lastSkipped);
  }

  private sayHowMany(count: number): void {
    if (count > 0) this.tell(`[${count} ${count === 1 ? "line was" : "lines were"} printed faster than can be shown]`);
  }
}

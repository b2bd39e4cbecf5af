/** SIM-24: what clients ask to be changed has effect at most once, and once when they were told so: counted in the journal, beside what was asked. */
import type { JournalRow } from "../../../persistence/store.ts";
import { must } from "../core/world.ts";

interface Count {
  asked: number;
  /** Told to be done, while the run was not over. */
  told: number;
  /** Asked again of a later host, which cannot know what an earlier one had done and not said. */
  again: number;
  /** Journal rows. */
  rows: number;
}

const commands: readonly string[] = ["run.pause", "run.resume", "run.hold", "run.adopt"];

export class Requests {
  private readonly counts = new Map<string, Count>();

  asked(command: string, run: string): void {
    this.of(command, run).asked += 1;
  }

  told(command: string, run: string): void {
    this.of(command, run).told += 1;
  }

  askedAgain(command: string, run: string): void {
    this.of(command, run).again += 1;
  }

  look(rows: readonly JournalRow[]): void {
    for (const { actor, type } of rows) if (commands.includes(type)) this.of(type, actor).rows += 1;
  }

  /** When the journal was looked at. @throws Violation */
  check(): void {
    for (const [what, { asked, told, again, rows }] of this.counts) {
      must(rows >= told, "SIM-24", () => `${what} was told to be done ${told} times, and is in the journal ${rows} times`);
      must(
        rows <= asked + again,
        "SIM-24",
        () => `${what} was asked for ${asked} times, ${again} times again after a host was lost, and is in the journal ${rows} times`,
      );
    }
  }

  private of(command: string, run: string): Count {
    const key = `${command} of ${run}`;
    const known = this.counts.get(key) ?? { asked: 0, told: 0, again: 0, rows: 0 };
    this.counts.set(key, known);
    return known;
  }
}

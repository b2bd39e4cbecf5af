/** Who is sent first, and by how much: found while the races go on, so that either side wins many. Seeded, as all randomness of tests. */
import { seeded } from "../crash/libraryKit.ts";

/** Ms by which a head start moves when one side won all races of a round, and by which single races differ from it. */
const stepMs = 5;
const spreadMs = 3;

export class HeadStart {
  private readonly random: () => number;
  private ms = 0;

  constructor(seed: number) {
    this.random = seeded(seed);
  }

  /** Ms by which the second side is sent after the first, for one race; negative: before it. */
  next(): number {
    return this.ms + (this.random() * 2 - 1) * spreadMs;
  }

  /** What came of some races: the further from half of them, the further the next ones are moved. */
  learn(firstWon: number, races: number): void {
    const off = (firstWon / races) * 2 - 1;
    this.ms -= off * Math.abs(off) * stepMs;
  }
}

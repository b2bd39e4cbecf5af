/** The process that holds the state: it opens, stops gracefully, or dies between any two things, before or after any commit; and its disk. */
import Database from "better-sqlite3";
import type { CommitHooks } from "../../../persistence/commit.ts";
import type { FaultKind } from "../core/faults.ts";
import { turn } from "../core/hold.ts";
import type { Random } from "../core/random.ts";
import { must, Violation, type Choice, type Part, type Rule, type World } from "../core/world.ts";

/** One life of the process. What belongs to a life that is over does nothing any more. */
export class Life {
  readonly number: number;
  alive = true;
  /** Its store refuses for good. */
  halted = false;
  constructor(number: number) {
    this.number = number;
  }
}

/** What lives in the process. */
export interface Tenant {
  open(life: Life): Promise<void>;
  /** A graceful end; the state is free afterwards. */
  stop(): Promise<void>;
  /** The process is gone, gracefully or not: gives the state free, writing nothing. */
  drop(): Promise<void>;
  /** Another process takes the state over under this one; returns what has it leave again. */
  usurp?(): Promise<() => Promise<void>>;
}

/** The process died: thrown where its code stood. */
export class Died extends Error {
  override readonly name = "Died";
}

/** From where parts use the process: in it, or from a process of their own. */
export interface Standpoint {
  readonly isUp: boolean;
  /** There is a process that can do what is asked; another could only say again that it cannot. */
  readonly isServed: boolean;
  /** Of whoever asks: what it asked is void when it is over. */
  readonly life: Life;
  /** The asker was told that the store refuses for good. */
  halted(life: Life): void;
  /** The asker has nobody to ask any more. */
  gone(life: Life): void;
}

type State = "down" | "opening" | "up" | "halted" | "stopping";

const diskFaults = { full: "SQLITE_FULL", io: "SQLITE_IOERR_WRITE", fsync: "SQLITE_IOERR_FSYNC" } as const;
type DiskFault = keyof typeof diskFaults;
const diskFaultKinds = { full: "disk full", io: "disk write error", fsync: "disk sync error" } as const;

/** How often what goes wrong does, as weights beside everything else. */
export interface Odds {
  readonly crash: number;
  readonly stop: number;
  readonly disk: number;
}

/** A quiet day, a common one, a rough one, one of bad disks, a frantic one. */
export const oddsOf = (day: Random): Odds =>
  day.pick([
    { crash: 0.03, stop: 0.03, disk: 0 },
    { crash: 0.15, stop: 0.1, disk: 0.03 },
    { crash: 0.6, stop: 0.2, disk: 0 },
    { crash: 0.1, stop: 0.2, disk: 0.4 },
    { crash: 2.5, stop: 0.5, disk: 0.3 },
  ]);

export class Power implements Part, Rule, Standpoint {
  readonly name = "power";
  state: State = "down";
  life = new Life(0);
  /** Commits that reached the disk, of all lives. */
  commits = 0;
  private readonly world: World;
  private readonly tenant: Tenant;
  private readonly odds: Odds;
  private armed: "before" | "after" | null = null;
  private isRenewed = false;
  /** Has the process that took the state over leave it. */
  private usurper: (() => Promise<void>) | null = null;
  private disk: { readonly fault: DiskFault; left: number } | null = null;

  constructor(world: World, tenant: Tenant, odds: Odds) {
    this.world = world;
    this.tenant = tenant;
    this.odds = odds;
  }

  get isUp(): boolean {
    return this.state === "up";
  }

  get isServed(): boolean {
    return this.isUp;
  }

  /** Crash points and disk faults of a life's store. */
  hooks(life: Life): CommitHooks {
    return {
      beforeCommit: () => {
        if (!life.alive) throw new Died();
        if (this.usurper !== null) this.world.stray(new Violation("SIM-25", "a process whose state was taken over commits"));
        if (this.disk !== null) {
          const { fault } = this.disk;
          this.disk.left -= 1;
          if (this.disk.left === 0) this.disk = null;
          this.world.see(`the disk refuses: ${fault}`);
          this.world.fault(diskFaultKinds[fault]);
          throw new Database.SqliteError(`simulated ${fault}`, diskFaults[fault]);
        }
        if (this.armed === "before") this.dieIn(life, "crash before a commit");
      },
      afterCommit: () => {
        this.commits += 1;
        if (this.armed === "after") this.dieIn(life, "crash after a commit");
      },
    };
  }

  /** The store refuses for good: only opening again helps. */
  halted(life: Life): void {
    if (life !== this.life) return;
    life.halted = true;
    if (this.state === "up") this.state = "halted";
  }

  /** Who asks in the same process goes with it. */
  gone(): void {}

  choices(random: Random): readonly Choice[] {
    if (this.state === "down") return [{ op: "power open", weight: 20 }];
    const { crash, stop, disk } = this.odds;
    const refusals = random.pick([1, 1, 2, 5, 99]);
    return [
      { op: "power crash", weight: crash },
      { op: "power before", weight: this.armed === null ? crash : 0 },
      { op: "power after", weight: this.armed === null ? crash : 0 },
      { op: "power stop", weight: this.state === "up" ? stop : this.state === "halted" ? 8 : 0 },
      { op: `power ${random.pick(["full", "io", "fsync"])} ${refusals}`, weight: this.disk === null ? disk : 0 },
      { op: "power heal", weight: this.disk === null ? 0 : 2 },
      { op: "power usurp", weight: this.tenant.usurp !== undefined && this.state === "up" && this.usurper === null ? crash / 3 : 0 },
    ];
  }

  perform([what = "", count = "1"]: readonly string[]): boolean {
    switch (what) {
      case "open":
        if (this.state !== "down") return false;
        this.open();
        return true;
      case "crash":
        if (this.state === "down") return false;
        this.world.fault("crash");
        this.die();
        return true;
      case "before":
      case "after":
        this.armed = what;
        return true;
      case "stop":
        if (this.state !== "up" && this.state !== "halted") return false;
        if (!this.world.calm) this.world.fault("graceful stop");
        this.stop();
        return true;
      case "full":
      case "io":
      case "fsync":
        this.disk = { fault: what, left: Number(count) };
        return true;
      case "usurp":
        if (this.tenant.usurp === undefined || this.state !== "up" || this.usurper !== null) return false;
        this.world.fault("directory taken over");
        this.world.wait(
          this.tenant.usurp().then((leave) => {
            this.usurper = leave;
          }),
        );
        return true;
      case "heal":
        this.disk = null;
        this.armed = null;
        return true;
      default:
        return false;
    }
  }

  need(): string | null {
    if (this.disk !== null || this.armed !== null) return "power heal";
    if (this.usurper !== null) return "power crash";
    if (this.state === "down") return "power open";
    if (this.state === "halted") return "power stop";
    // Once anew: what only a start takes up must not have been forgotten, and what a process never noticed is noticed.
    return this.state === "up" && !this.isRenewed ? "power stop" : null;
  }

  atEnd(): void {
    must(this.state === "up", "SIM-13", () => `the process never got further than "${this.state}"`);
  }

  private open(): void {
    const life = new Life(this.life.number + 1);
    this.life = life;
    this.state = "opening";
    this.tenant.open(life).then(
      () => {
        if (life.alive && this.state === "opening") this.state = life.halted ? "halted" : "up";
      },
      (error: unknown) => {
        if (!life.alive) return;
        // A disk that refuses is reason enough; anything else is a fault of ours.
        if (isStorageError(error)) this.die();
        else this.world.stray(error);
      },
    );
  }

  private stop(): void {
    const { life } = this;
    this.state = "stopping";
    this.isRenewed = this.world.calm;
    this.tenant.stop().then(
      () => {
        if (life !== this.life || !life.alive) return;
        this.leave();
      },
      (error: unknown) => {
        if (life !== this.life || !life.alive) return;
        if (!isStorageError(error)) this.world.stray(error);
        this.die();
      },
    );
  }

  private dieIn(life: Life, how: FaultKind): never {
    if (life === this.life) {
      this.world.fault(how);
      this.die();
    }
    throw new Died();
  }

  private die(): void {
    this.armed = null;
    this.world.see("the process is gone");
    this.leave();
  }

  private leave(): void {
    this.life.alive = false;
    this.state = "down";
    // Not at once: this may be the middle of a transaction.
    this.world.wait(
      turn()
        .then(() => this.tenant.drop())
        .then(() => this.usurper?.())
        .then(() => {
          this.usurper = null;
          this.world.held.forget();
        }),
    );
  }
}

const storageCodes = ["storageFull", "storageFailed", "storageReadOnly", "ownedElsewhere"];

const unansweredCodes = ["hostUnavailable", "protocolBroken", "closed"];

/** The asker is told that nobody answers any more: what was asked may or may not have been done. */
export const isUnanswered = (error: unknown): boolean => error instanceof Error && "code" in error && unansweredCodes.includes(String(error.code));

/** What a sender may be told when the disk refuses. */
export const isStorageError = (error: unknown): boolean => error instanceof Error && "code" in error && storageCodes.includes(String(error.code));

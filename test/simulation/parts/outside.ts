/** The world that effects work on. A call arrives, may reach what it is meant for or not, and comes back or not; it keeps book of what happened. */
import { NotApplied, RetryableError, TerminalError } from "../../../machines/define.ts";
import { Interrupted } from "../../../src/runtime/executor.ts";
import type { FaultKind } from "../core/faults.ts";
import type { Random } from "../core/random.ts";
import { Violation, type Choice, type Part, type World } from "../core/world.ts";
import { Died, type Life } from "./power.ts";

/** What is known of a call: from the runtime's task, or from what the author's own function was given. */
export interface CallFacts {
  /** Unique with the attempt. */
  readonly key: string;
  /** Null where the code is not told. */
  readonly attempt: number | null;
  readonly idempotencyKey: string;
  readonly once: boolean;
  readonly signal: AbortSignal;
}

/** What a call answers: recognised wherever it turns up. */
export interface Answer {
  readonly serial: number;
  readonly key: string;
  readonly attempt: number | null;
}

interface Call extends CallFacts {
  readonly id: string;
  readonly serial: number;
  readonly life: Life;
  reached: boolean;
  outcome: string | null;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class Outside implements Part {
  readonly name = "outside";
  /** Every call ever made, by serial number from 1. */
  readonly calls: Call[] = [];
  /** Attempts whose process was lost while the host lived, as `<effect> <attempt>`. */
  readonly lost = new Set<string>();
  private readonly world: World;
  private readonly failures: number;
  private readonly obedience: number;
  private readonly losses: number;

  /** Weights: `failures` of everything that is no plain success, `obedience` of code that ends when it is told to, `losses` of a process that is lost with one call. */
  constructor(world: World, failures: number, obedience: number, losses: number) {
    this.world = world;
    this.failures = failures;
    this.obedience = obedience;
    this.losses = losses;
  }

  /** Called by effects' code. */
  call(life: Life, facts: CallFacts): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (!life.alive) {
        reject(new Died());
        return;
      }
      const again = this.calls.filter((call) => call.key === facts.key && call.attempt === facts.attempt).length;
      if (facts.attempt !== null && again > 0) this.world.stray(new Violation("SIM-3", `attempt ${facts.attempt} of ${facts.key} is executed a second time`));
      const id = `${facts.key}#${facts.attempt ?? again + 1}`;
      const serial = this.calls.length + 1;
      this.calls.push({ ...facts, id, serial, life, reached: false, outcome: null, resolve, reject });
      this.world.see(`call ${id}`);
    });
  }

  /** Calls whose code still runs. */
  get open(): readonly Call[] {
    return this.calls.filter((call) => call.outcome === null && call.life.alive);
  }

  /** The process is gone, and with it the code that waits. */
  dieWith(life: Life): void {
    for (const call of this.calls) {
      if (call.life !== life || call.outcome !== null) continue;
      call.outcome = "died";
      call.reject(new Died());
    }
  }

  /** The code of one attempt is gone. */
  dieIn(life: Life, key: string, attempt: number): void {
    for (const call of this.calls) {
      if (call.life !== life || call.outcome !== null || call.key !== key || call.attempt !== attempt) continue;
      call.outcome = "died";
      call.reject(new Died());
    }
  }

  /** How often the thing itself happened. */
  happened(idempotencyKey: string): number {
    return this.calls.filter((call) => call.idempotencyKey === idempotencyKey && call.reached).length;
  }

  choices(random: Random): readonly Choice[] {
    const open = this.open;
    if (open.length === 0) return [];
    const call = random.pick(open);
    const of = (what: string, weight: number): Choice => ({ op: `outside ${what} ${call.id}`, weight });
    const lose = call.attempt === null ? [] : [of("lose", this.losses)];
    if (call.signal.aborted) return [of("heed", this.obedience), of("ok", 3), ...(call.reached ? [] : [of("reach", 2)])];
    if (!call.reached) return [of("reach", 15), of("fail", this.failures), of("notApplied", this.failures), of("later", this.failures), ...lose];
    return [of("ok", 15), of("fail", this.failures), of("later", this.failures), of("terminal", this.failures / 2), ...lose];
  }

  perform([what = "", id = ""]: readonly string[]): boolean {
    const call = this.open.find((one) => one.id === id);
    if (call === undefined) return false;
    if (what === "reach") {
      if (call.reached) return false;
      call.reached = true;
      return true;
    }
    const error = failureOf(what);
    if ((error === null && what !== "ok") || (what === "notApplied" && call.reached)) return false;
    call.outcome = what;
    if (what === "lose" && !call.signal.aborted) this.lost.add(`${call.key} ${String(call.attempt)}`);
    const fault = call.signal.aborted && !this.world.calm ? "effect ends after it was told to stop" : failureKinds[what];
    if (fault !== undefined) this.world.fault(fault);
    if (error !== null) call.reject(error);
    else {
      call.reached = true;
      call.resolve({ serial: call.serial, key: call.key, attempt: call.attempt });
    }
    return true;
  }

  need(): string | null {
    const [call] = this.open;
    return call === undefined ? null : `outside ${call.signal.aborted ? "heed" : "ok"} ${call.id}`;
  }
}

const failureKinds: { readonly [what: string]: FaultKind | undefined } = {
  fail: "effect fails",
  terminal: "effect fails for good",
  later: "effect wants to be tried later",
  notApplied: "effect says that nothing happened",
  lose: "attempt's process lost",
};

function failureOf(what: string): Error | null {
  switch (what) {
    case "fail":
      return new Error("it failed");
    case "later":
      return new RetryableError("come back later", { retryAfterMs: 700 });
    case "terminal":
      return new TerminalError("never again");
    case "notApplied":
      return new NotApplied("nothing happened");
    case "lose":
      return new Interrupted("its process is gone");
    case "heed":
      return new Error("aborted");
    default:
      return null;
  }
}

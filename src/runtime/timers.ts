/** Durable timers: however many are pending, one call of the clock is armed, for the earliest. */
import type { TimerRecord } from "../../persistence/store.ts";
import type { Clock } from "./clock.ts";

export interface TimerServiceOptions {
  readonly clock: Clock;
  /** The time that compares: the clock, but never before the highest time committed. */
  readonly now: () => number;
  readonly nextDue: () => Promise<number | null>;
  readonly due: (until: number, limit: number) => Promise<readonly TimerRecord[]>;
  /** Dispatches one due timer; resolves when it is committed or gone. `aside`: that will take long, others need not wait for it. */
  readonly fire: (timer: TimerRecord, aside: () => void) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

const batch = 256;

export class TimerService {
  private readonly options: TimerServiceOptions;
  private armedFor: number | null = null;
  private disarm: (() => void) | null = null;
  private firing = false;
  private closed = false;
  private idleWaiters: (() => void)[] = [];
  /** Due timers that others do not wait for: those whose event could not be dispatched (their actor cannot be restored) stay stored, and wait for
   *  the next opening; those that were set aside are on their way. */
  private readonly apart = new Set<string>();

  constructor(options: TimerServiceOptions) {
    this.options = options;
  }

  /** Takes notice of a timer that was committed. */
  note(dueAt: number): void {
    if (this.closed || this.firing) return;
    // What is due already needs no clock to tell so.
    if (dueAt <= this.options.now()) void this.fireDue().catch(this.options.onError);
    else if (this.armedFor === null || dueAt < this.armedFor) this.arm(dueAt);
  }

  /** False while due timers are read and fired. */
  get isIdle(): boolean {
    return !this.firing;
  }

  async idle(): Promise<void> {
    if (this.firing) await new Promise<void>((resolve) => this.idleWaiters.push(resolve));
  }

  /** Fires what is due and arms the next; call after opening. */
  async start(): Promise<void> {
    await this.fireDue();
  }

  close(): void {
    this.closed = true;
    this.disarm?.();
    this.disarm = null;
  }

  private arm(dueAt: number): void {
    this.disarm?.();
    this.armedFor = dueAt;
    // After a clock set back the committed time is ahead: what is due by it must not wait for the clock.
    const at = dueAt <= this.options.now() ? this.options.clock.now() : dueAt;
    this.disarm = this.options.clock.schedule(at, () => {
      this.disarm = null;
      this.armedFor = null;
      this.fireDue().catch(this.options.onError);
    });
  }

  private async fireDue(): Promise<void> {
    if (this.firing || this.closed) return;
    this.firing = true;
    try {
      const next = await this.fireUntilNext();
      if (next !== null && !this.closed && (this.armedFor === null || next < this.armedFor)) this.arm(next);
    } finally {
      this.firing = false;
      const waiters = this.idleWaiters;
      this.idleWaiters = [];
      for (const wake of waiters) wake();
    }
  }

  /** Fires all that is due, what falls due meanwhile included; gives the due time of the next. */
  private async fireUntilNext(): Promise<number | null> {
    for (;;) {
      const due = (await this.options.due(this.options.now(), batch + this.apart.size)).filter((timer) => !this.apart.has(nameOf(timer)));
      if (this.closed) return null;
      await Promise.all(due.map((timer) => this.fire(timer)));
      if (due.length > 0) continue;
      const next = await this.nextDue();
      if (next === null || this.closed || next > this.options.now()) return next;
    }
  }

  /** One that cannot be dispatched must keep nobody else's from firing. */
  private async fire(timer: TimerRecord): Promise<void> {
    const name = nameOf(timer);
    const { promise: aside, resolve } = Promise.withResolvers<void>();
    const setAside = (): void => {
      this.apart.add(name);
      resolve();
    };
    const fired = this.options.fire(timer, setAside).then(
      () => void this.apart.delete(name),
      (error: unknown) => {
        this.apart.add(name);
        this.options.onError(error);
      },
    );
    await Promise.race([fired, aside]);
  }

  private async nextDue(): Promise<number | null> {
    if (this.apart.size === 0) return this.options.nextDue();
    const earliest = await this.options.due(Number.MAX_SAFE_INTEGER, this.apart.size + 1);
    return earliest.find((timer) => !this.apart.has(nameOf(timer)))?.dueAt ?? null;
  }
}

const nameOf = ({ actor, key, revision }: TimerRecord): string => `${actor}\n${key}\n${revision}`;

/** The only clock, and the only module that touches the operating system's timers. */

/** Wall clock and scheduler of a runtime; tests and the simulator give their own. */
export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** Calls `fn` once at or after `atMs` (epoch ms), however far away. Returns a cancel function. */
  schedule(atMs: number, fn: () => void): () => void;
}

/** Longest single wait handed to the operating system: Node fires at once beyond 2^31-1 ms, and a long wait would miss a changed clock. */
const longestWaitMs = 60 * 60_000;

/** The machine's own clock. Far times are reached in hops, so that 24.8 days is no limit and a slept-through deadline is seen soon after waking. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(atMs, fn) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const wait = atMs - Date.now();
      timer = setTimeout(() => (wait > longestWaitMs ? arm() : fn()), Math.max(0, Math.min(wait, longestWaitMs)));
    };
    arm();
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until it is moved: for tests, authors' tests and the simulator. */
export interface FakeClock extends Clock {
  /** Moves the time forward, running what falls due on the way in due order. */
  advance(ms: number): void;
  /** Sets the time, backwards too; what is due by then runs. */
  set(atMs: number): void;
  /** Due time of the next scheduled call, or null. */
  next(): number | null;
  /** How many calls are scheduled. */
  pending(): number;
}

export function fakeClock(startMs = Date.UTC(2030, 0, 1)): FakeClock {
  let now = startMs;
  let order = 0;
  const scheduled = new Map<number, { readonly at: number; readonly fn: () => void }>();
  const earliest = (): [number, { readonly at: number; readonly fn: () => void }] | undefined =>
    [...scheduled].sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];
  const runDue = (until: number): void => {
    for (let first = earliest(); first && first[1].at <= until; first = earliest()) {
      scheduled.delete(first[0]);
      now = Math.max(now, first[1].at);
      first[1].fn();
    }
  };
  return {
    now: () => now,
    schedule(at, fn) {
      const id = (order += 1);
      scheduled.set(id, { at, fn });
      return () => scheduled.delete(id);
    },
    advance(ms) {
      const until = now + ms;
      runDue(until);
      now = until;
    },
    set(at) {
      if (at > now) runDue(at);
      now = at;
    },
    next: () => earliest()?.[1].at ?? null,
    pending: () => scheduled.size,
  };
}

/** When a host has nothing left to stay for. HOST-56. */
import type { Clock } from "../../runtime/clock.ts";
import type { Standing } from "../standing.ts";

export interface IdleOptions {
  readonly clock: Clock;
  /** How long it must have had nothing to do. */
  readonly idleMs: number;
  readonly clients: () => number;
  readonly standing: () => Promise<Standing>;
  /** The directory or the socket is still the host's own. */
  readonly isInPlace: () => boolean;
  readonly onIdle: () => void;
  readonly onDisplaced: () => void;
}

/** How often it is looked whether somebody moved the state directory away from under its host. */
const placeMs = 5_000;

export interface IdleWatch {
  /** Something happened: the time begins anew. */
  touch(): void;
  stop(): void;
}

export function watchIdle({ clock, idleMs, clients, standing, isInPlace, onIdle, onDisplaced }: IdleOptions): IdleWatch {
  let cancelIdle = (): void => {};
  let cancelPlace = (): void => {};
  let stopped = false;
  const isNeeded = async (): Promise<boolean> => {
    if (clients() > 0) return true;
    const { open, asks, waits } = await standing();
    return open > 0 || asks || waits || clients() > 0;
  };
  const check = async (): Promise<void> => {
    const needed = await isNeeded().catch(() => true);
    if (stopped) return;
    if (needed) arm();
    else {
      stop();
      onIdle();
    }
  };
  const arm = (): void => {
    cancelIdle();
    if (!stopped) cancelIdle = clock.schedule(clock.now() + idleMs, () => void check());
  };
  const look = (): void => {
    if (!isInPlace()) {
      stop();
      onDisplaced();
      return;
    }
    cancelPlace = clock.schedule(clock.now() + placeMs, look);
  };
  const stop = (): void => {
    stopped = true;
    cancelIdle();
    cancelPlace();
  };
  arm();
  cancelPlace = clock.schedule(clock.now() + placeMs, look);
  return { touch: arm, stop };
}

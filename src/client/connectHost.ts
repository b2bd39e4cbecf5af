/** The host of a state directory, for whoever wants to use it. */
import { resolve } from "node:path";
import { packageVersion } from "../packageRoot.ts";
import { systemClock } from "../runtime/clock.ts";
import { dial } from "./dial.ts";
import { HostClient } from "./hostClient.ts";

export interface ConnectOptions {
  /** State directory, absolute unless it is below the working directory. */
  readonly home: string;
  /** Start a host where none runs; true when left out. */
  readonly start?: boolean;
  /** What asks, for the host's log; no arguments. */
  readonly name?: string;
}

/** Connects at the first request. @throws at that request: hostUnavailable, protocolMismatch, ownedElsewhere and what keeps a state directory from being opened */
export function connectHost({ home, start = true, name = "client" }: ConnectOptions): HostClient {
  const directory = resolve(home);
  return new HostClient({
    dial: () => dial({ home: directory, clock: systemClock, start }),
    clock: systemClock,
    home: directory,
    name,
    version: packageVersion(),
  });
}

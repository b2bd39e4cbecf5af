/** A process that owns a state directory by `openPawl` and is killed. Its parent sends events and hears what was acknowledged.
 *  Arguments: home, side file, `<fault point>:<number>` or `none:0`. At that point, on its n-th passing, it kills itself with SIGKILL. */
import { existsSync, readFileSync } from "node:fs";
import type { PawlErrorCode } from "../../src/errors.ts";
import { openPawl } from "../../src/openPawl.ts";
import type { FaultHook } from "../../src/runtime/faultPoints.ts";
import { accountMachine, tickerMachine, workerMachine } from "./libraryMachines.ts";

export interface Told {
  readonly actor: string;
  readonly eventId: string;
  readonly n: number;
}

export type Said =
  | { readonly kind: "ready" }
  | { readonly kind: "taken" }
  | { readonly kind: "acknowledged"; readonly eventId: string; readonly status: string; readonly revision: number };

const [, , home = "", sideFile = "", stop = "none:0"] = process.argv;
const [point, number] = stop.split(":");
let left = Number(number);

const faults: FaultHook = (at) => {
  if (at === point && (left -= 1) === 0) process.kill(process.pid, "SIGKILL");
};

const say = (said: Said): void => void process.send?.(said);

const isTaken = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === ("ownedElsewhere" satisfies PawlErrorCode);

const worker = workerMachine(sideFile);

async function open() {
  for (;;) {
    try {
      return await openPawl({ path: home, machines: [accountMachine, worker, tickerMachine], faults });
    } catch (error) {
      if (!isTaken(error)) throw error;
      say({ kind: "taken" });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

const pawl = await open();
process.on("message", (told: Told | "close") => {
  if (told === "close") return void pawl.close().then(() => process.exit(0));
  void pawl
    .send(pawl.actor(accountMachine, told.actor), { type: "add", n: told.n }, { eventId: told.eventId })
    .then(({ status, revision }) => say({ kind: "acknowledged", eventId: told.eventId, status, revision }));
});
for (const actor of ["account-0", "account-1", "account-2", "account-3", "shared"]) await pawl.start(accountMachine, { id: actor });
for (const actor of ["worker-0", "worker-1", "worker-2"]) await pawl.start(worker, { id: actor });
for (const actor of ["ticker-0", "ticker-1"]) await pawl.start(tickerMachine, { id: actor });
// What a person does who can look outside: the side file says what happened.
for (const { key } of (await pawl.effects({ state: ["ambiguous"] })).items) {
  const happened = existsSync(sideFile) && readFileSync(sideFile, "utf8").includes(`${key} `);
  await (happened ? pawl.confirmEffect(key, key) : pawl.retryEffect(key));
}
say({ kind: "ready" });

/** Which run of a session may go on: one at a time, a rule of the database. Those that were parked meanwhile wait for their turn, the oldest first. */
import type { Store } from "../../persistence/store.ts";
import { runMachine } from "../../machines/runMachine.ts";
import { isPawlError, messageOf, PawlError } from "../errors.ts";
import type { Change, Runtime } from "../runtime/runtime.ts";
import { isReturning, reserves, runContext } from "./runState.ts";
import { holderOf } from "./sessionHolder.ts";
import { readView } from "./snapshots.ts";
import { everyPage } from "./values.ts";

/** How often a session is asked for that is free whenever one looks. */
const takingTries = 3;

export class SessionQueue {
  private readonly store: Store;
  private readonly runtime: Pick<Runtime, "send" | "subscribe">;

  constructor(store: Store, runtime: Pick<Runtime, "send" | "subscribe">) {
    this.store = store;
    this.runtime = runtime;
    runtime.subscribe((change) => this.changed(change));
  }

  /** Lets a run go on that waits for its session, if that is free. */
  async offer(run: string): Promise<void> {
    const view = await readView(this.store, run);
    if (view === null || !isReturning(view)) return;
    try {
      await this.runtime.send(run, { type: "run.activate" });
    } catch (error) {
      // The database says that the session has another run.
      if (!isPawlError(error) || error.code !== "refused") throw error;
    }
  }

  /** Offers every run of every session that waits for it: after a start. */
  async offerAll(): Promise<void> {
    for await (const rows of everyPage((cursor) => this.store.query("runs", { state: ["waiting"] }, { limit: 500, cursor })))
      for (const { id, session } of rows) if (session !== null) await this.offer(id);
  }

  /**
   * Does what reserves a session. `wanted` is asked when that is refused: another run may have been moved meanwhile, this one too.
   * @throws refused naming the run that has it
   */
  async taking<T>(wanted: string | (() => Promise<string | null>), work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (!isPawlError(error) || error.code !== "refused") throw error;
        const session = typeof wanted === "string" ? wanted : await wanted();
        if (session === null) throw error;
        const holder = await holderOf(this.store, session);
        if (holder !== undefined)
          throw new PawlError(
            "refused",
            `Session ${session} has run ${holder.id} (workflow "${holder.workflow}", ${holder.state}), and one run at a time. Wait for it, or pause or cancel it. Nothing was changed.`,
            { subject: session, cause: error },
          );
        // Whoever had it has just gone.
        if (tries === takingTries) throw error;
      }
    }
  }

  private changed(change: Change): void {
    if (change.kind !== "actor" || change.view.record.machineId !== runMachine.id) return;
    const { session } = runContext(change.view);
    if (session === null || reserves(change.view)) return;
    void this.offerSession(session).catch((error: unknown) => {
      // Whoever drives a run is told that the store refuses, or that the host closes; the session is offered again when the run is driven.
      if (isPawlError(error) && (error.kind === "environment" || error.code === "closed")) return;
      process.emitWarning(`Pawl: ${messageOf(error)}`);
    });
  }

  private async offerSession(session: string): Promise<void> {
    for await (const rows of everyPage((cursor) => this.store.query("runs", { session, state: ["waiting"] }, { limit: 500, cursor })))
      for (const { id } of rows) await this.offer(id);
  }
}

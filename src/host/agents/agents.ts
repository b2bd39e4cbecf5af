/** The agent steps of a host: brings messages to what works on them, takes what they publish, and takes up those that waited for an agent. */
import type { SubmitAnswer } from "../../../machines/contracts/agent.ts";
import type { UpdateReceipt } from "../../../machines/contracts/update.ts";
import type { AgentNodeContext } from "../../../machines/nodes/agentTurns.ts";
import type { Store } from "../../../persistence/store.ts";
import { isPawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ActorView } from "../../runtime/definition.ts";
import type { Executor } from "../../runtime/executor.ts";
import type { Change, Runtime } from "../../runtime/runtime.ts";
import { agentKinds } from "../../workflow/kinds.ts";
import type { RunEvent } from "../api.ts";
import { runContext } from "../runState.ts";
import { readView, viewOfRecord } from "../snapshots.ts";
import { NotificationEvents } from "../updates/notifications.ts";
import { publishOfAgent } from "../updates/sources.ts";
import { UpdateDesk } from "../updates/updateDesk.ts";
import { updateView } from "../updates/updateView.ts";
import { everyPage } from "../values.ts";
import { agentDelivery } from "./agentDelivery.ts";
import type { AgentExecutor, AgentTurn } from "./agentExecutor.ts";
import { submitTo, type SubmitWays } from "./submit.ts";

export interface AgentsOptions {
  readonly store: Store;
  readonly agent: AgentExecutor | null;
  readonly clock: Clock;
  /** It is made with the executors that this gives. */
  readonly runtime: () => Runtime;
}

export class Agents {
  readonly deliver: Executor;
  readonly updates: UpdateDesk;
  private readonly options: AgentsOptions;
  private readonly ways: SubmitWays;
  private readonly notifications: NotificationEvents;
  private tell: (event: RunEvent) => void = () => undefined;

  constructor(options: AgentsOptions) {
    const { store, clock, agent, runtime } = options;
    this.options = options;
    this.notifications = new NotificationEvents(store, (event) => this.tell(event));
    this.updates = new UpdateDesk({
      store,
      clock,
      tell: (row) => this.tell({ kind: "update", run: row.run, update: updateView(row), at: row.updatedAt }),
    });
    this.ways = {
      view: (actor) => runtime().peek(actor),
      send: (actor, event, eventId) => runtime().send(actor, event, { eventId }),
      subscribe: (listener) => runtime().subscribe(listener),
    };
    this.deliver = agentDelivery({
      ...this.ways,
      store,
      agent,
      submit: (visit, call, signal) => this.submit(visit, call, signal),
      factsOf: async (run) => {
        const found = await readView(store, run);
        if (found === null) throw new Error(`Run "${run}" is not in the database.`);
        return runContext(found);
      },
      publish: (run, visit, update) => this.publish(run, visit, update),
    });
  }

  /** Brings an agent's answer to its step and gives the step's word on it; whoever carries messages for a session uses it too. */
  submit(visit: string, call: Parameters<AgentTurn["submit"]>[0], signal: AbortSignal): Promise<SubmitAnswer> {
    return submitTo(this.ways, visit, call, signal);
  }

  /** Stores what an agent publishes from its step. */
  publish(run: string, visit: string, update: Parameters<AgentTurn["update"]>[0]): Promise<UpdateReceipt> {
    return publishOfAgent(this.updates, this.ways.view, run, visit, update);
  }

  onEvent(tell: (event: RunEvent) => void): void {
    this.tell = tell;
  }

  /** Takes notice of a committed change. */
  heard(change: Change): void {
    this.notifications.heard(change);
  }

  /** Takes up a run's steps that wait for an agent, if there is one now. */
  async connect(run: string): Promise<void> {
    if (this.options.agent === null) return;
    for await (const rows of everyPage((cursor) => this.options.store.query("actors", { root: run, status: ["active"] }, { limit: 500, cursor })))
      for (const record of rows) if (agentKinds.some((kind) => kind === record.machineId)) await this.connectStep(viewOfRecord(record));
  }

  async connectAll(): Promise<void> {
    if (this.options.agent === null) return;
    for (const machineId of agentKinds)
      for await (const rows of everyPage((cursor) => this.options.store.query("actors", { machineId, status: ["active"] }, { limit: 500, cursor })))
        for (const record of rows) await this.connectStep(viewOfRecord(record));
  }

  private async connectStep(view: ActorView): Promise<void> {
    const { attended } = view.context as AgentNodeContext; // asked for by the ids of the agent kinds
    if (attended) return;
    const run = await readView(this.options.store, view.record.root);
    if (run === null || runContext(run).session !== null) return;
    try {
      await this.options.runtime().send(view.record.id, { type: "agent.connected" });
    } catch (error) {
      // Its step may have ended between the look and the word.
      if (!isPawlError(error)) throw error;
    }
  }
}

/** A host in another process, with the face of one in this process. */
import { randomBytes } from "node:crypto";
import { newEventId, newRunId } from "../ids.ts";
import type { Clock } from "../runtime/clock.ts";
import type {
  AnswerRequest,
  AnswerResult,
  CheckpointAnswer,
  CheckpointResult,
  DecisionAudit,
  DecisionView,
  EffectView,
  EmbeddedHost,
  RunEvent,
  RunSummary,
  RunView,
  UpdateView,
} from "../host/api.ts";
import type { Page, PageRequest } from "../../persistence/store.ts";
import type { Connection } from "../host/protocol/connection.ts";
import type { HostStatus } from "../host/protocol/messages.ts";
import { HostLink } from "./link.ts";
import { News } from "./news.ts";

export interface HostClientOptions {
  readonly dial: () => Promise<Connection>;
  readonly clock: Clock;
  /** State directory, absolute. */
  readonly home: string;
  /** What asks, for the host's log; no arguments. */
  readonly name: string;
  /** Of Pawl. */
  readonly version: string;
}

export class HostClient implements EmbeddedHost {
  private readonly link: HostLink;
  private readonly clock: Clock;
  private readonly news = new News();
  private readonly listeners = new Set<(event: RunEvent) => void>();
  /** How many wait for each run. */
  private readonly waits = new Map<string, number>();

  constructor({ dial, clock, home, name, version }: HostClientOptions) {
    this.clock = clock;
    this.link = new HostLink({
      dial,
      clock,
      home,
      client: { id: `c_${randomBytes(16).toString("hex")}`, name, version },
      onEvent: (event) => this.tell(event),
      onMissed: () => void this.catchUp(),
    });
  }

  runs(filter: Parameters<EmbeddedHost["runs"]>[0] = {}, page: PageRequest = {}): Promise<Page<RunSummary>> {
    const { state, workflow } = filter;
    return this.link.ask("runs", { filter: { ...(state && { state: [...state] }), ...(workflow !== undefined && { workflow }) }, page: pageOf(page) });
  }

  run(id: string): Promise<RunView> {
    return this.link.ask("run", { id });
  }

  decisions(filter: Parameters<EmbeddedHost["decisions"]>[0] = {}, page: PageRequest = {}): Promise<Page<DecisionView>> {
    const { run, state } = filter;
    return this.link.ask("decisions", { filter: { ...(run !== undefined && { run }), ...(state && { state: [...state] }) }, page: pageOf(page) });
  }

  decision(codeOrId: string): Promise<DecisionView> {
    return this.link.ask("decision", { decision: codeOrId });
  }

  audit(codeOrId: string): Promise<DecisionAudit> {
    return this.link.ask("audit", { decision: codeOrId });
  }

  updates({ run }: { run: string }, page: PageRequest = {}): Promise<Page<UpdateView>> {
    return this.link.ask("updates", { filter: { run }, page: pageOf(page) });
  }

  effects(filter: Parameters<EmbeddedHost["effects"]>[0] = {}, page: PageRequest = {}): Promise<Page<EffectView>> {
    const { run, state } = filter;
    return this.link.ask("effects", { filter: { ...(run !== undefined && { run }), ...(state && { state: [...state] }) }, page: pageOf(page) });
  }

  effect(key: string): Promise<EffectView> {
    return this.link.ask("effect", { key });
  }

  /** The run's id is made here: however often this has to be asked, one run starts. */
  start(request: Parameters<EmbeddedHost["start"]>[0]): ReturnType<EmbeddedHost["start"]> {
    return this.link.ask("start", { ...request, id: request.id ?? newRunId(this.clock.now()) });
  }

  /** Waits until the run rests. The signal only ends the waiting: the run goes on. */
  async drive(id: string, { signal }: { signal?: AbortSignal } = {}): Promise<RunView> {
    if (signal?.aborted) return this.run(id);
    this.waits.set(id, (this.waits.get(id) ?? 0) + 1);
    this.news.follow(id);
    let asked: string | null = null;
    const stops: (() => void)[] = [];
    try {
      const rests = this.link.ask("wait", { id }, (request) => {
        asked = request;
      });
      const left = new Promise<"left">((resolve) => {
        const leave = (): void => resolve("left");
        signal?.addEventListener("abort", leave, { once: true });
        stops.push(() => signal?.removeEventListener("abort", leave));
      });
      const view = await Promise.race([rests, left]);
      if (view !== "left") return view;
      if (asked !== null) this.link.abandon(asked);
      return await this.run(id);
    } finally {
      for (const stop of stops) stop();
      const others = (this.waits.get(id) ?? 1) - 1;
      if (others > 0) this.waits.set(id, others);
      else {
        this.waits.delete(id);
        this.news.forget(id);
      }
    }
  }

  answer({ decision, choice, text, idempotencyKey, source }: AnswerRequest): Promise<AnswerResult> {
    const key = idempotencyKey ?? newEventId(this.clock.now());
    return this.link.ask("answer", { decision, choice, ...(text !== undefined && { text }), idempotencyKey: key, source: { ...source } });
  }

  answerCheckpoint({ run, visit, output, idempotencyKey, source }: CheckpointAnswer): Promise<CheckpointResult> {
    const key = idempotencyKey ?? newEventId(this.clock.now());
    return this.link.ask("answerCheckpoint", { run, ...(visit !== undefined && { visit }), output, idempotencyKey: key, source: { ...source } });
  }

  cancel(id: string, by: "user" | "agent"): Promise<RunView> {
    return this.link.ask("cancel", { id, by });
  }

  pause(id: string): Promise<RunView> {
    return this.link.ask("pause", { id });
  }

  resume(id: string): Promise<RunView> {
    return this.link.ask("resume", { id });
  }

  hold(id: string): Promise<RunView> {
    return this.link.ask("hold", { id });
  }

  adoptRun(id: string, session: string): Promise<RunView> {
    return this.link.ask("adoptRun", { id, session });
  }

  /** Speaks of the attempt that is there now: asked again, it cannot be taken for a word about a later one. */
  async confirmEffect(key: string, output: unknown): Promise<EffectView> {
    const { attempt } = await this.effect(key);
    return this.link.ask("confirmEffect", { key, attempt, output });
  }

  async retryEffect(key: string): Promise<EffectView> {
    const { attempt } = await this.effect(key);
    return this.link.ask("retryEffect", { key, attempt });
  }

  subscribe(listener: (event: RunEvent) => void): () => void {
    this.listeners.add(listener);
    this.link.subscribe();
    return () => {
      if (this.listeners.delete(listener) && this.listeners.size === 0) this.link.unsubscribe();
    };
  }

  status(): Promise<HostStatus> {
    return this.link.ask("status", {});
  }

  /** Has the host end. @throws refused when it is to end only if idle, and is not */
  stop({ ifIdle }: { readonly ifIdle: boolean }): Promise<{ readonly pid: number }> {
    return this.link.ask("stop", { ifIdle });
  }

  async close(): Promise<void> {
    this.link.close();
  }

  private tell(event: RunEvent): void {
    if (this.news.isNew(event)) for (const listener of this.listeners) listener(event);
  }

  /** Reads the runs that are waited for and tells what is new of them. */
  private async catchUp(): Promise<void> {
    for (const run of this.news.followed) {
      try {
        const view = await this.run(run);
        for (const event of this.news.since(view)) for (const listener of this.listeners) listener(event);
      } catch {
        // Whoever waits for the run gets the same error.
      }
    }
  }
}

const pageOf = ({ limit, cursor, newest }: PageRequest): { limit?: number; cursor?: string; newest?: boolean } => ({
  ...(limit !== undefined && { limit }),
  ...(cursor !== undefined && { cursor }),
  ...(newest !== undefined && { newest }),
});

/** One visit of an agent step on the real runtime, with a stand-in for its graph; its database may be opened anew before each event. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { assign, sendTo, setup } from "xstate";
import { parseAgentEvent } from "../../machines/contracts/agent.ts";
import { visited, type NodeFailure, type NodeInput, type NodeOutput } from "../../machines/define.ts";
import { agentStepNode } from "../../machines/nodes/agentNode.ts";
import { answerWhenOver, type AgentNodeContext } from "../../machines/nodes/agentTurns.ts";
import { openStore, type OpenedStore } from "../../persistence/openStore.ts";
import { fakeClock, type FakeClock } from "../../src/runtime/clock.ts";
import { createRuntime } from "../../src/runtime/createRuntime.ts";
import type { ActorView } from "../../src/runtime/definition.ts";
import type { Executor, Executors } from "../../src/runtime/executor.ts";
import { createRegistry, defineMachine } from "../../src/runtime/registry.ts";
import type { Receipt, Runtime } from "../../src/runtime/runtime.ts";

/** Stands for a graph: one visit of the node, what it was told, and what came of it. */
const graph = setup({
  types: {} as { context: { told: string[]; output: NodeOutput | NodeFailure | null }; events: { type: string } },
  actors: { plan: visited(agentStepNode, (input: NodeInput) => input.visit) },
  actions: {
    tellHeld: sendTo("plan", (_, params: { readonly held: boolean }) => ({ type: "node.held" as const, ...params })),
    note: assign({ told: ({ context, event }) => [...context.told, event.type] }),
    keep: assign({ output: (_, output: NodeOutput | NodeFailure) => output }),
  },
}).createMachine({
  id: "graph",
  version: "1",
  context: { told: [], output: null },
  initial: "plan",
  states: {
    plan: {
      invoke: {
        id: "plan",
        src: "plan",
        input: { run: "r_1", node: "plan", visit: "plan.1", once: false },
        onDone: { target: "ended", actions: { type: "keep", params: ({ event }: { event: { output: NodeOutput | NodeFailure } }) => event.output } },
      },
      on: {
        "node.*": { actions: "note" },
        hold: { actions: { type: "tellHeld", params: { held: true } } },
        release: { actions: { type: "tellHeld", params: { held: false } } },
      },
    },
    ended: {},
  },
});

const root = "r_1/graph";
const visit = "r_1/graph/plan.1";
const registry = () => createRegistry([defineMachine(graph), defineMachine(agentStepNode, { parseEvent: parseAgentEvent, whenFinished: answerWhenOver })]);

/** Accepts numbers; an agent's turn, and the look at "slow", go on for ever. */
const executors = (timeoutMs: number | null): Executors => ({
  "pawl.agent.prepare": async () => ({ output: { timeoutMs } }),
  "pawl.agent.deliver": forEver,
  "pawl.agent.check": async (task) => {
    const { output } = task.input as { readonly output: unknown };
    if (output === "slow") return forEver(task);
    return typeof output === "number" ? { output: { case: "done" }, value: output } : { output: { refused: "a number is wanted" } };
  },
});

const forEver: Executor = ({ signal }) =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new Error("stopped"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });

interface Life {
  readonly opened: OpenedStore;
  readonly clock: FakeClock;
  readonly runtime: Runtime;
}

/** One visit whose database is opened anew before each event. */
export class Visit {
  private readonly home = mkdtempSync(join(tmpdir(), "pawl-agent-"));
  private readonly executors: Executors;
  private readonly reopens: boolean;
  private now = Date.UTC(2030, 0, 1);
  private life: Life | null = null;

  /** With `reopens: false` one host lives through it all. */
  constructor(timeoutMs: number | null, { reopens = true }: { readonly reopens?: boolean } = {}) {
    this.executors = executors(timeoutMs);
    this.reopens = reopens;
    onTestFinished(async () => {
      await this.end();
      rmSync(this.home, { recursive: true, force: true });
    });
  }

  private async open(): Promise<Life> {
    const opened = await openStore({ home: this.home, mode: "owner" });
    const clock = fakeClock(this.now);
    const runtime = await createRuntime({ store: opened.store, clock, definitions: registry(), executors: this.executors });
    await runtime.recover();
    return { opened, clock, runtime };
  }

  private async end(): Promise<void> {
    const { life } = this;
    this.life = null;
    if (life === null) return;
    this.now = life.clock.now();
    await life.runtime.close();
    await life.opened.release();
  }

  /** Does one thing to the opened runtime, and lets what follows from it come through. */
  private async step<T>(act: (runtime: Runtime, clock: FakeClock) => Promise<T>): Promise<T> {
    const { opened, clock, runtime } = (this.life ??= await this.open());
    try {
      const given = await act(runtime, clock);
      // An agent's turn never settles: what else there is has come through when nothing has changed for a while.
      for (let quiet = 0, seen = ""; quiet < 20;) {
        await new Promise((resolve) => setImmediate(resolve));
        const now = (await opened.store.load([root, visit])).map(({ revision }) => revision).join();
        quiet = now === seen ? quiet + 1 : 0;
        seen = now;
      }
      return given;
    } finally {
      if (this.reopens) await this.end();
    }
  }

  async begin(): Promise<void> {
    await this.step(async (runtime) => {
      await runtime.start("graph", { id: root, input: undefined });
      await runtime.adopt(root);
    });
  }

  send(event: { readonly type: string; readonly [field: string]: unknown }, eventId?: string): Promise<Receipt> {
    return this.step(async (runtime) => {
      await runtime.adopt(root);
      return runtime.send(visit, event, eventId === undefined ? {} : { eventId });
    });
  }

  /** The graph's word. */
  async hold(held: boolean): Promise<void> {
    await this.step(async (runtime) => {
      await runtime.adopt(root);
      await runtime.send(root, { type: held ? "hold" : "release" });
    });
  }

  async pass(ms: number): Promise<void> {
    await this.step(async (runtime, clock) => {
      await runtime.adopt(root);
      clock.advance(ms);
    });
  }

  private async view(actor: string): Promise<ActorView> {
    const view = await this.step((runtime) => runtime.view(actor));
    if (view === null) throw new Error(`there is no ${actor}`);
    return view;
  }

  async context(): Promise<AgentNodeContext> {
    return (await this.view(visit)).context as AgentNodeContext; // the visit's own machine
  }

  async turn(): Promise<unknown> {
    const { value } = await this.view(visit);
    return typeof value === "object" && value !== null && "working" in value ? Reflect.get(Object(value.working), "turn") : value;
  }

  async graph(): Promise<{ told: readonly string[]; output: unknown; value: unknown }> {
    const view = await this.view(root);
    const { told, output } = view.context as { told: string[]; output: unknown }; // the stand-in above
    return { told, output, value: view.value };
  }
}

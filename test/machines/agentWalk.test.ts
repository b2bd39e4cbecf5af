/** Every state of an agent step that a few events can lead to, and what must hold in each. */
import { expect, test } from "vitest";
import { getShortestPaths } from "xstate/graph";
import { agentLimits } from "../../machines/contracts/agent.ts";
import { agentStepNode, assistantMessageNode } from "../../machines/nodes/agentNode.ts";
import { answerTo, type AgentNodeContext } from "../../machines/nodes/agentTurns.ts";

const nothing = (): void => {};
const alone = { actions: { tellDeadline: nothing, tellClock: nothing, tellWaiting: nothing, tellActive: nothing, tellUnattended: nothing } };
const input = { run: "r_1", node: "plan", visit: "plan.1", once: false };

/** Events from outside, results of effects and timers: those of the machine's own types, and XState's. */
const events = [
  { type: "xstate.done.actor.prepare", output: { timeoutMs: null } },
  { type: "xstate.error.actor.prepare", error: { reason: "nodeFailed", message: "no prompt" } },
  { type: "xstate.done.actor.deliver", output: { outcome: "completed" } },
  { type: "xstate.done.actor.deliver", output: { outcome: "error", message: "overloaded" } },
  { type: "xstate.done.actor.deliver", output: { outcome: "unattended", parks: true } },
  { type: "xstate.error.actor.deliver", error: new Error("lost") },
  { type: "agent.turnEnded", delivery: 1, outcome: "aborted" },
  { type: "agent.turnEnded", delivery: 2, outcome: "completed", chatting: true },
  { type: "agent.sent", delivery: 1 },
  { type: "agent.submit", callId: "a", output: 1 },
  { type: "agent.submit", callId: "b", output: 2 },
  { type: "xstate.done.actor.check", output: { case: "done" } },
  { type: "xstate.done.actor.check", output: { refused: "no" } },
  { type: "xstate.error.actor.check", error: { reason: "workerCrashed", message: "lost" } },
  { type: "agent.connected" },
  { type: "agent.disconnected" },
  { type: "agent.chatting" },
  { type: "agent.takeUp" },
  { type: "node.held", held: true },
  { type: "node.held", held: false },
  { type: "xstate.after.idle.agent.working.turn.resting" },
  { type: "xstate.after.backoff.agent.working.turn.backingOff" },
];

interface Seen {
  readonly value: unknown;
  readonly status: string;
  readonly context: AgentNodeContext;
}

const turnIn = (value: unknown): string | null => {
  const working: unknown = typeof value === "object" && value !== null && "working" in value ? value.working : undefined;
  return typeof working === "object" && working !== null && "turn" in working ? String(working.turn) : null;
};

for (const [machine, submits] of [
  [agentStepNode, true],
  [assistantMessageNode, false],
] as const)
  test(`AGENT-23 in every state that an ${machine.id} step can come to, its bounds hold, and it rests in no state between`, () => {
    const forMachine = events.map((event) => ({ ...event, type: event.type.replace(".agent.working", `.${machine.id}.working`) }));
    const paths = getShortestPaths(machine.provide(alone), {
      input,
      // XState's own events are none of the machine's declared ones.
      events: forMachine as unknown as { type: "agent.connected" }[],
      stopWhen: (state: { status: string; context: AgentNodeContext }) => state.status !== "active" || state.context.delivery > 3 || state.context.checks > 2,
      serializeState: ({ value, context }: Seen) =>
        JSON.stringify([value, { ...context, errors: Math.min(context.errors, 4), turn: context.turn?.outcome ?? null, answers: context.answers.length }]),
      limit: 300_000,
    });
    const turns = new Set<string>();
    expect(paths.length).toBeGreaterThan(submits ? 200 : 50);
    for (const { state } of paths) {
      const { value, status, context } = state as unknown as Seen; // the machine's own snapshot, without its types
      const turn = turnIn(value);
      if (turn !== null) turns.add(turn);
      expect((context.outcome !== null) === (status === "done"), JSON.stringify(value)).toBe(true);
      expect(context.reminders).toBeLessThanOrEqual(agentLimits.reminders);
      expect(context.answers.length).toBeLessThanOrEqual(agentLimits.refusals);
      expect(new Set(context.answers.map(({ callId }) => callId)).size).toBe(context.answers.length);
      if (!submits) expect(context.checks).toBe(0);
      if (status !== "active") continue;
      expect(
        ["next", "over", "settling"].filter((name) => name === turn && context.checking === null && !context.held),
        "a state that is passed through",
      ).toEqual([]);
      expect(context.aside, JSON.stringify(value)).toBe(turn === "aside");
      if (turn === "delivering") expect(context.turn).toBeNull();
      if (context.checking !== null) expect(answerTo(context, context.checking)).toBeUndefined();
    }
    for (const name of ["delivering", "backingOff", "aside", "unattended"]) expect([...turns]).toContain(name);
  });

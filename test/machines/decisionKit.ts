/** A decision stepped as the runtime steps it: through the stored JSON before each event. */
import { decisionMachine, type DecisionEvent, type DecisionInput, type DecisionOutput } from "../../machines/decisionMachine.ts";
import { decisionContext, type DecisionViewLike } from "../../machines/decisionView.ts";
import type { DecisionContext, DecisionReply } from "../../machines/decisionVerdicts.ts";
import { preparedDecision } from "../../machines/contracts/buildRequest.ts";
import { createStepper, type StepRecord, type StepResult } from "../../src/runtime/step.ts";
import { build, createdAt, facts } from "../contracts/decisionFixture.ts";

export const openedAt = createdAt + 40;
export const afterMs = 600_000;
export const deadlineAt = createdAt + afterMs;
export const timerKey = "xstate.after.deadline.decision.open.timed";

const prepared = (change: Parameters<typeof build>[0]) => preparedDecision(build(change), "ABCDEF0").output;

/** Decisions that wait for ever, that have a default, that expire. */
export const inputs = {
  untimed: { ...prepared({}), openedAt },
  defaulting: { ...prepared({ onTimeout: { afterMs, response: { choice: "stop" } } }), openedAt },
  expiring: { ...prepared({ request: { expiresAt: deadlineAt } }), openedAt },
} satisfies Record<string, DecisionInput>;

export type InputName = keyof typeof inputs;

export const ann = { kind: "human", channel: "terminal", actor: "ann" } as const;
export const bob = { kind: "human", channel: "terminal", actor: "bob" } as const;

type Submit = Extract<DecisionEvent, { type: "decision.submit" }>;

/** A submission by Ann, 1 s after the opening. */
export function submit(change: Partial<Submit> = {}): Submit {
  return { type: "decision.submit", choice: "go", idempotencyKey: "k1", source: ann, at: openedAt + 1000, ...change };
}

/** The deadline's own timer, as the runtime delivers it. */
export const timer = (at = deadlineAt) => ({ type: timerKey, at });

const stepper = createStepper(decisionMachine);

export interface Stepped {
  readonly changed: boolean;
  readonly status: string;
  readonly value: unknown;
  readonly context: DecisionContext;
  readonly output: DecisionOutput | undefined;
  readonly records: readonly StepRecord[];
  /** What the sender is told; null when the machine said nothing. */
  readonly reply: DecisionReply | null;
  readonly view: DecisionViewLike;
  send(event: { readonly type: string; readonly [key: string]: unknown }): Stepped;
}

export function open(input: InputName | DecisionInput): Stepped {
  return stepped(stepper.init(facts.decision, "r_1/graph/approve.3", typeof input === "string" ? inputs[input] : input));
}

function stepped(result: StepResult): Stepped {
  const json = stepper.persist(result.next).snapshot;
  const stored: { value: unknown; context: unknown } = JSON.parse(json);
  const replies = result.records.filter((record) => record.kind === "emit").map(({ event }) => event as unknown as { type: string } & DecisionReply); // the decision emits replies only
  const view = { record: { id: facts.decision, status: result.status, updatedAt: openedAt }, value: stored.value, context: stored.context };
  const first = replies[0];
  if (replies.length > 1 || (first && first.type !== "pawl.reply")) throw new Error("an event is answered once");
  return {
    changed: result.changed,
    status: result.status,
    value: stored.value,
    context: decisionContext(view),
    output: result.output as DecisionOutput | undefined, // the machine's declared output
    records: result.records,
    reply: first ?? null,
    view,
    send: (event) => stepped(stepper.step(stepper.hydrate(facts.decision, "r_1/graph/approve.3", json), event)),
  };
}

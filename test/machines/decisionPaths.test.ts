import { expect, test } from "vitest";
import { getShortestPaths, getSimplePaths } from "xstate/graph";
import { decisionMachine, type DecisionEvent } from "../../machines/decisionMachine.ts";
import type { DecisionContext } from "../../machines/decisionVerdicts.ts";
import { bob, deadlineAt, inputs, open, submit, timer, timerKey, type InputName, type Stepped } from "./decisionKit.ts";

type AnyDecisionEvent = DecisionEvent & { readonly [key: string]: unknown };

/** A variant of every payload that the machine tells apart. */
const variants: readonly AnyDecisionEvent[] = [
  submit(),
  submit({ idempotencyKey: "k2", choice: "replan", input: "less", source: bob }),
  submit({ idempotencyKey: "k3", at: deadlineAt }),
  submit({ idempotencyKey: "k4", at: deadlineAt + 1 }),
  submit({ idempotencyKey: "k5", requestDigest: "0".repeat(64) }),
  submit({ idempotencyKey: "k6", choice: "no" }),
  submit({ idempotencyKey: "k6", choice: "replan" }),
  submit({ idempotencyKey: "k7", source: { kind: "model", channel: "tool", actor: "m" } }),
  submit({ idempotencyKey: "k8", source: { kind: "program", channel: "tool", actor: "p" } }),
  { type: "decision.denied", source: bob, at: deadlineAt - 1 },
  { type: "decision.cancel", reason: "run cancelled", at: deadlineAt - 1 },
];
const names: InputName[] = ["untimed", "defaulting", "expiring"];
// XState offers its timer as a plain event; the type of the machine's own events does not have it.
const events = (name: InputName) => [...variants, ...(name === "untimed" ? [] : [timer() as unknown as DecisionEvent])];

interface Node {
  readonly value: unknown;
  readonly context: DecisionContext;
}
/** State, resolution and the latest candidate. The whole audit grows without end and would make every path a new state. */
const identity = ({ value, context }: Node) => JSON.stringify([value, context.resolution, context.ended, context.audit.at(-1)]);

const settledStates = ["accepted", "defaulted", "cancelled", "expired"];

function check(before: Stepped, event: { readonly type: string }, after: Stepped): void {
  const settled = settledStates.includes(String(after.value));
  expect(after.status).toBe(settled ? "done" : "active");
  expect(after.output === undefined).toBe(!settled);
  expect(after.context.resolution !== null, "a resolution exactly when accepted or defaulted").toBe(after.value === "accepted" || after.value === "defaulted");
  expect(after.context.ended !== null).toBe(after.value === "cancelled" || after.value === "expired");
  expect(after.context.audit.filter(({ outcome }) => outcome === "won")).toHaveLength(settled ? 1 : 0);
  // Every event is answered, but the timer, which nobody sent.
  expect(after.reply === null).toBe(event.type === timerKey);
  expect(after.reply?.code === "accepted").toBe(after.value === "accepted");
  if (!settled) expect({ ...after.context, audit: [], unlisted: 0 }).toEqual({ ...before.context, audit: [], unlisted: 0 });
  expect(after.context.audit.length).toBeGreaterThan(before.context.audit.length);
}

for (const name of names) {
  test(`DEC-1 DEC-3 every path of a decision (${name}) ends once or not at all, and every event × state has its answer`, () => {
    const options = {
      input: inputs[name],
      events: events(name),
      stopWhen: (state: { status: string }) => state.status !== "active",
      serializeState: (state: Node) => identity(state),
      limit: 5000,
    };
    const paths = getShortestPaths(decisionMachine, options);
    const ends = new Set<string>();
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) {
      let decision = open(name);
      for (const { event } of path.steps.slice(1)) {
        const after = decision.send(event);
        check(decision, event, after);
        decision = after;
      }
      expect(identity(decision), "through JSON at each step as in memory").toBe(identity(path.state));
      if (decision.status === "done") ends.add(String(decision.value));
      else for (const event of events(name)) check(decision, event, decision.send(event));
      // A finished one takes nothing any more.
      if (decision.status === "done")
        for (const event of events(name)) expect(decision.send(event)).toMatchObject({ changed: false, value: decision.value, records: [] });
    }
    expect([...ends].sort()).toEqual(
      name === "untimed" ? ["accepted", "cancelled"] : name === "defaulting" ? ["accepted", "cancelled", "defaulted"] : ["accepted", "cancelled", "expired"],
    );
  });
}

test("DEC-1 every simple path over the states alone", () => {
  for (const name of names) {
    const paths = getSimplePaths(decisionMachine, {
      input: inputs[name],
      events: events(name),
      stopWhen: (state: { status: string }) => state.status !== "active",
      serializeState: (state: Node) => JSON.stringify(state.value),
      limit: 1000,
    });
    const reached = paths.map(({ state }) => JSON.stringify(state.value));
    expect(new Set(reached).size).toBe(name === "untimed" ? 3 : 4);
    for (const path of paths) expect(path.steps.length).toBeLessThanOrEqual(2);
  }
});

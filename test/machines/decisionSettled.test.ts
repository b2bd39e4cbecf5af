import { expect, expectTypeOf, test } from "vitest";
import { answerWhenFinished, projectDecision, type DecisionRowWrite } from "../../machines/decisionProjection.ts";
import { type DecisionViewLike } from "../../machines/decisionView.ts";
import type { RowWrite } from "../../persistence/store.ts";
import { createdAt, facts } from "../contracts/decisionFixture.ts";
import { ann, bob, deadlineAt, inputs, open, openedAt, submit, timer, type Stepped } from "./decisionKit.ts";

const answered = open("defaulting").send(submit({ choice: "replan", input: "less" }));
const defaulted = open("defaulting").send(timer());
const expired = open("expiring").send(timer());
const cancelled = open("untimed").send({ type: "decision.cancel", reason: "run cancelled", at: openedAt + 9 });
/** As a run's cancellation leaves it: the actor stopped where it was. */
const stopped: DecisionViewLike = { ...open("defaulting").view, record: { id: facts.decision, status: "stopped", updatedAt: openedAt + 70 } };

const ask = (to: Stepped | DecisionViewLike, event: { readonly type: string; readonly [key: string]: unknown }) =>
  answerWhenFinished("view" in to ? to.view : to, { id: "e_1", ...event });
const again = submit({ choice: "replan", input: "less", at: openedAt + 5000 });

test("DEC-5 case 24 the same again gets the saved result: by key, and by answer and actor under another key", () => {
  const saved = answered.reply?.receipt;
  expect(saved).toBeTruthy();
  expect(ask(answered, again)).toMatchObject({ code: "duplicate", reply: { code: "duplicate", receipt: saved } });
  expect(ask(answered, { ...again, idempotencyKey: "other" })).toMatchObject({ code: "duplicate", reply: { receipt: saved } });
  expect(ask(answered, { ...again, idempotencyKey: "other", at: deadlineAt + 1 })).toMatchObject({ code: "duplicate" });
});

test("DEC-6 the winner's key with other content is keyReused, a loser's too", () => {
  expect(ask(answered, { ...again, input: "more" }).code).toBe("keyReused");
  expect(ask(answered, submit({ choice: "go" })).code).toBe("keyReused");
  expect(ask(answered, { ...again, source: bob }).code).toBe("keyReused");
  expect(ask(answered, { ...again, revision: 1 }).code).toBe("keyReused");
  const mended = open("untimed")
    .send(submit({ choice: "no", idempotencyKey: "first" }))
    .send(submit({ idempotencyKey: "second" }));
  expect(ask(mended, submit({ choice: "stop", idempotencyKey: "first" })).code).toBe("keyReused");
});

test("DEC-7 case 12 another answer after a winner is told the winner and changes nothing", () => {
  const receipt = answered.reply?.receipt;
  expect(ask(answered, submit({ choice: "stop", idempotencyKey: "k9", source: bob }))).toEqual({
    code: "alreadyDecided",
    reply: { code: "alreadyDecided", message: expect.stringContaining('"replan"'), receipt },
  });
  expect(ask(answered, submit({ choice: "replan", input: "less", idempotencyKey: "k9", source: bob })).code).toBe("alreadyDecided");
  expect(ask(answered, submit({ choice: "nonsense", idempotencyKey: "k9" })).code).toBe("alreadyDecided");
  expect(ask(answered, { type: "decision.cancel", reason: "x" })).toMatchObject({ code: "alreadyDecided", reply: { receipt } });
  expect(ask(answered, { type: "decision.denied", source: bob })).toMatchObject({ code: "unauthorised", reply: { receipt: null } });
});

test("DEC-7 after a default whoever answers is told that the default holds, in time or not", () => {
  for (const at of [deadlineAt - 1, deadlineAt + 1]) {
    const { code, reply } = ask(defaulted, submit({ at }));
    expect(code).toBe("defaulted");
    expect(reply.receipt).toMatchObject({ provenance: "timeout", response: { choice: "stop" } });
  }
  expect(ask(defaulted, submit({ choice: "stop" })).code).toBe("defaulted");
  expect(ask(defaulted, { type: "decision.cancel", reason: "x" }).code).toBe("defaulted");
});

test("DEC-1 after cancellation and expiry the answer is told so", () => {
  expect(ask(cancelled, submit()).code).toBe("cancelled");
  expect(ask(expired, submit()).code).toBe("expired");
  expect(ask(stopped, submit()).code).toBe("cancelled");
  expect(ask(cancelled, { type: "decision.cancel", reason: "again" }).code).toBe("cancelled");
  expect(ask(expired, { type: "decision.cancel", reason: "x" }).code).toBe("expired");
  expect(ask(stopped, { type: "decision.cancel", reason: "x" }).code).toBe("cancelled");
});

test("DEC-8 case 172 an approval is not good for another digest: after the settlement it is stale", () => {
  const { digests } = inputs.defaulting.request;
  const other = "0".repeat(64);
  expect(ask(answered, { ...again, idempotencyKey: "k2", requestDigest: other }).code).toBe("stale");
  expect(ask(answered, { ...again, idempotencyKey: "k2", revision: 7 }).code).toBe("stale");
  expect(ask(answered, { ...again, idempotencyKey: "k2", requestDigest: digests.request }).code).toBe("duplicate");
});

test("DEC-10 the model is refused whatever the state", () => {
  for (const state of [answered, defaulted, expired, cancelled, stopped])
    expect(ask(state, submit({ source: { kind: "model", channel: "tool", actor: "m" } }))).toMatchObject({ code: "humanOnly", reply: { receipt: null } });
});

test("DEC-3 an event that a decision does not know changes nothing and is said to be invalid", () => {
  expect(ask(answered, { type: "xstate.after.deadline.decision.open.timed" }).code).toBe("invalid");
});

test("DEC-3 a decision that a fault stopped while open says that it is blocked, not that it is settled", () => {
  const { view } = open("untimed");
  const faulted = { ...view, record: { ...view.record, status: "faulted" } };
  expect(ask(faulted, submit()).code).toBe("blocked");
  expect(projectDecision(faulted)).toMatchObject([{ row: { state: "open", settledAt: null } }]);
});

test("DEC-19 the index row says what the decision is and how it ended", () => {
  const row = (of: Stepped | DecisionViewLike) => projectDecision("view" in of ? of.view : of);
  const base = {
    id: facts.decision,
    run: "r_1",
    node: "approve",
    visit: "r_1/graph/approve.3",
    code: "ABCDEF0",
    title: "Approve the plan",
    audience: "operator",
    createdAt,
  };
  const timed = { deadlineAt, defaultChoice: "stop" };
  expect(row(open("untimed"))).toEqual([
    { table: "decisions", row: { ...base, state: "open", deadlineAt: null, defaultChoice: null, choice: null, settledAt: null } },
  ]);
  expect(row(open("defaulting"))).toEqual([{ table: "decisions", row: { ...base, ...timed, state: "open", choice: null, settledAt: null } }]);
  expect(row(answered)).toEqual([{ table: "decisions", row: { ...base, ...timed, state: "accepted", choice: "replan", settledAt: openedAt + 1000 } }]);
  expect(row(defaulted)).toEqual([{ table: "decisions", row: { ...base, ...timed, state: "defaulted", choice: "stop", settledAt: deadlineAt } }]);
  expect(row(expired)).toEqual([
    { table: "decisions", row: { ...base, deadlineAt, defaultChoice: null, state: "expired", choice: null, settledAt: deadlineAt } },
  ]);
  expect(row(cancelled)).toEqual([
    { table: "decisions", row: { ...base, deadlineAt: null, defaultChoice: null, state: "cancelled", choice: null, settledAt: openedAt + 9 } },
  ]);
  expect(row(stopped)).toEqual([{ table: "decisions", row: { ...base, ...timed, state: "cancelled", choice: null, settledAt: openedAt + 70 } }]);
  expectTypeOf<DecisionRowWrite>().toExtend<RowWrite>();
});

test("DEC-5 the winner's answer from another channel is not the same actor", () => {
  expect(ask(answered, { ...again, idempotencyKey: "k2", source: { ...ann, channel: "telegram" } }).code).toBe("alreadyDecided");
});

import { expect, test } from "vitest";
import { decisionMachine, parseDecisionEvent } from "../../machines/decisionMachine.ts";
import { humanDecisionNode } from "../../machines/nodes/humanDecisionNode.ts";
import { defineMachine } from "../../src/runtime/registry.ts";
import { DecisionReceipt, DecisionResolution } from "../../machines/contracts/decision.ts";
import { build, refusalOf } from "../contracts/decisionFixture.ts";
import { ann, bob, deadlineAt, inputs, open, openedAt, submit, timer, timerKey, type InputName } from "./decisionKit.ts";

const all: InputName[] = ["untimed", "defaulting", "expiring"];
const outcomes = (audit: readonly { kind: string; outcome: string }[]) => audit.map(({ kind, outcome }) => `${kind} ${outcome}`);

test("DEC-2 the first valid answer is accepted, told so, and is the output", () => {
  for (const name of all) {
    const after = open(name).send(submit({ choice: "replan", input: "fewer steps" }));
    expect(after).toMatchObject({ status: "done", value: "accepted", output: { case: "replan", value: { choice: "replan", input: "fewer steps" } } });
    expect(after.reply).toMatchObject({
      type: "pawl.reply",
      code: "accepted",
      receipt: { provenance: "human", response: { choice: "replan", input: "fewer steps" }, at: openedAt + 1000 },
    });
    expect(DecisionResolution.parse(after.context.resolution)).toMatchObject({
      source: ann,
      idempotencyKey: "k1",
      revision: 1,
      digests: inputs[name].request.digests,
    });
  }
});

test("DEC-2 an answer without a text has no input in the output", () => {
  expect(open("untimed").send(submit()).output).toStrictEqual({ case: "go", value: { choice: "go" } });
});

test("DEC-2 the exact text is kept, Unicode and spaces too", () => {
  const text = "  e\u0301 \u202E 👨‍👩‍👧\r\n\t ";
  expect(open("untimed").send(submit({ choice: "replan", input: text })).output).toMatchObject({ value: { input: text } });
});

test("DEC-2 an answer stamped at the deadline beats the default, one a millisecond later does not", () => {
  for (const name of ["defaulting", "expiring"] as const) {
    expect(open(name).send(submit({ at: deadlineAt })).value).toBe("accepted");
    expect(open(name).send(submit({ at: deadlineAt + 1 })).value).toEqual({ open: "timed" });
  }
});

test("DEC-4 a late answer settles nothing: an earlier one that arrives after it still wins", () => {
  const late = open("defaulting").send(submit({ source: bob, idempotencyKey: "late", choice: "stop", at: deadlineAt + 5 }));
  expect(late.reply).toMatchObject({ code: "defaulted", receipt: null, message: expect.stringContaining('"stop"') });
  expect(late.send(submit({ at: deadlineAt })).value).toBe("accepted");
  const expired = open("expiring").send(submit({ at: deadlineAt + 5 }));
  expect(expired.reply).toMatchObject({ code: "expired", receipt: null });
  expect(expired.value).toEqual({ open: "timed" });
});

test("DEC-4 case 25 the deadline takes the default, with the provenance timeout", () => {
  const after = open("defaulting").send(timer(deadlineAt + 7));
  expect(after).toMatchObject({ status: "done", value: "defaulted", output: { case: "stop", value: { choice: "stop" } }, reply: null });
  expect(DecisionResolution.parse(after.context.resolution)).toMatchObject({ provenance: "timeout", response: { choice: "stop" }, at: deadlineAt + 7 });
});

test("DEC-4 the deadline without a default expires the decision, which the node can route as timed out", () => {
  expect(open("expiring").send(timer())).toMatchObject({
    status: "done",
    value: "expired",
    output: { failed: { reason: "decisionExpired", message: expect.stringContaining("approve") } },
    context: { resolution: null },
  });
});

test("DEC-12 the deadline's timer is armed once, for the absolute time, and goes with the settlement", () => {
  const opened = open("defaulting");
  expect(opened.value).toEqual({ open: "timed" });
  expect(opened.records.filter(({ kind }) => kind === "timer")).toEqual([expect.objectContaining({ key: timerKey, delayMs: deadlineAt + 1 - openedAt })]);
  const refused = opened.send(submit({ choice: "no" }));
  expect(refused.records.filter(({ kind }) => kind === "timer" || kind === "cancelTimer")).toEqual([]);
  expect(refused.send(submit({ idempotencyKey: "k2" })).records).toContainEqual({ kind: "cancelTimer", key: timerKey });
});

test("DEC-12 without a deadline there is no timer; one that has passed fires at once; a far one is as far as it is", () => {
  expect(open("untimed")).toMatchObject({ value: { open: "untimed" }, records: [] });
  const delay = (input: Parameters<typeof open>[0]) => open(input).records.map((record) => (record.kind === "timer" ? record.delayMs : null));
  expect(delay({ ...inputs.expiring, openedAt: deadlineAt + 5 })).toEqual([0]);
  const years = 40 * 365 * 24 * 3_600_000;
  expect(delay({ ...inputs.defaulting, deadlineAt: openedAt + years })).toEqual([years + 1]);
});

test("DEC-8 case 172 an answer to another digest or revision is stale", () => {
  const { digests, revision } = inputs.untimed.request;
  const other = build({ request: { subject: "something else" } }).request.digests;
  for (const change of [{ requestDigest: other.request }, { revision: 2 }, { requestDigest: digests.request, revision: 2 }]) {
    const after = open("untimed").send(submit(change));
    expect(after).toMatchObject({ value: { open: "untimed" }, reply: { code: "stale", receipt: null } });
  }
  expect(open("untimed").send(submit({ requestDigest: digests.request, revision })).value).toBe("accepted");
});

test("DEC-9 an invalid answer is told the wrong field and all that is allowed, and may be mended under a new key", () => {
  for (const [change, path] of [
    [{ choice: "no" }, "choice"],
    [{ choice: "replan" }, "input"],
    [{ choice: "replan", input: "x".repeat(41) }, "input"],
    [{ choice: "go", input: "text" }, "input"],
  ] as const) {
    const after = open("untimed").send(submit(change));
    expect(after).toMatchObject({ value: { open: "untimed" }, reply: { code: "invalid", path, choices: inputs.untimed.request.choices } });
    expect(after.send(submit({ idempotencyKey: "k2" })).value).toBe("accepted");
  }
});

test("DEC-6 a key used again with other content is refused while open; with the same content it gets the same answer", () => {
  const refused = open("untimed").send(submit({ choice: "no" }));
  expect(refused.send(submit({ choice: "go" }))).toMatchObject({ value: { open: "untimed" }, reply: { code: "keyReused" } });
  expect(refused.send(submit({ choice: "no" })).reply).toMatchObject({ code: "invalid" });
  expect(refused.send(submit({ choice: "no", source: bob })).reply).toMatchObject({ code: "keyReused" });
});

test("DEC-10 case 5 the model and programs are refused, audited with their source, and use up no key", () => {
  for (const kind of ["model", "program"] as const) {
    const source = { kind, channel: "tool", actor: "m1" };
    const after = open("untimed").send(submit({ source }));
    expect(after).toMatchObject({ value: { open: "untimed" }, reply: { code: "humanOnly", receipt: null } });
    expect(after.context.audit).toEqual([expect.objectContaining({ kind: "channel", outcome: "humanOnly", source, choice: "go" })]);
    expect(after.send(submit({ choice: "stop" })).value).toBe("accepted");
  }
});

test("DEC-10 somebody who may not answer gets a notice without content, and is audited", () => {
  const source = { kind: "human", channel: "telegram", actor: "eve" } as const;
  const after = open("untimed").send({ type: "decision.denied", source, at: openedAt + 1 });
  expect(after.reply).toMatchObject({ code: "unauthorised", receipt: null });
  expect(after.reply?.message).not.toMatch(/go|stop|replan|plan/i);
  expect(after.context.audit).toEqual([expect.objectContaining({ kind: "channel", outcome: "unauthorised", source })]);
});

test("DEC-1 a cancellation ends it without a resolution, and says why", () => {
  for (const name of all) {
    const after = open(name).send({ type: "decision.cancel", reason: "replaced", at: openedAt + 9 });
    expect(after).toMatchObject({
      status: "done",
      value: "cancelled",
      reply: { code: "cancelled" },
      output: { failed: { reason: "decisionCancelled", message: expect.stringContaining("replaced") } },
      context: { resolution: null, ended: { at: openedAt + 9, reason: "replaced" } },
    });
  }
});

test("DEC-11 the audit keeps every candidate with its kind, the losing deadline too", () => {
  const after = open("defaulting")
    .send(submit({ source: { kind: "model", channel: "tool", actor: "m" } }))
    .send(submit({ choice: "no", idempotencyKey: "k2" }))
    .send(submit({ idempotencyKey: "k3" }));
  expect(outcomes(after.context.audit)).toEqual(["channel humanOnly", "human invalid", "human won", "policy lost"]);
  expect(
    outcomes(
      open("defaulting")
        .send(submit({ at: deadlineAt + 1 }))
        .send(timer(deadlineAt + 2)).context.audit,
    ),
  ).toEqual(["human defaulted", "policy won"]);
  expect(outcomes(open("expiring").send({ type: "decision.cancel", reason: "x" }).context.audit)).toEqual(["control won", "policy lost"]);
  expect(outcomes(open("untimed").send(submit()).context.audit)).toEqual(["human won"]);
});

test("DEC-11 refused candidates beyond a hundred are counted, and the winner is always listed", () => {
  let decision = open("untimed");
  for (let i = 0; i < 130; i += 1) decision = decision.send(submit({ choice: "no", idempotencyKey: `k${i}` }));
  expect(decision.context).toMatchObject({ unlisted: 30 });
  expect(decision.context.audit).toHaveLength(100);
  expect(decision.reply).toMatchObject({ code: "invalid" });
  const settled = decision.send(submit({ idempotencyKey: "last" }));
  expect(settled.value).toBe("accepted");
  expect(settled.context.audit.at(-1)).toMatchObject({ outcome: "won", idempotencyKey: "last" });
});

test("DEC-7 a receipt has no actor, channel or key", () => {
  const { reply } = open("untimed").send(submit({ source: { ...ann, actor: "secret-actor", channel: "secret-channel" }, idempotencyKey: "secret-key" }));
  expect(DecisionReceipt.parse(reply?.receipt)).toEqual(reply?.receipt);
  expect(JSON.stringify(reply)).not.toContain("secret");
});

test("DEC-3 an event from outside is checked at the door, with the path of what is wrong", () => {
  const { at: _stamp, ...fine } = submit({ choice: "replan", input: "x" });
  expect(parseDecisionEvent(fine)).toEqual(fine);
  const bad: [unknown, string][] = [
    [{ ...fine, choice: undefined }, "answer.choice"],
    [{ ...fine, choice: 5 }, "answer.choice"],
    [{ ...fine, input: 5 }, "answer.input"],
    [{ ...fine, input: "x".repeat(16_385) }, "answer.input"],
    [{ ...fine, idempotencyKey: "x".repeat(513) }, "answer.idempotencyKey"],
    [{ ...fine, source: { ...ann, kind: "robot" } }, "answer.source.kind"],
    [{ ...fine, requestDigest: "abc" }, "answer.requestDigest"],
    [{ ...fine, revision: 0 }, "answer.revision"],
    [{ ...fine, force: true }, "answer"],
    [{ type: "decision.cancel" }, "answer.reason"],
    [{ type: "decision.open" }, "answer.type"],
    [null, "answer"],
  ];
  for (const [event, path] of bad)
    expect(
      refusalOf(() => parseDecisionEvent(event)),
      path,
    ).toMatchObject({ code: "invalidInput", path });
});

test("DEC-12 decision and node can be registered: named sources, a version, bounded loops", () => {
  for (const machine of [decisionMachine, humanDecisionNode]) {
    expect(defineMachine(machine)).toMatchObject({ id: machine.id, version: "1", digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(machine.config.options).toEqual({ maxIterations: 1000 });
  }
});

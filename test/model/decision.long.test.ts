/** The decision on the real runtime, with its database opened anew before every step: every row of SPEC 7's table, open and settled, with and without a deadline. */
import { describe, expect, test } from "vitest";
import { answerWhenFinished } from "../../machines/decisionProjection.ts";
import type { DecisionReply } from "../../machines/decisionVerdicts.ts";
import { decisionContext, decisionState } from "../../machines/decisionView.ts";
import { decisionDefinition } from "../../src/host/catalog.ts";
import { createRegistry } from "../../src/runtime/registry.ts";
import { facts } from "../contracts/decisionFixture.ts";
import { afterMs, ann, bob, inputs, open, timer, type InputName, type Stepped } from "../machines/decisionKit.ts";
import { Replay, standstill } from "./replay.ts";

/** The millisecond of the deadline itself is still in time. */
const later = afterMs + 1;

const answer = (change: object) => ({ type: "decision.submit", choice: "go", idempotencyKey: "k1", source: ann, ...change });

/** One of each row of the table, and of each payload that tells rows apart. */
const events = {
  "an answer": answer({}),
  "the same answer under another key": answer({ idempotencyKey: "k1b" }),
  "the same key with other content": answer({ choice: "stop" }),
  "another's answer with a text": answer({ idempotencyKey: "k2", choice: "replan", input: "less 👍", source: bob }),
  "an answer for the digest that is open": answer({ idempotencyKey: "k3", requestDigest: inputs.untimed.request.digests.request, revision: 1 }),
  "an answer for an old digest": answer({ idempotencyKey: "k4", requestDigest: "0".repeat(64) }),
  "an answer for another revision": answer({ idempotencyKey: "k5", revision: 2 }),
  "an unknown choice": answer({ idempotencyKey: "k6", choice: "no" }),
  "the key of an unknown choice again": answer({ idempotencyKey: "k6" }),
  "a missing text": answer({ idempotencyKey: "k7", choice: "replan" }),
  "a text that is too long": answer({ idempotencyKey: "k8", choice: "replan", input: "x".repeat(41) }),
  "a text where none is asked for": answer({ idempotencyKey: "k9", input: "why" }),
  "the model's": answer({ idempotencyKey: "k10", source: { kind: "model", channel: "tool", actor: "m" } }),
  "a program's": answer({ idempotencyKey: "k11", source: { kind: "program", channel: "web", actor: "p" } }),
  "one who may not": { type: "decision.denied", source: bob, idempotencyKey: "k12" },
  "a cancel": { type: "decision.cancel", reason: "run cancelled" },
} as const;
type EventName = keyof typeof events | "the deadline";

const names = [...(Object.keys(events) as (keyof typeof events)[]), "the deadline"] as const; // the keys of `events`
const kinds: readonly InputName[] = ["untimed", "defaulting", "expiring"];
const inputOf = (kind: InputName) => ({ ...inputs[kind], openedAt: standstill });

/** What the machine alone says, when its time is that of the replay. */
function told(before: Stepped, name: EventName, now: number): { readonly after: Stepped; readonly reply: DecisionReply | null } {
  if (name === "the deadline") {
    const after = before.status === "done" || before.context.deadlineAt === null ? before : before.send(timer(now));
    return { after, reply: null };
  }
  const event = { ...events[name], at: now };
  if (before.status === "done") return { after: before, reply: answerWhenFinished(before.view, event).reply };
  const after = before.send(event);
  // The type of what was emitted is nothing that a sender gets.
  const { type: _emitted, ...reply } = { type: "", ...after.reply };
  return { after, reply: after.reply === null ? null : (reply as DecisionReply) }; // all of the reply but its type
}

const seen = (view: Stepped["view"]) => {
  const { resolution, ended, audit, unlisted } = decisionContext(view);
  return { state: decisionState(view), resolution, ended, audit, unlisted };
};

/** Lets it happen for real, on a database that is opened for it. */
async function happen(replay: Replay, name: EventName): Promise<{ readonly is: ReturnType<typeof seen>; readonly reply: DecisionReply | null }> {
  let reply: DecisionReply | null = null;
  const view = await replay.step(facts.decision, {}, async ({ runtime, advance, settle }) => {
    if (name === "the deadline") {
      advance(later);
      await settle();
      return;
    }
    const receipt = await runtime.send(facts.decision, events[name]);
    reply = receipt.reply as DecisionReply; // a decision answers everything that is sent to it
  });
  if (view === null) throw new Error("the decision is gone");
  return { is: seen(view), reply };
}

const cells = new Set<string>();

describe.each(kinds)("a decision that is %s", (kind) => {
  test.each(names)(
    `DEC-1 DEC-2 DEC-3 DEC-5 DEC-6 DEC-7 DEC-8 DEC-9 DEC-10 at each event after %s it is and says what the chart does`,
    { timeout: 60_000 },
    async (first) => {
      const there = new Replay(() => createRegistry([decisionDefinition]));
      try {
        await there.step(facts.decision, {}, async ({ runtime }) => {
          await runtime.start(decisionDefinition.id, { id: facts.decision, input: inputOf(kind) });
        });
        const opened = open(inputOf(kind));
        const once = told(opened, first, first === "the deadline" ? standstill + later : standstill);
        expect(await happen(there, first)).toEqual({ is: seen(once.after.view), reply: once.reply });
        const now = first === "the deadline" ? standstill + later : standstill;
        for (const second of names) {
          const replay = there.copy();
          try {
            const at = second === "the deadline" ? now + later : now;
            const twice = told(once.after, second, at);
            expect(await happen(replay, second), second).toEqual({ is: seen(twice.after.view), reply: twice.reply });
            if (twice.reply !== null) cells.add(`${seen(once.after.view).state} ${twice.reply.code}`);
          } finally {
            replay.remove();
          }
        }
      } finally {
        there.remove();
      }
    },
  );
});

test("DEC-3 every answer of the table was met, open and settled", () => {
  expect([...cells].sort()).toEqual(
    [
      ...["accepted", "cancelled", "humanOnly", "invalid", "keyReused", "stale", "unauthorised"].map((code) => `open ${code}`),
      ...["alreadyDecided", "duplicate", "humanOnly", "keyReused", "stale", "unauthorised"].map((code) => `accepted ${code}`),
      ...["defaulted", "humanOnly", "stale", "unauthorised"].map((code) => `defaulted ${code}`),
      ...["cancelled", "humanOnly", "unauthorised"].map((code) => `cancelled ${code}`),
      ...["expired", "humanOnly", "unauthorised"].map((code) => `expired ${code}`),
    ].sort(),
  );
});

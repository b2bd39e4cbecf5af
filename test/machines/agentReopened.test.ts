/** A step comes to the same, whether its host lives through it or is lost before each event. */
import { expect, test } from "vitest";
import { seeded } from "../xstate/random.ts";
import { Visit } from "./agentKit.ts";

interface Act {
  readonly name: string;
  readonly of: (visit: Visit) => Promise<unknown>;
}

/** What may be said to a step at any moment: what it does not fit is refused or ignored, in both lives alike. */
function actsOf(seed: number, count: number): readonly Act[] {
  const random = seeded(seed);
  const send = (event: { readonly type: string; readonly [field: string]: unknown }): Act => ({
    name: JSON.stringify(event),
    // What a step that is over answers is its answer too.
    of: async (visit) => {
      const { status, code, reply } = await visit.send(event);
      return [status, code, reply];
    },
  });
  const pass = (ms: number): Act => ({ name: `${ms} ms`, of: (visit) => visit.pass(ms) });
  let calls = 0;
  const one = (): Act => {
    const delivery = 1 + random.below(3);
    const kinds: readonly (() => Act)[] = [
      () => send({ type: "agent.sent", delivery }),
      () => send({ type: "agent.turnEnded", delivery, outcome: "completed", ...(random.below(2) === 0 ? {} : { chatting: true }) }),
      () => send({ type: "agent.turnEnded", delivery, outcome: "error", message: "overloaded" }),
      () => send({ type: "agent.turnEnded", delivery, outcome: "aborted" }),
      () => send({ type: "agent.submit", callId: `c${(calls += 1)}`, output: "no" }),
      () => send({ type: "agent.submit", callId: `c${Math.max(1, calls)}`, output: random.below(3) === 0 ? 4 : "no" }),
      () => send({ type: random.below(2) === 0 ? "agent.connected" : "agent.disconnected" }),
      () => send({ type: "agent.takeUp" }),
      () => send({ type: "agent.chatting" }),
      () => ({ name: "hold", of: (visit) => visit.hold(true) }),
      () => ({ name: "release", of: (visit) => visit.hold(false) }),
      () => pass(random.below(2) === 0 ? 5_000 : 60_000),
    ];
    return (random.pick(kinds) ?? (() => pass(1)))();
  };
  return Array.from({ length: count }, one);
}

test.each([1, 2, 3, 4, 5])("AGENT-24 an agent step comes to the same in one life as in many, seed %i", async (seed) => {
  const acts = actsOf(seed, 12);
  const lived = new Visit(60_000, { reopens: false });
  const reopened = new Visit(60_000);
  for (const visit of [lived, reopened]) await visit.begin();
  for (const [index, { name, of }] of acts.entries()) {
    const at = `seed ${seed}, ${index}: ${name}`;
    expect(await of(reopened), at).toEqual(await of(lived));
    expect({ ...(await reopened.context()), turn: await reopened.turn() }, at).toEqual({ ...(await lived.context()), turn: await lived.turn() });
  }
  expect(await reopened.graph()).toEqual(await lived.graph());
});

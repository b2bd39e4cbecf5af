import { expect, test } from "vitest";
import { machineNode } from "../../machines/nodes/machineNode.ts";
import { createStepper, type OwnResult } from "../../src/runtime/step.ts";

const input = { run: "r_1", node: "order", visit: "order.1", once: false };
const stepper = createStepper(machineNode);
type Sent = { readonly type: string; readonly [field: string]: unknown };

/** Pure steps under a parent, with a JSON round trip between them. */
function after(...events: readonly Sent[]): OwnResult {
  let at = stepper.init("r_1/graph/order.1", "r_1/graph", input, "order");
  for (const event of events) at = stepper.step(stepper.hydrate("r_1/graph/order.1", "r_1/graph", stepper.persist(at.next).snapshot, "order"), event);
  return at;
}

const told = ({ records }: OwnResult): readonly unknown[] => records.flatMap((record) => (record.kind === "send" ? [record.event] : []));
const started = ({ records }: OwnResult): readonly unknown[] => records.flatMap((record) => (record.kind === "spawn" ? [[record.key, record.input]] : []));
const done = (id: string, output?: unknown): Sent => ({ type: `xstate.done.actor.${id}`, output, actorId: id });
const failed = (id: string): Sent => ({ type: `xstate.error.actor.${id}`, error: { reason: "nodeFailed", message: "no luck" }, actorId: id });

const prepared = done("prepare", { timeoutMs: null, version: "a:b:order:", machine: "shop", input: { id: 7 } });

test("MACH-10 the node prepares the input, starts the machine with it, and names it", () => {
  expect(started(after())).toEqual([["prepare", input]]);
  const running = after(prepared);
  expect(running.next.snapshot.value).toBe("running");
  expect(started(running)).toEqual([["machine", { version: "a:b:order:", input: { id: 7 } }]]);
  expect(running.next.snapshot.context).toMatchObject({ machine: "shop" });
  expect(told(running)).toEqual([]);
});

test("MACH-10 a machine that takes no input gets none, and a deadline that a callback gave is told to the graph", () => {
  const running = after(done("prepare", { timeoutMs: 5000, version: "v", machine: "shop" }));
  expect(started(running)).toEqual([["machine", { version: "v" }]]);
  expect(told(running)).toEqual([{ type: "node.deadline", ms: 5000 }]);
});

test("MACH-11 what the machine ends with is accepted by an effect, whose row holds the node's value", () => {
  const accepting = after(prepared, done("machine", { total: 3 }));
  expect(started(accepting)).toEqual([["accept", { ...input, output: { total: 3 } }]]);
  expect(started(after(prepared, done("machine")))).toEqual([["accept", { ...input, output: null }]]);
  const ended = after(prepared, done("machine", { total: 3 }), done("accept", { case: "large" }));
  expect([ended.status, ended.output]).toEqual(["done", { case: "large", kept: "accept" }]);
});

test.each([
  ["prepare", []],
  ["machine", [prepared]],
  ["accept", [prepared, done("machine", 1)]],
] as const)("MACH-11 a failure of its %s fails the visit with the reason", (which, before) => {
  const ended = after(...before, failed(which));
  expect([ended.status, ended.output]).toEqual(["done", { failed: { reason: "nodeFailed", message: "no luck" } }]);
});

test("MACH-27 the graph hears of each unknown outcome below, and that none is left only when that is so", () => {
  const unknown = (effect: string): Sent => ({ type: "effect.ambiguous", effect });
  const settled = (effect: string): Sent => ({ type: "effect.settled", effect });
  expect(told(after(prepared, unknown("e1")))).toEqual([{ type: "node.ambiguous", effect: "e1" }]);
  expect(told(after(prepared, unknown("e1"), unknown("e2"), settled("e1")))).toEqual([{ type: "node.active" }, { type: "node.ambiguous", effect: "e2" }]);
  expect(told(after(prepared, unknown("e1"), unknown("e2"), settled("e1"), settled("e2")))).toEqual([{ type: "node.active" }]);
});

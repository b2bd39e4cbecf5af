import type { AnyStateMachine } from "xstate";
import { fakeClock } from "../../src/runtime/clock.ts";
import type { Executors } from "../../src/runtime/executor.ts";
import { world, type World } from "../runtime/kit.ts";

/** A new runtime over the same store, as after the loss of the process. The clock of the lost one stands still. */
export async function again(before: World, machines: readonly AnyStateMachine[], executors: Executors = {}): Promise<World> {
  const next = await world(machines, executors, { store: before.store, clock: fakeClock(before.clock.now()) });
  await next.runtime.recover();
  return next;
}

/** Lets timers and effects come through. */
export async function rest({ runtime }: World): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await runtime.settled();
  }
}

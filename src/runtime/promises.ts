/** Executes an author's invoked promise: the function given to `fromPromise` or `durable`, with its input and its task. */
import type { AnyStateMachine } from "xstate";
import type { EffectRecord } from "../../persistence/store.ts";
import { markOf, pawlMark, type DurableOptions } from "../../machines/define.ts";
import type { StateCache } from "./cache.ts";
import type { Execution } from "./attempt.ts";
import type { EffectOutcome, EffectTask, Observed } from "./executor.ts";
import type { Definitions } from "./restore.ts";
import { childLogic, promiseCreator } from "./step.ts";

const prefix = "promise:";

/** What executes an effect of type `promise:<src>`; undefined for any other type. @throws restoreRefused when its machine is gone */
export async function promiseExecution(record: EffectRecord, cache: StateCache, definitions: Definitions): Promise<Execution | undefined> {
  if (!record.type.startsWith(prefix)) return undefined;
  const held = await cache.actor(record.actor);
  if (!held) return undefined;
  const { machine, promise } = await definitions.definitionOf(held.record);
  const src = record.type.slice(prefix.length);
  return promise ? promise(src) : machinePromise(machine, src);
}

/** What a promise is told of an attempt. */
export type PromiseTask = Pick<EffectTask, "input" | "signal" | "idempotencyKey" | "attempt" | "heartbeat" | "report">;

export interface MachinePromise {
  readonly run: (task: PromiseTask) => Promise<EffectOutcome>;
  readonly observe?: (task: Pick<PromiseTask, "input" | "signal" | "idempotencyKey" | "attempt">) => Promise<Observed>;
}

/** A promise by the name that the machine has for it; undefined when it has none. */
export function machinePromise(machine: AnyStateMachine, src: string): MachinePromise | undefined {
  const run = promiseCreator(machine, src);
  if (!run) return undefined;
  const mark = markOf(childLogic(machine, src));
  const options: DurableOptions<unknown, never> = mark?.kind === "effect" ? mark.options : {};
  const look = options.observe as DurableOptions<unknown, unknown>["observe"]; // the mark has forgotten its logic's input type, which is what the row holds
  return {
    run: async ({ input, signal, idempotencyKey, attempt, heartbeat, report }) => ({
      output: await run({ input, signal, [pawlMark]: { idempotencyKey, attempt, signal, heartbeat, report } }),
    }),
    ...(look ? { observe: async ({ input, idempotencyKey, attempt, signal }) => look({ input, idempotencyKey, attempt, signal }) } : {}),
  };
}

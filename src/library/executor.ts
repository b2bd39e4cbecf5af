/** An executor typed by the effect it executes. */
import type { PromiseActorLogic } from "xstate";
import { markOf, type Observation } from "../../machines/define.ts";
import { PawlError } from "../errors.ts";
import type { EffectTask, Executors, ObserveTask } from "../runtime/executor.ts";

type Typed<T, I> = Omit<T, "input"> & { readonly input: I };

/** A named effect of an actor (`effect(…)`) or of an action (`effectAction(…)`). */
type Named<O, I> = PromiseActorLogic<O, I> | ((args: unknown, params: I) => O);

/**
 * The executor of one named effect, to be spread into `executors`: `{ ...executor(sendMail, async ({ input, idempotencyKey }) => …) }`.
 * `observe` asks the outside whether an earlier attempt happened; see `ObservableExecutor`.
 * @throws invalidMachine for logic that names no effect
 */
export function executor<O, I>(
  named: Named<O, I>,
  run: (task: Typed<EffectTask, I>) => Promise<O>,
  options: { readonly observe?: (task: Typed<ObserveTask, I>) => Promise<Observation<O>> } = {},
): Executors {
  const mark = markOf(named);
  if (mark?.kind !== "effect" || mark.type === "")
    throw new PawlError("invalidMachine", "executor() was given something that names no effect. Give it what effect(…) or effectAction(…) made.");
  const { observe } = options;
  // The row holds what the machine gave as this effect's input, whose type is I.
  const typed = <T extends { readonly input: unknown }>(task: T): Typed<T, I> => task as Typed<T, I>;
  const execute = async (task: EffectTask): Promise<{ readonly output: unknown }> => ({ output: (await run(typed(task))) ?? null });
  return { [mark.type]: observe ? { run: execute, observe: async (task) => observe(typed(task)) } : execute };
}

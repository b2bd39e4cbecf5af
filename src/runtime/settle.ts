/** One event of an effect's row, and what its actor hears of it, in one draft. */
import type { EffectRecord } from "../../persistence/store.ts";
import type { EffectEvent } from "../../machines/effectMachine.ts";
import { PawlError } from "../errors.ts";
import { jsonText, readBack } from "../json.ts";
import type { Settlement } from "./attempt.ts";
import { Cascade, type CascadeEnv, type EventObjectLike, type Faults } from "./cascade.ts";
import type { Definition } from "./definition.ts";
import type { Draft } from "./draft.ts";
import { effectStep, isOpen } from "./effectRow.ts";
import { linksIn, type Definitions } from "./restore.ts";

export type SettleEnv = CascadeEnv & Definitions;

/** Null: the row has no transition for it. @throws restoreRefused when its actor's machine cannot be found; then nothing may be committed */
export async function settleEffect(
  env: SettleEnv,
  draft: Draft,
  faults: Faults,
  key: string,
  { event: told, outcome, error, notBefore }: Settlement,
): Promise<EffectRecord | null> {
  const before = await draft.effect(key);
  if (!before) return null;
  const waiting = await whoWaits(env, draft, before);
  if (told.type === "effect.retry" && before.state === "ambiguous" && before.invokeId !== null && waiting === null)
    throw new PawlError(
      "refused",
      `Effect "${key}" is not done again: nobody waits for it any more, what asked for it has gone on or ended. If it happened, confirm it; nothing was changed.`,
      { subject: key },
    );
  const event: EffectEvent = told.type === "effect.observed" ? { ...told, isWanted: before.invokeId === null || waiting !== null } : told;
  const next = effectStep(before, event);
  if (!next) return null;
  const kept = outcome && ("value" in outcome ? outcome.value : outcome.output);
  const keepsProcess = event.type === "effect.interrupted" || (next.attempt === before.attempt && isOpen(next.state));
  const record: EffectRecord = {
    ...before,
    ...next,
    updatedAt: draft.at,
    output: outcome ? draft.store(kept, `output of "${before.visit ?? key}"`) : before.output,
    error: next.state === "confirmed" ? null : (error ?? before.error),
    process: keepsProcess ? before.process : null,
    notBefore: next.state === "planned" ? (notBefore ?? (env.isAdopted(before.root) ? null : draft.at)) : null,
    ambiguousSince: next.state === "ambiguous" ? draft.at : null,
  };
  draft.putEffect(record, before);
  if (before.invokeId === null || waiting === null) return record;
  const flow = new Cascade(draft, env, faults);
  const tell = async (type: string): Promise<void> => {
    const to = await whoHears(env, draft, before.actor, waiting, type);
    if (to !== null) await flow.sendInternal(to, { type, effect: key });
  };
  if (before.state === "ambiguous") await tell("effect.settled");
  if (next.state === "ambiguous") await tell("effect.ambiguous");
  const actorId = before.invokeId;
  if (next.state === "confirmed") {
    const done = { type: `xstate.done.actor.${actorId}`, output: outcome?.output, actorId };
    await flow.sendInternal(before.actor, readBack<EventObjectLike>(jsonText(done, `output of "${before.visit ?? key}"`)), key);
  }
  if (next.state === "failed")
    await flow.sendInternal(
      before.actor,
      {
        type: `xstate.error.actor.${actorId}`,
        error: record.error ?? { reason: "workerCrashed", message: `Its process was lost ${record.interruptions} times.` },
        actorId,
      },
      key,
    );
  return record;
}

/** The actor itself if its machine has an answer to it; of machines that are not here, the nearest one above that is and has. */
async function whoHears(env: SettleEnv, draft: Draft, actor: string, definition: Definition, type: string): Promise<string | null> {
  if (!definition.stepper) return definition.machine.events.includes(type) ? actor : null;
  const parent = (await draft.actor(actor))?.record.parent ?? null;
  const above = parent === null ? null : await draft.actor(parent);
  return above ? whoHears(env, draft, above.record.id, await env.definitionOf(above.record), type) : null;
}

/** The definition of the actor that invoked this effect, while it still waits for the result; null when nobody does. */
async function whoWaits(env: SettleEnv, draft: Draft, effect: EffectRecord): Promise<Definition | null> {
  if (effect.invokeId === null) return null;
  const actor = await draft.actor(effect.actor);
  // A faulted actor keeps what it is told until its fault is mended.
  if (!actor || (actor.record.status !== "active" && actor.record.status !== "faulted")) return null;
  const definition = await env.definitionOf(actor.record);
  return linksIn(actor).some((link) => link.effect === effect.key) ? definition : null;
}

/** What comes from outside, computed into one draft: the start of a root actor, and an event for an actor. */
import { sha256Hex } from "../digest.ts";
import { PawlError } from "../errors.ts";
import { jsonText, readBack } from "../json.ts";
import { Cascade, type CascadeEnv, type EventObjectLike, type Faults } from "./cascade.ts";
import type { DefinitionRegistry } from "./definition.ts";
import type { Draft } from "./draft.ts";
import { storedView } from "./storedView.ts";
import type { Receipt, Runtime, SendOptions } from "./runtime.ts";

type Start = Parameters<Runtime["start"]>[1];

/** @throws unknownMachine, invalidValue, what the machine's first step throws */
export async function startActor(
  env: CascadeEnv,
  registry: DefinitionRegistry,
  draft: Draft,
  faults: Faults,
  machineId: string,
  { id, version, input, eventId, blobs }: Start,
): Promise<Receipt> {
  const existing = await draft.actor(id);
  if (existing) {
    const known = eventId === undefined ? null : await draft.inbox(id, eventId);
    if (known?.fingerprint === fingerprintOf("pawl.start", { machineId, input })) return { ...readBack<Receipt>(known.receipt), status: "duplicate" };
    return { status: "refused", actor: id, revision: existing.record.revision, code: "keyReused" };
  }
  const definition = version === undefined ? registry.latest(machineId) : await registry.find(machineId, version);
  if (!definition)
    throw new PawlError(
      "unknownMachine",
      `No machine "${machineId}"${version === undefined ? "" : ` version ${version}`} is registered. Registered: ${registry.names().join(", ") || "none"}.`,
      { subject: machineId },
    );
  for (const bytes of blobs ?? []) draft.storeBytes(bytes);
  await new Cascade(draft, env, faults).start({ id, definition, input, parent: null, childKey: null, systemId: null });
  const receipt: Receipt = { status: "applied", actor: id, revision: 1 };
  if (eventId !== undefined)
    draft.putInbox({
      actor: id,
      eventId,
      fingerprint: fingerprintOf("pawl.start", { machineId, input }),
      receipt: JSON.stringify(receipt),
      event: null,
      at: draft.at,
    });
  return receipt;
}

/** @throws unknownActor, invalidInput, invalidValue, restoreRefused, what guards and assigns throw */
export async function sendEvent(
  env: CascadeEnv,
  draft: Draft,
  faults: Faults,
  actor: string,
  given: EventObjectLike,
  { eventId, expectedRevision }: SendOptions,
): Promise<Receipt> {
  const held = await draft.actor(actor);
  // Hashing costs as much as a step: only an event that is kept or compared has it done.
  const fingerprint = (): string => fingerprintOf(given.type, given);
  // Answers outlive a pruned actor for a while.
  const known = eventId === undefined ? null : await draft.inbox(actor, eventId);
  if (known)
    return known.fingerprint === fingerprint()
      ? { ...readBack<Receipt>(known.receipt), status: "duplicate" }
      : { status: "refused", actor, revision: held?.record.revision ?? 0, code: "keyReused" };
  if (!held) throw new PawlError("unknownActor", `There is no actor "${actor}". Nothing was sent.`, { subject: actor });
  const { record } = held;
  const definition = await env.definitionOf(record);
  const parsed = definition.parseEvent ? definition.parseEvent(given) : given;
  const text = jsonText(parsed, `event "${given.type}"`);
  const event = readBack<EventObjectLike>(text);
  const answer = async (): Promise<Receipt> => {
    if (expectedRevision !== undefined && expectedRevision !== record.revision) return { status: "refused", actor, revision: record.revision, code: "stale" };
    const { type, ...payload } = event;
    const delivered = await new Cascade(draft, env, faults).send(
      actor,
      event,
      Object.keys(payload).length === 0 ? null : draft.store(payload, `event "${type}"`),
    );
    const reply = delivered.reply === undefined ? {} : { reply: delivered.reply };
    if (delivered.status === "applied") return { status: "applied", actor, revision: delivered.revision, ...reply };
    if (delivered.status === "ignored") return { status: definition.unhandled ?? "ignored", actor, revision: delivered.revision, code: "notNow" };
    // As this group has left it: an event before this one may have finished the actor in the same commit.
    const current = (await draft.actor(actor))?.record ?? record;
    const finished = definition.whenFinished?.(storedView(current), { ...event, at: draft.at, id: draft.eventId });
    return {
      status: "refused",
      actor,
      revision: delivered.revision,
      code: finished?.code ?? current.status,
      ...(finished?.reply === undefined ? {} : { reply: finished.reply }),
    };
  };
  const receipt = await answer();
  if (eventId !== undefined || receipt.status === "refused") {
    if (receipt.status !== "applied") draft.restsOn(actor, receipt.revision);
    draft.putInbox({
      actor,
      eventId: eventId ?? draft.eventId,
      fingerprint: fingerprint(),
      receipt: JSON.stringify(receipt),
      event: receipt.status === "applied" ? null : draft.storeText(text),
      at: draft.at,
    });
  }
  return receipt;
}

const fingerprintOf = (type: string, payload: unknown): string => sha256Hex(`${type}\n${jsonText(payload, `event "${type}"`)}`);

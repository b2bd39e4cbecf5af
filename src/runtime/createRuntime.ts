/** Puts the runtime together: reads and their cache, dispatches of events, results and timers, and what follows a commit. */
import { sha256Hex } from "../digest.ts";
import type { ActorRecord, EffectRecord, Page, Projections, Store, TimerRecord } from "../../persistence/store.ts";
import type { EffectEvent } from "../../machines/effectMachine.ts";
import { PawlError, messageOf } from "../errors.ts";
import { newEventId } from "../ids.ts";
import { jsonText, readBack } from "../json.ts";
import { StateCache } from "./cache.ts";
import { Cascade, type EventObjectLike, type Faults } from "./cascade.ts";
import { systemClock } from "./clock.ts";
import { Dispatcher } from "./dispatch.ts";
import type { Draft } from "./draft.ts";
import { effectStep, isOpen } from "./effectRow.ts";
import type { Settlement } from "./attempt.ts";
import { EffectRunner } from "./effects.ts";
import { promiseExecution } from "./promises.ts";
import { withinBounds } from "./bounds.ts";
import type { ActorView } from "./definition.ts";
import { createDefinitions, unmigrated } from "./restore.ts";
import type { Change, Receipt, Runtime, RuntimeOptions, SendOptions } from "./runtime.ts";
import { settleEffect, type SettleEnv } from "./settle.ts";
import { faultOf, NotYetReadable, retryFault } from "./faulted.ts";
import { stopRoot } from "./stopTree.ts";
import { TimerService } from "./timers.ts";
import { valueOf } from "./values.ts";

/** Effects that run at once when nothing else is said. */
const defaultConcurrency = 256;

export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { store, executors } = options;
  const clock = options.clock ?? systemClock;
  let stamp = await store.lastAt();
  /** Never runs backwards: a clock set back moves nothing. */
  const now = (): number => (stamp = Math.max(stamp, clock.now()));

  const definitions = createDefinitions(options.definitions);
  const cache = new StateCache(store);
  const adopted = new Set<string>();
  const released = new Set<string>();
  let adoptsAll = false;
  const listeners = new Set<(change: Change) => void>();
  let halted: PawlError | null = null;
  let closing = false;

  const env: SettleEnv = {
    ...definitions,
    beforeMigration: once(async () => options.beforeMigration?.()),
    isAdopted: (root) => (adopted.has(root) || (adoptsAll && !released.has(root))) && !closing,
  };

  const tell = (change: Change): void => {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        onError(error);
      }
    }
  };
  const onError = (error: unknown): void => {
    if (options.onError) options.onError(error);
    else process.emitWarning(`Pawl runtime: ${messageOf(error)}`);
  };

  const dispatcher = new Dispatcher({
    store,
    reads: cache,
    onConflict: () => cache.clear(),
    onStorageError: (error) => {
      halted = error;
      options.onHalted?.(error);
    },
    onCommitted: (draft) => {
      cache.take(draft);
      for (const record of draft.own.effects.values()) {
        if (isOpen(record.state)) {
          if (env.isAdopted(record.root) && record.state === "planned") runner.start(record);
        }
        // What ended by its own result is over already; to abort it costs as much as a step.
        else if (record.state === "dropped" || record.state === "ambiguous") runner.abort(record.key, "cancelled");
      }
      for (const op of draft.own.timers.values()) if (op.op === "set") timers.note(op.timer.dueAt);
      for (const change of draft.changes) tell(change);
      for (const action of draft.volatile) {
        try {
          action();
        } catch (error) {
          onError(error);
        }
      }
    },
  });

  const submit = <T>(eventId: string, internal: boolean, compute: (draft: Draft, faults: Faults) => Promise<T>): Promise<T> => {
    if (halted) return Promise.reject(halted);
    return dispatcher.submit({ eventId, at: now(), internal, compute });
  };
  const cascade = (draft: Draft, faults: Faults): Cascade => new Cascade(draft, env, faults);

  const runner: EffectRunner = new EffectRunner({
    clock,
    now,
    random: options.random ?? Math.random,
    concurrency: options.effectConcurrency ?? defaultConcurrency,
    faults: options.faults,
    onError,
    executorOf: async (record) => executors[record.type] ?? (await promiseExecution(record, cache, definitions)),
    inputOf: (record) => valueOf(store, record.input),
    endProcess: async (process) => options.endProcess?.(process),
    line: (record, text) => tell({ kind: "line", effect: record.key, actor: record.actor, visit: record.visit, root: record.root, text, at: now() }),
    begin: (record) =>
      submit(`${record.key}:a${record.attempt}:begin`, true, async (draft) => {
        const current = await draft.effect(record.key);
        if (!current || current.attempt !== record.attempt || !isOpen(current.state)) return null;
        const next = record.once ? effectStep(current, { type: "effect.begun", attempt: record.attempt }) : { state: current.state };
        if (!next) return null;
        const begun: EffectRecord = { ...current, ...next, notBefore: null, updatedAt: draft.at };
        draft.putEffect(begun, current);
        return begun;
      }),
    saveProcess: (key, attempt, process) =>
      submit(`${key}:a${attempt}:process`, true, async (draft) => {
        const current = await draft.effect(key);
        if (!current || current.attempt !== attempt || !isOpen(current.state))
          throw new PawlError("stale", `Attempt ${attempt} of effect "${key}" is no longer open: its process must not start.`, { subject: key });
        draft.putEffect({ ...current, process, updatedAt: draft.at }, current);
      }),
    settle: (key, settlement) =>
      submit(`${key}:${settlement.event.type}${"attempt" in settlement.event ? `:a${settlement.event.attempt}` : ""}`, true, (draft, faults) =>
        settle(draft, faults, key, settlement),
      ),
  });

  const settle = (draft: Draft, faults: Faults, key: string, settlement: Settlement): Promise<EffectRecord | null> =>
    settleEffect(env, draft, faults, key, settlement);

  const timers: TimerService = new TimerService({
    clock,
    now,
    onError,
    nextDue: () => store.nextDue(),
    due: (until, limit) => store.due(until, limit),
    fire: (timer) => submit(`timer:${timer.actor}:${timer.key}:${timer.revision}`, true, (draft, faults) => fireTimer(draft, faults, timer)),
  });

  const fireTimer = async (draft: Draft, faults: Faults, timer: TimerRecord): Promise<void> => {
    const op = draft.timerOp(timer.actor, timer.key);
    if (op && (op.op === "clear" || op.timer.revision !== timer.revision)) return;
    if (!op && !(await store.timers(timer.actor)).some((stored) => stored.key === timer.key && stored.revision === timer.revision)) return;
    draft.requiresTimers.push({ actor: timer.actor, key: timer.key, revision: timer.revision });
    draft.putTimer({ op: "clear", actor: timer.actor, key: timer.key });
    await cascade(draft, faults).sendInternal(timer.to, readBack<EventObjectLike>(timer.event));
  };

  /** Takes up what an earlier owner left open. */
  const takeUp = async (root: string | null): Promise<void> => {
    const among = root === null ? {} : { root };
    for await (const record of everyEffect(store, { ...among, state: ["planned", "attempting"] })) {
      if (record.notBefore === null) runner.recover(record);
      else runner.start(record);
    }
    for await (const record of everyEffect(store, { ...among, state: ["ambiguous"] })) {
      // One whose machine is gone is told, and keeps nobody else waiting.
      const isObservable = await runner.isObservable(record).catch((error: unknown) => {
        onError(error);
        return false;
      });
      if (isObservable) void runner.look(record).catch(onError);
    }
  };

  const quiet = async (): Promise<void> => {
    while (!dispatcher.isIdle || !runner.isIdle || !timers.isIdle) {
      await runner.idle();
      await timers.idle();
      await dispatcher.idle();
    }
  };

  const runtime: Runtime = {
    start: (machineId, { id, version, input, eventId, blobs }) =>
      submit(eventId ?? newEventId(now()), false, async (draft, faults): Promise<Receipt> => {
        const existing = await draft.actor(id);
        if (existing) {
          const known = eventId === undefined ? null : await draft.inbox(id, eventId);
          if (known?.fingerprint === fingerprintOf("pawl.start", { machineId, input })) return { ...readBack<Receipt>(known.receipt), status: "duplicate" };
          return { status: "refused", actor: id, revision: existing.record.revision, code: "keyReused" };
        }
        const definition = version === undefined ? options.definitions.latest(machineId) : await options.definitions.find(machineId, version);
        if (!definition)
          throw new PawlError(
            "unknownMachine",
            `No machine "${machineId}"${version === undefined ? "" : ` version ${version}`} is registered. Registered: ${options.definitions.names().join(", ") || "none"}.`,
            { subject: machineId },
          );
        for (const bytes of blobs ?? []) draft.storeBytes(bytes);
        await cascade(draft, faults).start({ id, definition, input, parent: null, childKey: null, systemId: null });
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
      }),

    send: (actor, event, sendOptions = {}) =>
      submit(sendOptions.eventId ?? newEventId(now()), false, (draft, faults) => send(draft, faults, actor, event, sendOptions)),

    view: async (actor) => {
      const held = await cache.actor(actor);
      return held ? storedView(held.record) : null;
    },

    confirmEffect: (key, outcome) => byPerson(key, { type: "effect.confirm" }, outcome),
    retryEffect: (key) => byPerson(key, { type: "effect.retry" }),

    observeEffect: async (key) => {
      const [record] = await store.effects([key]);
      if (record === undefined) throw unknownEffect(key);
      if (record.state !== "ambiguous") throw notAmbiguous(record);
      await runner.look(record);
      const [after] = await store.effects([key]);
      return after ?? record;
    },

    recover: async () => {
      for await (const record of unmigrated(store, options.definitions))
        await submit(`${record.id}:${record.machineVersion}`, true, async (draft, faults) => {
          const held = await draft.actor(record.id);
          if (held?.record.status === "active") await cascade(draft, faults).ready(held);
        }).catch(onError);
      await timers.start();
    },

    adopt: async (root) => {
      if (env.isAdopted(root)) return;
      adopted.add(root);
      released.delete(root);
      await takeUp(root);
    },

    adoptAll: async () => {
      if (adoptsAll) return;
      adoptsAll = true;
      released.clear();
      await takeUp(null);
    },

    release: async (root) => {
      adopted.delete(root);
      released.add(root);
      await runner.release(root);
    },

    stop: (actor) => submit(newEventId(now()), false, (draft) => stopRoot(env, draft, actor)),

    fault: async (actor) => {
      const held = await cache.actor(actor);
      return held?.record.status === "faulted" ? faultOf(store, held.record) : null;
    },

    retryFault: async (actor) => {
      for (;;) {
        try {
          return await submit(newEventId(now()), false, (draft, faults) => retryFault(env, store, draft, faults, actor));
        } catch (error) {
          if (!(error instanceof NotYetReadable)) throw error;
        }
      }
    },

    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    settled: (bounds = {}) => withinBounds(quiet(), bounds, () => "The runtime did not come to rest"),

    close: async () => {
      closing = true;
      timers.close();
      await runner.close();
      await dispatcher.idle();
      listeners.clear();
    },
  };

  const send = async (draft: Draft, faults: Faults, actor: string, given: EventObjectLike, { eventId, expectedRevision }: SendOptions): Promise<Receipt> => {
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
    const definition = await definitions.definitionOf(record);
    const parsed = definition.parseEvent ? definition.parseEvent(given) : given;
    const text = jsonText(parsed, `event "${given.type}"`);
    const event = readBack<EventObjectLike>(text);
    const answer = async (): Promise<Receipt> => {
      if (expectedRevision !== undefined && expectedRevision !== record.revision) return { status: "refused", actor, revision: record.revision, code: "stale" };
      const { type, ...payload } = event;
      const delivered = await cascade(draft, faults).send(actor, event, Object.keys(payload).length === 0 ? null : draft.store(payload, `event "${type}"`));
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
    if (eventId !== undefined || receipt.status === "refused")
      draft.putInbox({
        actor,
        eventId: eventId ?? draft.eventId,
        fingerprint: fingerprint(),
        receipt: JSON.stringify(receipt),
        event: receipt.status === "applied" ? null : draft.storeText(text),
        at: draft.at,
      });
    return receipt;
  };

  const byPerson = (key: string, event: EffectEvent, outcome?: { readonly output: unknown; readonly value?: unknown }): Promise<EffectRecord> =>
    submit(newEventId(now()), false, async (draft, faults) => {
      const before = await draft.effect(key);
      if (!before) throw unknownEffect(key);
      const after = await settle(draft, faults, key, { event, ...(outcome ? { outcome } : {}) });
      if (!after) throw notAmbiguous(before);
      return after;
    });

  return runtime;
}

const unknownEffect = (key: string): PawlError =>
  new PawlError("unknownEffect", `There is no effect "${key}". "pawl effect list" shows those with an unknown outcome.`, { subject: key });

const notAmbiguous = ({ key, state }: EffectRecord): PawlError =>
  new PawlError("refused", `Effect "${key}" is ${state}: only an ambiguous effect waits for a person's word. Nothing was changed.`, { subject: key });

async function* everyEffect(store: Store, filter: Projections["effects"]["filter"]): AsyncGenerator<EffectRecord> {
  for (let cursor: string | undefined; ;) {
    const page: Page<EffectRecord> = await store.query("effects", filter, { limit: 500, cursor });
    yield* page.items;
    if (page.cursor === null) return;
    cursor = page.cursor;
  }
}

/** An actor's stored snapshot as readers see it. */
function storedView(record: ActorRecord): ActorView {
  const { value, context, output, error } = JSON.parse(record.snapshot) as { value: unknown; context: unknown; output?: unknown; error?: unknown }; // what `persist` wrote
  return { record, value, context, output, error };
}

/** Does it at the first call; all calls get that one's end. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}

const fingerprintOf = (type: string, payload: unknown): string => sha256Hex(`${type}\n${jsonText(payload, `event "${type}"`)}`);

/** Puts the runtime together: reads and their cache, dispatches of events, results and timers, and what follows a commit. */
import type { EffectRecord, Page, Projections, Store, TimerRecord } from "../../persistence/store.ts";
import type { EffectEvent } from "../../machines/effectMachine.ts";
import { isPawlError, PawlError, messageOf } from "../errors.ts";
import { newEventId } from "../ids.ts";
import { readBack } from "../json.ts";
import { StateCache } from "./cache.ts";
import { Cascade, type EventObjectLike, type Faults } from "./cascade.ts";
import { systemClock } from "./clock.ts";
import { viewOf } from "./definition.ts";
import { Dispatcher } from "./dispatch.ts";
import type { Draft } from "./draft.ts";
import { effectStep, isOpen } from "./effectRow.ts";
import type { Settlement } from "./attempt.ts";
import { EffectRunner } from "./effects.ts";
import { promiseExecution } from "./promises.ts";
import { withinBounds } from "./bounds.ts";
import { createDefinitions, unmigrated } from "./restore.ts";
import { sendEvent, startActor } from "./outside.ts";
import { storedView } from "./storedView.ts";
import type { Change, Runtime, RuntimeOptions } from "./runtime.ts";
import { settleEffect, type SettleEnv } from "./settle.ts";
import { faultOf, NotYetReadable, retryFault } from "./faulted.ts";
import { stopRoot } from "./stopTree.ts";
import { TimerService } from "./timers.ts";
import { valueOf } from "./values.ts";

/** Effects that run at once when nothing else is said. */
const defaultConcurrency = 256;

/** How often a faulted actor is tried again whose latest journal rows are not there yet. */
const readableTries = 5;

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
    // Left by a runtime that closes: it is stored what it was about, and whoever opens next goes on with it.
    if (closing && isPawlError(error) && error.code === "closed") return;
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

  const submit = <T>(eventId: string, internal: boolean, compute: (draft: Draft, faults: Faults) => Promise<T>, onAside?: () => void): Promise<T> => {
    if (halted) return Promise.reject(halted);
    return dispatcher.submit({ eventId, at: now(), internal, compute, ...(onAside ? { onAside } : {}) });
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
    fire: (timer, aside) => submit(`timer:${timer.actor}:${timer.key}:${timer.revision}`, true, (draft, faults) => fireTimer(draft, faults, timer), aside),
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
      // Nobody looks for it while the runtime closes: the next one does.
      if (isObservable) void runner.look(record).catch((error: unknown) => void (closing || onError(error)));
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
    start: (machineId, start) =>
      submit(start.eventId ?? newEventId(now()), false, (draft, faults) => startActor(env, options.definitions, draft, faults, machineId, start)),

    send: (actor, event, sendOptions = {}) =>
      submit(sendOptions.eventId ?? newEventId(now()), false, (draft, faults) => sendEvent(env, draft, faults, actor, event, sendOptions)),

    sendFound: (eventId, find) =>
      submit(eventId, false, async (draft, faults) => {
        const { actor, event } = await find();
        return sendEvent(env, draft, faults, actor, event, { eventId });
      }),

    view: async (actor) => {
      const held = await cache.actor(actor);
      return held ? storedView(held.record) : null;
    },

    peek: async (actor) => {
      const held = await cache.actor(actor);
      if (!held) return null;
      return held.hydrated ? viewOf(held.record, held.hydrated.snapshot) : storedView(held.record);
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
      for (let tries = 1; ; tries += 1) {
        try {
          return await submit(newEventId(now()), false, (draft, faults) => retryFault(env, store, draft, faults, actor));
        } catch (error) {
          if (!(error instanceof NotYetReadable)) throw error;
          if (tries === readableTries)
            throw new PawlError(
              "storageDamaged",
              `The journal of actor "${actor}" does not hold what it was kept. Stop the actor, or restore a backup of the state directory.`,
              { subject: actor, cause: error },
            );
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
      await dispatcher.close();
      listeners.clear();
    },
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

/** Does it at the first call; all calls get that one's end. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}

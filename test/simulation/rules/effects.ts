/** SIM-3, SIM-4, SIM-9, SIM-23: the life of every effect, beside what really happened outside. */
import type { EffectRecord, EffectState } from "../../../persistence/store.ts";
import { must, Violation, type Rule } from "../core/world.ts";
import type { Observer } from "../parts/observer.ts";
import type { Outside } from "../parts/outside.ts";
import type { Person } from "../parts/person.ts";
import { read, type ToldEffect } from "./chronicle.ts";
import type { Replay } from "./replay.ts";
import type { State } from "./state.ts";

/** What is promised of steps, whatever the row says. */
const interruptedAtMost: { readonly [type: string]: number | undefined } = {
  "pawl.action": 3,
  "pawl.shell": 3,
  "pawl.decision.prepare": 3,
  "pawl.run.prepare": 2,
};
const openStates: readonly EffectState[] = ["planned", "attempting"];
const finalStates: readonly EffectState[] = ["confirmed", "failed", "dropped"];

export class EffectBook implements Rule {
  /** Effects with an unknown outcome now. */
  readonly ambiguous = new Set<string>();
  private readonly state: State;
  private readonly replay: Replay;
  private readonly outside: Outside;
  private readonly person: Person;
  private readonly observer: Observer | null;
  /** As they were at the last look, in the order in which they were asked for. */
  private readonly known = new Map<string, EffectRecord>();
  private readonly unsettled = new Set<string>();

  constructor(state: State, replay: Replay, outside: Outside, person: Person, observer: Observer | null) {
    this.state = state;
    this.replay = replay;
    this.outside = outside;
    this.person = person;
    this.observer = observer;
  }

  /** Effects that may still be worked on. */
  get open(): readonly EffectRecord[] {
    return [...this.unsettled].flatMap((key) => this.known.get(key) ?? []);
  }

  async atEnd(): Promise<void> {
    for (const { key, state, attempt } of this.open) throw new Violation("SIM-13", `effect ${key} never came to its end, it is ${state} at attempt ${attempt}`);
    for (const record of await this.state.everyEffect()) {
      must(this.replay.effects.has(record.key), "SIM-7", () => `effect ${record.key} is stored and nothing asked for it`);
      must(
        JSON.stringify(record) === JSON.stringify(this.known.get(record.key)),
        "SIM-9",
        () => `effect ${record.key} changed without a commit: ${JSON.stringify(record)}`,
      );
    }
  }

  /** Looks at every effect that was open, and at those that were asked for since. */
  async follow(): Promise<void> {
    const asked = [...this.replay.effects.keys()].slice(this.known.size);
    const records = await this.state.store.effects([...this.open.map(({ key }) => key), ...asked]);
    for (const record of records) {
      const told = this.replay.effects.get(record.key);
      must(told !== undefined, "SIM-7", () => `effect ${record.key} is stored and nothing asked for it`);
      await this.compare(record, told);
      this.known.set(record.key, record);
      if (record.state === "ambiguous") this.ambiguous.add(record.key);
      else this.ambiguous.delete(record.key);
      if (finalStates.includes(record.state)) this.unsettled.delete(record.key);
      else this.unsettled.add(record.key);
    }
    for (const key of asked) must(this.known.has(key), "SIM-7", () => `effect ${key} was asked for and is not stored`);
  }

  private async compare(record: EffectRecord, told: ToldEffect): Promise<void> {
    const before = this.known.get(record.key);
    const { key, state, attempt } = record;
    must(
      record.type === told.type && record.invokeId === told.invokeId && record.actor === told.actor,
      "SIM-7",
      () => `effect ${key} is stored as ${record.type} of ${record.actor}, asked for was ${told.type} of ${told.actor}`,
    );
    if (before && finalStates.includes(before.state)) {
      must(
        JSON.stringify(before) === JSON.stringify(record),
        "SIM-9",
        () => `effect ${key} was ${before.state}, and is now ${state}: ${JSON.stringify(record)}`,
      );
      return;
    }
    must(!before || attempt >= before.attempt, "SIM-3", () => `effect ${key} went from attempt ${String(before?.attempt)} back to ${attempt}`);
    const isOpen = state === "planned" || state === "attempting";
    if (told.dropped) must(!isOpen, "SIM-7", () => `effect ${key} is ${state}, though nobody waits for it any more`);
    if (told.end !== null)
      must(state === (told.end === "done" ? "confirmed" : "failed"), "SIM-3", () => `effect ${key} is ${state}, and its actor was told that it is ${told.end}`);
    const isWanted = told.invokeId !== null && !told.dropped && this.replay.actors.get(told.actor)?.status === "active";
    if (isWanted && told.end === null)
      must(state !== "confirmed" && state !== "failed", "SIM-3", () => `effect ${key} is ${state}, and its actor was not told`);
    if (before) this.wasLost(before, record, told);
    const retries = this.person.retried(key);
    if (record.once) {
      const times = this.outside.happened(record.idempotencyKey);
      must(times <= 1 + retries, "SIM-4", () => `the once effect ${key} happened ${times} times; a person asked for it again ${retries} times`);
      const begun = this.outside.calls.find(
        (call) => (call.key === key || call.key === record.visit) && call.attempt === attempt && call.outcome === null && call.life.alive,
      );
      must(
        begun === undefined || state !== "planned",
        "SIM-4",
        () => `attempt ${attempt} of the once effect ${key} is being made, and the row says that it did not begin`,
      );
    }
    if (state === "confirmed") await this.wasAnswered(record);
  }

  /** SIM-23: what becomes of an attempt whose process was lost while its host lived. */
  private wasLost(before: EffectRecord, now: EffectRecord, { dropped }: ToldEffect): void {
    const { key, state, attempt, interruptions, once } = now;
    const policy = JSON.parse(now.policy) as { readonly maxInterrupted: number | null }; // EffectPolicy
    const maxInterrupted = interruptedAtMost[now.type] ?? policy.maxInterrupted;
    // A person may ask for a `once` effect again as often as they like.
    if (maxInterrupted !== null && !once) {
      must(interruptions <= maxInterrupted, "SIM-23", () => `effect ${key} was interrupted ${interruptions} times, ${maxInterrupted} are allowed`);
      const mayGoOn = interruptions < maxInterrupted || !openStates.includes(state);
      must(mayGoOn, "SIM-23", () => `effect ${key} is ${state} after ${interruptions} interruptions, the last that are allowed`);
    }
    if (!openStates.includes(before.state) || !this.outside.lost.has(`${key} ${before.attempt}`)) return;
    if ((state === before.state && attempt === before.attempt) || state === "dropped") return;
    const gaveUp = state === "failed" && now.error?.reason === "workerCrashed";
    // What was looked for outside is settled by what was seen, and what nobody waits for any more is left.
    const isLeft = dropped || this.observer?.isAsked(key) === true;
    must(
      isLeft || interruptions > before.interruptions || gaveUp,
      "SIM-23",
      () => `attempt ${before.attempt} of ${key} lost its process, and that was not counted`,
    );
    must(
      state !== "confirmed" || attempt > before.attempt || this.observer?.seen.has(key) === true || this.person.spokeOf(key),
      "SIM-23",
      () => `effect ${key} is confirmed by attempt ${attempt}, whose process was lost`,
    );
    if (once && before.state === "attempting") {
      const isSettled = state === "ambiguous" || this.person.spokeOf(key) || this.observer?.isAsked(key) === true;
      must(isSettled, "SIM-23", () => `the once effect ${key} lost its process when it had begun, and is ${state}`);
    }
  }

  /** A result is that of the attempt which was open, or a person's word. */
  private async wasAnswered(record: EffectRecord): Promise<void> {
    const { key, attempt } = record;
    const output = record.output === null ? null : await read(this.state.store, record.output);
    if (this.person.confirmed(key, output)) return;
    if (typeof output !== "object" || output === null || !("serial" in output)) return;
    const call = this.outside.calls[Number(output.serial) - 1];
    must(
      call !== undefined && (call.attempt === null || call.key === key || call.key === record.visit),
      "SIM-3",
      () => `effect ${key} has the result of another: ${JSON.stringify(output)}`,
    );
    if (this.observer?.seen.has(key)) {
      must(call.reached, "SIM-3", () => `effect ${key} has the result of call ${call.id}, which did not happen`);
      return;
    }
    must(call.outcome === "ok", "SIM-3", () => `effect ${key} has the result of call ${call.id}, which gave none (${String(call.outcome)})`);
    must(
      call.attempt === null || call.attempt === attempt,
      "SIM-3",
      () => `effect ${key} is at attempt ${attempt}, and has the result of attempt ${String(call.attempt)}`,
    );
  }
}

/** Steps that were asked for and are answered elsewhere. A step is decided by what it is made of (snapshot, event, names), so that an answer that
 *  came may be used whenever the same is asked again; a dispatch that needs one is computed anew until all of its answers are known.
 *  One question at a time for each actor. */
import { sha256Hex } from "../digest.ts";
import type { StepAnswer, StepRequest } from "./stepWire.ts";

/** Answers at once, or later. @throws what the machine throws, and that nobody could answer */
export type Ask = (request: StepRequest) => StepAnswer | Promise<StepAnswer>;

interface Known {
  /** The time of the event; null where it has none. */
  readonly at: number | null;
  readonly weight: number;
  readonly end: { readonly answer: StepAnswer } | { readonly error: unknown };
  /** Whoever asked has taken it: until then it stays, however large it is, or nothing would come of asking. */
  isTaken: boolean;
}

/** Characters of answers that are kept, and what each counts besides. */
const keptUnits = 16 * 1024 * 1024;
const ownUnits = 256;
/** So much of what nobody has taken is kept besides: its dispatch may be gone. */
const untakenUnits = 8 * keptUnits;

export class AskedSteps {
  /** Oldest first. */
  private readonly known = new Map<string, Known>();
  private units = 0;
  private readonly open = new Map<string, Promise<StepAnswer>>();
  /** The latest question of each actor that has an open one. */
  private readonly lines = new Map<string, Promise<unknown>>();

  /** `at` stands in `given`; it counts only if the machine reads it. */
  answer(ask: Ask, request: StepRequest, at: number | null): StepAnswer | Promise<StepAnswer> {
    const content = contentOf(request, at);
    const known = this.known.get(content);
    if (known && (known.at === at || !readsTime(known))) {
      known.isTaken = true;
      if ("answer" in known.end) return known.end.answer;
      // Told once: whoever asks again wants to know anew.
      this.forget(content);
      throw known.end.error;
    }
    const name = `${content} ${String(at)}`;
    const open = this.open.get(name);
    if (open) return open;
    const before = this.lines.get(request.actor);
    const asked = before ? before.then(() => ask(request)) : ask(request);
    if (!(asked instanceof Promise)) return asked;
    const answered = asked
      .then(
        (answer): Known => ({ at, weight: ownUnits + ("json" in answer ? answer.json.length : 0), end: { answer }, isTaken: false }),
        (error: unknown): Known => ({ at, weight: ownUnits, end: { error }, isTaken: false }),
      )
      .then((end) => {
        this.open.delete(name);
        if (this.lines.get(request.actor) === line) this.lines.delete(request.actor);
        this.keep(content, end);
        if ("answer" in end.end) return end.end.answer;
        throw end.end.error;
      });
    const line = answered.catch(() => undefined);
    this.open.set(name, answered);
    this.lines.set(request.actor, line);
    return answered;
  }

  private keep(content: string, known: Known): void {
    this.forget(content);
    this.known.set(content, known);
    this.units += known.weight;
    for (const [oldest, { isTaken }] of this.known) {
      if (this.units <= keptUnits) return;
      if (oldest !== content && (isTaken || this.units > untakenUnits)) this.forget(oldest);
    }
  }

  private forget(content: string): void {
    this.units -= this.known.get(content)?.weight ?? 0;
    this.known.delete(content);
  }
}

const readsTime = ({ end }: Known): boolean => "answer" in end && end.answer.kind === "stepped" && end.answer.usesTime;

/** What decides a step, but for its event's time. */
function contentOf({ actor, key, names, from, given }: StepRequest, at: number | null): string {
  const timeless = at === null ? given : given.replace(`"at":${at}`, `"at":0`);
  return sha256Hex(JSON.stringify([actor, key, names, from, timeless]));
}

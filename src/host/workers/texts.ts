/** The JSON texts of a call: each is sent once while both sides keep it. Both keep the same ones, because both see the same texts in the same order. */
import { WeightedCache } from "../weightedCache.ts";
import type { StoredResult, StoredRun, VisitCall } from "../author/authorCode.ts";
import type { PromiseCall } from "../author/authorMachine.ts";
import type { Body } from "./messages.ts";

/** Characters that are kept on the worker's side. */
const keptUnits = 16 * 1024 * 1024;

export interface Text {
  /** The same key always means the same text; null for one that does not come again. */
  readonly key: string | null;
  readonly json: string;
}

const weightOf = (key: string, json: string): number => key.length + json.length;

/** The host's side: what the worker has. */
export class SentTexts {
  private readonly kept: WeightedCache<true>;

  constructor(limit = keptUnits) {
    this.kept = new WeightedCache(limit);
  }

  /** The message for a text; call it in the order of sending. */
  messageFor({ key, json }: Text): { readonly kind: "text"; readonly key: string; readonly json: string | null } {
    if (key === null) return { kind: "text", key: "", json };
    if (this.kept.get(key) === true) return { kind: "text", key, json: null };
    this.kept.set(key, true, weightOf(key, json));
    return { kind: "text", key, json };
  }
}

/** The worker's side. */
export class ReceivedTexts {
  private readonly kept: WeightedCache<string>;
  private pending: string[] = [];

  constructor(limit = keptUnits) {
    this.kept = new WeightedCache(limit);
  }

  add(key: string, json: string | null): void {
    const text = json ?? this.kept.get(key);
    if (text === undefined) throw new Error(`The text "${key}" was never sent.`);
    if (json !== null && key !== "") this.kept.set(key, json, weightOf(key, json));
    this.pending.push(text);
  }

  /** Those that came since the last call. */
  take(): readonly string[] {
    const taken = this.pending;
    this.pending = [];
    return taken;
  }
}

type WireRun = Body<"ready">["call"];
type WireVisit = Body<"execute">["call"];

const inputText = ({ run, input }: StoredRun): Text => ({ key: `${input.isParsed ? "parsed" : "given"} ${input.of ?? run}`, json: input.json });

const ofVisit = ({ of }: { readonly of?: string | undefined }): { readonly of?: string } => (of === undefined ? {} : { of });

export function packRun(stored: StoredRun): { readonly call: WireRun; readonly texts: readonly Text[] } {
  const { source, graph, cwd, run, input } = stored;
  return { call: { source, graph, cwd, run, input: { text: 0, isParsed: input.isParsed, ...ofVisit(input) } }, texts: [inputText(stored)] };
}

export function packVisit(visitCall: VisitCall): { readonly call: WireVisit; readonly texts: readonly Text[] } {
  const { node, visit, attempt, idempotencyKey, now } = visitCall;
  const { call, texts: first } = packRun(visitCall);
  const texts = [...first];
  const results: WireVisit["results"] = {};
  for (const [name, result] of Object.entries(visitCall.results)) {
    if (result.status === "accepted") {
      results[name] = { status: "accepted", visit: result.visit, text: texts.length };
      texts.push({ key: result.visit, json: result.json });
    } else results[name] = { status: result.status, visit: result.visit, error: { reason: result.error.reason, message: result.error.message } };
  }
  return { call: { ...call, node, visit, attempt, idempotencyKey, now, results }, texts };
}

export function textAt(texts: readonly string[], place: number): string {
  const text = texts[place];
  if (text === undefined) throw new Error(`A call names text ${place}, but ${texts.length} came with it.`);
  return text;
}

export function unpackRun({ input, ...call }: WireRun, texts: readonly string[]): StoredRun {
  return { ...call, input: { json: textAt(texts, input.text), isParsed: input.isParsed, ...ofVisit(input) } };
}

export function unpackVisit({ input, results, ...call }: WireVisit, texts: readonly string[]): VisitCall {
  const read: { [node: string]: StoredResult } = {};
  for (const [name, result] of Object.entries(results))
    read[name] = result.status === "accepted" ? { status: result.status, visit: result.visit, json: textAt(texts, result.text) } : result;
  return { ...call, input: { json: textAt(texts, input.text), isParsed: input.isParsed, ...ofVisit(input) }, results: read };
}

export function packPromise({ src, input, key, idempotencyKey, attempt }: PromiseCall): {
  readonly call: Body<"promise">["call"];
  readonly texts: readonly Text[];
} {
  const call = { src, key, idempotencyKey, attempt };
  return input === undefined ? { call, texts: [] } : { call: { ...call, input: 0 }, texts: [{ key: null, json: JSON.stringify(input) }] };
}

export function unpackPromise({ input, ...call }: Body<"promise">["call"], texts: readonly string[]): PromiseCall {
  return { ...call, input: input === undefined ? undefined : JSON.parse(textAt(texts, input)) };
}

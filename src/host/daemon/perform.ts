/** A request of a client, done on the host. Each way of changing something carries what makes it safe to be asked twice. */
import { PawlError } from "../../errors.ts";
import type { EffectView, RunView } from "../api.ts";
import type { DaemonHost } from "../embedded.ts";
import type { ParsedRequest } from "../protocol/messages.ts";
import type { Ledger } from "./ledger.ts";

/** Requests that need no host, but the connection they came over. */
export type OwnRequest = Extract<ParsedRequest, { kind: "subscribe" | "unsubscribe" | "abandon" | "status" | "stop" }>;
export type HostRequest = Exclude<ParsedRequest, OwnRequest>;

export interface Asking {
  readonly client: string;
  readonly id: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export function perform(request: HostRequest, host: DaemonHost, ledger: Ledger, { client, id, signal }: Asking): Promise<unknown> {
  const once = <T>(work: () => Promise<T>, again?: (value: T) => Promise<T>): Promise<T> => ledger.once(client, id, request, work, again);
  // A run's view may be large: it is read anew instead of being kept.
  const onceRun = (work: () => Promise<RunView>): Promise<RunView> => onceThen(once, work, host);
  /** Stored with what it changed: another host knows it too. */
  const key = `${client} ${id}`;
  switch (request.kind) {
    case "runs":
      return host.runs(request.body.filter, request.body.page);
    case "run":
      return host.run(request.body.id);
    case "decisions":
      return host.decisions(request.body.filter, request.body.page);
    case "decision":
      return host.decision(request.body.decision);
    case "audit":
      return host.audit(request.body.decision);
    case "updates":
      return host.updates(request.body.filter, request.body.page);
    case "effects":
      return host.effects(request.body.filter, request.body.page);
    case "effect":
      return host.effect(request.body.key);
    case "start":
      return once(() => host.start(request.body));
    case "answer":
      return once(() => host.answer(request.body));
    case "answerCheckpoint":
      return once(() => host.answerCheckpoint(request.body));
    case "cancel":
      return onceRun(() => host.cancel(request.body.id, request.body.by));
    case "pause":
      return onceRun(() => host.pause(request.body.id, key));
    case "resume":
      return onceRun(() => host.resume(request.body.id, key));
    case "hold":
      return onceRun(() => host.hold(request.body.id, key));
    case "adoptRun":
      return onceRun(() => host.adoptRun(request.body.id, request.body.session, key));
    case "confirmEffect":
      return once(() => settle(host, request.body, "confirmed", () => host.confirmEffect(request.body.key, request.body.output)));
    case "retryEffect":
      return once(() => settle(host, request.body, "retried", () => host.retryEffect(request.body.key)));
    case "wait":
      return host.drive(request.body.id, { signal });
  }
}

async function onceThen(
  once: (work: () => Promise<RunView>, again: (value: RunView) => Promise<RunView>) => Promise<RunView>,
  work: () => Promise<RunView>,
  host: DaemonHost,
): Promise<RunView> {
  let run = "";
  return once(
    async () => {
      const view = await work();
      run = view.id;
      return view;
    },
    (view) => host.run(run === "" ? view.id : run),
  );
}

/**
 * Settles an ambiguous effect, if it is still the attempt that was spoken of. The attempt is stored with the effect: a request that
 * comes again, even to another host, finds that it was done and does nothing.
 */
async function settle(
  host: DaemonHost,
  { key, attempt }: { readonly key: string; readonly attempt: number },
  how: "confirmed" | "retried",
  work: () => Promise<EffectView>,
): Promise<EffectView> {
  const effect = await host.effect(key);
  if (how === "retried" && effect.attempt === attempt + 1) return effect;
  if (how === "confirmed" && effect.attempt === attempt && effect.state === "confirmed") return effect;
  if (effect.attempt !== attempt)
    throw new PawlError(
      "stale",
      `Effect "${key}" has gone on since: it is at attempt ${effect.attempt}, not ${attempt}. Look at it again: \`pawl effect list\``,
      {
        subject: key,
      },
    );
  return work();
}

/** An answer to a checkpoint: found by its run, validated by the node's own schema, and taken once. CHK-2, CHK-3. */
import type { CheckpointAnswered, CheckpointNodeContext } from "../../machines/nodes/checkpointNode.ts";
import type { ActorRecord, Store } from "../../persistence/store.ts";
import { canonicalJson, sha256Hex } from "../digest.ts";
import { messageOf, PawlError } from "../errors.ts";
import { newEventId } from "../ids.ts";
import { jsonText } from "../json.ts";
import type { ActorView } from "../runtime/definition.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { nodePath } from "../visitNames.ts";
import type { Executed } from "../workflow/execute.ts";
import type { CheckpointAnswer, CheckpointResult } from "./api.ts";
import { runState } from "./runState.ts";
import { readView, viewOfRecord } from "./snapshots.ts";
import { everyPage } from "./values.ts";

/** An answer stands in the checkpoint's own snapshot; what is larger belongs into a file. */
const answerBytes = 1024 * 1024;

export interface CheckpointHost {
  readonly store: Pick<Store, "load" | "query">;
  readonly runtime: Pick<Runtime, "send">;
  /** What the node's schema and rules make of an answer to this visit. @throws what they throw */
  readonly accept: (view: ActorView, output: unknown) => Promise<Executed>;
  readonly now: () => number;
}

/** `run` is a full id. @throws refused when nothing of it waits for an answer; invalidInput with the path for one that does not fit */
export async function answerCheckpoint(host: CheckpointHost, run: string, request: CheckpointAnswer): Promise<CheckpointResult> {
  const key = request.idempotencyKey ?? newEventId(host.now());
  const given = digestOf(request.output);
  const view = await findCheckpoint(host.store, run, request.visit, key);
  const before = settled(view, key, given);
  if (before !== null) return before;
  const accepted = await host.accept(view, request.output).catch((error: unknown) => {
    throw new PawlError("invalidInput", `The answer was not taken: ${messageOf(error)} Checkpoint "${nodePath(view.record.id)}" of run ${run} still waits.`, {
      subject: view.record.id,
      path: pathIn(error),
      cause: error,
    });
  });
  const answer: CheckpointAnswered = { type: "checkpoint.answered", case: accepted.case, value: accepted.value, given, key, source: { ...request.source } };
  const receipt = await host.runtime.send(view.record.id, answer, { eventId: `answer:${key}` });
  const after = (await readView(host.store, view.record.id)) ?? view;
  if (receipt.status === "applied") return { status: "accepted", code: null, message: "The answer is saved.", visit: after.record.id };
  // Somebody was faster, or the step is over.
  return settled(after, key, given) ?? refusedAs(after, "refused", "It takes no answer now.");
}

/** @throws invalidInput for what JSON cannot carry, and for what is too large */
function digestOf(output: unknown): string {
  const bytes = Buffer.byteLength(jsonText(output, "answer"));
  if (bytes > answerBytes)
    throw new PawlError(
      "invalidInput",
      `The answer has ${bytes} bytes of JSON; the limit is ${answerBytes}. Write it to a file and answer with its path. Nothing was changed.`,
      {
        path: "",
      },
    );
  return sha256Hex(canonicalJson(output, "answer"));
}

/** The checkpoint that is named, or that has this very answer already, or that the run waits at. */
async function findCheckpoint(store: CheckpointHost["store"], run: string, visit: string | undefined, key: string): Promise<ActorView> {
  const views = (await checkpointsOf(store, run)).map(viewOfRecord);
  const found =
    visit === undefined
      ? (views.find((view) => contextOf(view).answer?.key === key) ?? views.find(({ record, value }) => record.status === "active" && value === "waiting"))
      : views.find(({ record }) => record.id === visit);
  if (found) return found;
  const view = await readView(store, run);
  throw new PawlError(
    "refused",
    visit === undefined
      ? `Run ${run} is ${view === null ? "gone" : runState(view)} and waits at no checkpoint. Look at it: \`pawl show ${run}\``
      : `Run ${run} has no checkpoint "${visit}". Look at it: \`pawl show ${run}\``,
    { subject: run },
  );
}

async function checkpointsOf(store: CheckpointHost["store"], run: string): Promise<readonly ActorRecord[]> {
  const found: ActorRecord[] = [];
  for await (const rows of everyPage((cursor) => store.query("actors", { root: run, machineId: "checkpoint" }, { limit: 500, cursor }))) found.push(...rows);
  return found;
}

/** A checkpoint's context. Only for views of such. */
const contextOf = (view: ActorView): CheckpointNodeContext => view.context as CheckpointNodeContext; // found by the machine's id

/** The verdict of a checkpoint that is over; null while it waits. */
function settled(view: ActorView, key: string, given: string): CheckpointResult | null {
  if (view.record.status === "active") return null;
  const { answer } = contextOf(view);
  if (answer === null) return refusedAs(view, "cancelled", "It is over without an answer.");
  const when = `on ${new Date(answer.at)
    .toISOString()
    .replace("T", " at ")
    .replace(/\.\d+Z$/, " UTC")}`;
  if (answer.key === key)
    return answer.given === given
      ? { status: "duplicate", code: null, message: `The same answer was saved ${when}.`, visit: view.record.id }
      : refusedAs(view, "keyReused", `The key "${key}" was used for another answer ${when}. Use a new key for a new answer.`);
  return refusedAs(view, "alreadyAnswered", `It was answered ${when} by ${answer.source.actor} (${answer.source.channel}); an answer is not changed.`);
}

const refusedAs = (view: ActorView, code: string, why: string): CheckpointResult => ({
  status: "refused",
  code,
  message: `Checkpoint "${nodePath(view.record.id)}" of run ${view.record.root}: ${why}`,
  visit: view.record.id,
});

/** The wrong field, as a schema's issue names it. */
const pathIn = (error: unknown): string =>
  typeof error === "object" && error !== null && "path" in error && typeof error.path === "string" ? error.path : "output";

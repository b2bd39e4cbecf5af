/** Saves a new run: its id, input, graph and sources in one commit, before anybody is told the id. */
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { prunedEventId } from "../../persistence/prune.ts";
import { inlineLimitBytes, type RunRow, type Store } from "../../persistence/store.ts";
import { runMachine, type RunInput, type ValueRef } from "../../machines/runMachine.ts";
import { canonicalJson, sha256Hex } from "../digest.ts";
import { PawlError } from "../errors.ts";
import { newRunId, ulid } from "../ids.ts";
import { jsonText } from "../json.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { maxValueBytes } from "../workflow/execute.ts";
import type { AuthorCode, LoadedSources } from "./author/authorCode.ts";
import { readValue } from "./values.ts";

export interface LaunchRequest {
  /** A file, or a name to find. */
  readonly workflow: string;
  readonly input: unknown;
  /** Absolute directory that the run is started in. */
  readonly cwd: string;
  /** The same key and request give the same run. At most 512 characters. */
  readonly idempotencyKey?: string;
  /** The id that the run gets unless a key makes it: the same request under it is the same run, asked for again. */
  readonly id?: string;
  /** The conversation that it belongs to: one run at a time. None when left out. */
  readonly session?: string;
}

export interface Launched {
  readonly id: string;
  readonly duplicate: boolean;
}

const keyLimit = 512;

/** @throws invalidInput with the path, unknownWorkflow, loadFailed, invalidWorkflow, keyReused; nothing is stored then */
export async function launch(
  { runtime, store, author }: { readonly runtime: Pick<Runtime, "start">; readonly store: Store; readonly author: Pick<AuthorCode, "load"> },
  request: LaunchRequest,
  now: number,
): Promise<Launched> {
  const { cwd, input, idempotencyKey: key } = request;
  if (key !== undefined && (key === "" || key.length > keyLimit))
    throw new PawlError("invalidInput", `An idempotency key has 1 to ${keyLimit} characters, this one ${key.length}.`, { path: "idempotencyKey" });
  const loaded = await author.load({ workflow: request.workflow, cwd, userHome: homedir(), input });
  const id = key === undefined ? (request.id ?? newRunId(now)) : runIdOfKey(key);
  const existing = key === undefined && request.id === undefined ? undefined : await existingRun(store, id);
  if (existing && key === undefined) return { ...(await sameRequest(store, existing, loaded, input, id)), duplicate: false };
  if (existing && key !== undefined) return sameRequest(store, existing, loaded, input, key);
  if (key !== undefined) await refusePruned(store, id, key);
  const value = storedInput(input);
  const start: RunInput = {
    run: id,
    workflow: loaded.name,
    source: loaded.source,
    graph: loaded.graphDigest,
    input: value.ref,
    session: request.session ?? null,
    cwd,
  };
  const graphs = [loaded.graph, ...loaded.included].map((graph) => Buffer.from(canonicalJson(graph)));
  const receipt = await runtime.start(runMachine.id, { id, input: start, blobs: [...loaded.blobs, ...graphs, ...value.blobs] });
  if (receipt.status === "applied") return { id, duplicate: false };
  // Somebody was faster with the same key.
  const other = await existingRun(store, id);
  if (!other || key === undefined)
    throw new PawlError("conflict", `The run could not be saved under its id "${id}": ${receipt.code ?? receipt.status}. Start it again.`, { subject: id });
  return sameRequest(store, other, loaded, input, key);
}

/** Made of the key alone, so that no table of keys is needed: such an id does not tell its time. */
function runIdOfKey(key: string): string {
  const hash = createHash("sha256").update(`pawl.run\n${key}`).digest();
  return `r_${ulid(hash.readUIntBE(0, 6), hash.subarray(6, 16))}`;
}

/** A key is good for one run only, also while that run is pruned and its ids are still kept. */
async function refusePruned(store: Pick<Store, "inbox">, id: string, key: string): Promise<void> {
  const pruned = await store.inbox(id, prunedEventId);
  if (pruned)
    throw new PawlError(
      "keyReused",
      `The key "${key}" was used for run ${id}, which was pruned on ${new Date(pruned.at).toISOString().slice(0, 10)}: its outcome is gone, and its key is free again 30 days after that. Use a new key for a new run; nothing was started.`,
      { subject: id },
    );
}

async function existingRun(store: Pick<Store, "query">, id: string): Promise<RunRow | undefined> {
  return (await store.query("runs", { id }, { limit: 1 })).items[0];
}

/** The same request is the same workflow and input; its sources may have changed since: the run has its own. */
async function sameRequest(store: Store, row: RunRow, { name }: Pick<LoadedSources, "name">, input: unknown, key: string): Promise<Launched> {
  const isSame = row.workflow === name && sha256Hex(canonicalJson(await readValue(store, row.input))) === sha256Hex(canonicalJson(input));
  if (isSame) return { id: row.id, duplicate: true };
  throw new PawlError(
    "keyReused",
    `The key "${key}" was used for run ${row.id} of workflow "${row.workflow}" with another ${row.workflow === name ? "input" : "workflow"}. Use a new key for a new request; nothing was started.`,
    { subject: row.id },
  );
}

function storedInput(input: unknown): { readonly ref: ValueRef; readonly blobs: readonly Uint8Array[] } {
  const text = jsonText(input, "run's input");
  const bytes = Buffer.from(text);
  if (bytes.byteLength > maxValueBytes)
    throw new PawlError(
      "invalidInput",
      `The run's input has ${bytes.byteLength} bytes of JSON; the limit is ${maxValueBytes}. Put it into a file and give its path.`,
      { path: "" },
    );
  return bytes.byteLength <= inlineLimitBytes
    ? { ref: { json: text }, blobs: [] }
    : { ref: { blob: sha256Hex(bytes), bytes: bytes.byteLength }, blobs: [bytes] };
}

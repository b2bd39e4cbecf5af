/** Rows of actors for who reads them without a runtime. */
import type { ActorRecord } from "../../persistence/store.ts";
import { readBack } from "../json.ts";
import type { ActorView } from "./definition.ts";

/** An actor's stored snapshot as readers see it. */
export function storedView(record: ActorRecord): ActorView {
  const { value, context, output, error } = readBack<{ value: unknown; context: unknown; output?: unknown; error?: unknown }>(record.snapshot);
  return { record, value, context, output, error };
}

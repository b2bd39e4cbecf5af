/** The reading half of a host alone: what only looks loads nothing of what drives runs. */
import { openStore, type OpenedStore } from "../../persistence/openStore.ts";
import type { OpenOptions, StateReader } from "./api.ts";
import { ConfiguredAudiences } from "./channels/audiences.ts";
import { Reader } from "./reader.ts";

/** Opens a state directory to look at it, beside its owner too. One that does not exist yet reads as empty and is not made. */
export async function openReader({ home }: OpenOptions): Promise<StateReader> {
  return new OpenedReader(await openStore({ home, mode: "reader" }), home);
}

class OpenedReader extends Reader implements StateReader {
  private readonly opened: OpenedStore;

  constructor(opened: OpenedStore, home: string) {
    super(opened.store, new ConfiguredAudiences(home));
    this.opened = opened;
  }

  close(): Promise<void> {
    return this.opened.release();
  }
}

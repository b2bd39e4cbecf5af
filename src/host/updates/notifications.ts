/** What notify nodes tell, at the moment that it is stored: once a visit. */
import type { Store } from "../../../persistence/store.ts";
import type { Change } from "../../runtime/runtime.ts";
import { nodePath } from "../../visitNames.ts";
import { graphEffects } from "../../workflow/graphEffects.ts";
import type { Notification } from "../../workflow/nodes/notify.ts";
import type { RunEvent } from "../api.ts";
import { readValue } from "../values.ts";

export class NotificationEvents {
  private readonly store: Pick<Store, "blob">;
  private readonly tell: (event: RunEvent) => void;
  /** They are told in the order in which they were stored, though some must be read first. */
  private last: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, "blob">, tell: (event: RunEvent) => void) {
    this.store = store;
    this.tell = tell;
  }

  heard(change: Change): void {
    if (change.kind !== "effect" || change.record.type !== graphEffects.notify || change.record.state !== "confirmed") return;
    const { record, at } = change;
    const { visit } = record;
    if (visit === null) return;
    this.last = this.last.then(async () => {
      // A database that cannot be read any more is told where the run is driven.
      const value = await readValue(this.store, record.output).catch(() => null);
      if (value === null) return;
      const { kind: as, text } = value as Notification; // the output of a notify node
      this.tell({ kind: "notification", run: record.root, visit, node: nodePath(visit), as, text, at });
    });
  }
}

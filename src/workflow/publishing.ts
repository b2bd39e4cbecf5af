/** What an action can tell while it works. */
import { PawlError } from "../errors.ts";
import type { ProgressRequest } from "../../machines/contracts/progress.ts";
import { progressType } from "../../machines/contracts/pace.ts";
import { checkedUpdate, type UpdateReceipt, type UpdateRequest } from "../../machines/contracts/update.ts";

/** Tells people and programs how the work stands. It never moves the run. */
export interface Publishing {
  /**
   * Publishes JSON under a type and a key, in place of what stood there. It resolves when that is stored; what comes faster than it can be
   * stored is merged, the latest of each key. Nobody needs to wait for it, and who does is held back to what the disk can take.
   * @throws at once for what is no update (invalidInput with the path); rejects when the run has 1,024 keys, and when the step is over
   */
  update(update: UpdateRequest): Promise<UpdateReceipt>;
  /** The same for progress: what is done, how far, out of how much. Rate and remaining time are computed from it. */
  progress(progress: ProgressRequest): Promise<UpdateReceipt>;
}

export type Publish = (update: UpdateRequest) => Promise<UpdateReceipt>;

/** For code that runs where nobody takes updates: they are checked, and lost. */
export const publishNowhere: Publish = async ({ type, key }) => ({ type, key: key ?? "", revision: 0, at: 0 });

export function publishing(publish: Publish): Publishing {
  const update = (given: UpdateRequest): Promise<UpdateReceipt> => {
    const { type, key, json } = checkedUpdate(given);
    const stored = publish({ type, key, data: JSON.parse(json) });
    // Nobody has to wait for it: that it was refused is then nobody's loss.
    stored.catch(() => undefined);
    return stored;
  };
  const progress = (given: ProgressRequest): Promise<UpdateReceipt> => {
    // An author may have no compiler.
    if (typeof given !== "object" || given === null || Array.isArray(given))
      throw new PawlError("invalidInput", 'A progress is an object, such as { label: "Copying", completed: 3, total: 40 }.', { path: "" });
    const { key, ...data } = given;
    return update({ type: progressType, key, data });
  };
  return { update, progress };
}

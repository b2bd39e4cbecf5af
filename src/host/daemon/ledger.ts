/** What was asked to be changed, by whom and under which id: a request that comes again after a lost connection gets the same answer. HOST-50.
 *  What must hold over a host's restart too is not held here: a run's id, an answer's key and an effect's attempt are stored with what they changed. */
import { sha256Hex } from "../../digest.ts";
import { PawlError } from "../../errors.ts";

interface Entry {
  readonly fingerprint: string;
  readonly answer: () => Promise<unknown>;
}

/** Settled answers that are kept, oldest first out. A client asks again at most what it has open, at once after it came back. */
const keptAnswers = 4_096;

export class Ledger {
  private readonly open = new Map<string, Entry>();
  private readonly settled = new Map<string, Entry>();

  /**
   * Does the work of a request once. `again` gives the answer of work that succeeded, for answers too large to be kept.
   * @throws keyReused when the id was used for something else
   */
  async once<T>(client: string, id: string, request: unknown, work: () => Promise<T>, again?: (value: T) => Promise<T>): Promise<T> {
    const key = JSON.stringify([client, id]);
    const fingerprint = sha256Hex(JSON.stringify(request));
    const known = this.open.get(key) ?? this.settled.get(key);
    if (known !== undefined) {
      if (known.fingerprint !== fingerprint)
        throw new PawlError("keyReused", `The request id "${id}" was used for another request by this client. Nothing was done.`, { subject: id });
      return (await known.answer()) as T; // the same request has the same kind of answer
    }
    const working = work();
    this.open.set(key, { fingerprint, answer: () => working });
    try {
      const value = await working;
      this.keep(key, { fingerprint, answer: () => (again === undefined ? working : again(value)) });
      return value;
    } catch (error) {
      this.keep(key, { fingerprint, answer: () => Promise.reject(error) });
      throw error;
    } finally {
      this.open.delete(key);
    }
  }

  private keep(key: string, entry: Entry): void {
    this.settled.set(key, entry);
    const oldest = this.settled.keys().next();
    if (this.settled.size > keptAnswers && oldest.done !== true) this.settled.delete(oldest.value);
  }
}

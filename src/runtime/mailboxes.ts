/** One event at a time for each actor, as XState's mailboxes have it: what reaches an actor that is taking a step waits until it has carried
 *  out what that step asked for. Everything else is taken at once, in depth. */

export class Mailboxes<T> {
  private readonly waiting = new Map<string, T[]>();

  /** True when the actor is in a step: the item waits then. */
  holds(actor: string, item: T): boolean {
    const items = this.waiting.get(actor);
    items?.push(item);
    return items !== undefined;
  }

  isOpen(actor: string): boolean {
    return this.waiting.has(actor);
  }

  /** From now on what comes for this actor waits. */
  open(actor: string): void {
    if (!this.waiting.has(actor)) this.waiting.set(actor, []);
  }

  /** The next that waits; undefined when there is none, and then nothing waits any more. */
  next(actor: string): T | undefined {
    const item = this.waiting.get(actor)?.shift();
    if (item === undefined) this.waiting.delete(actor);
    return item;
  }

  /** Nobody takes what waits: a live actor that is stopped forgets it too. */
  clear(actor: string): void {
    this.waiting.get(actor)?.splice(0);
  }

  close(actor: string): void {
    this.waiting.delete(actor);
  }
}

/** Updates on their way from a worker to its host: one of each key is under way at a time, and the latest of those that come meanwhile follows it. */
import type { UpdateReceipt, UpdateRequest } from "../../../machines/contracts/update.ts";

interface Waiting {
  update: UpdateRequest;
  readonly promise: Promise<UpdateReceipt>;
  readonly resolve: (receipt: UpdateReceipt) => void;
  readonly reject: (error: unknown) => void;
}

export class UpdateSender {
  private readonly send: (number: number, update: UpdateRequest) => void;
  private readonly underWay = new Map<number, Waiting & { readonly place: string }>();
  /** By type and key: what follows the one under way; null for nothing. */
  private readonly next = new Map<string, Waiting | null>();
  private number = 0;

  constructor(send: (number: number, update: UpdateRequest) => void) {
    this.send = send;
  }

  publish(update: UpdateRequest): Promise<UpdateReceipt> {
    const place = `${update.type} ${update.key ?? ""}`;
    const following = this.next.get(place);
    if (following) {
      following.update = update;
      return following.promise;
    }
    const waiting: Waiting = { update, ...Promise.withResolvers<UpdateReceipt>() };
    if (following === null) this.next.set(place, waiting);
    else this.start(place, waiting);
    return waiting.promise;
  }

  answered(number: number, answer: { readonly receipt: UpdateReceipt } | { readonly error: Error }): void {
    const one = this.underWay.get(number);
    if (one === undefined) return;
    this.underWay.delete(number);
    if ("receipt" in answer) one.resolve(answer.receipt);
    else one.reject(answer.error);
    const following = this.next.get(one.place);
    this.next.delete(one.place);
    if (following) this.start(one.place, following);
  }

  /** Resolves when everything was answered: a step is over only when what it published is stored or refused. */
  async settled(): Promise<void> {
    while (this.underWay.size > 0) await Promise.allSettled([...this.underWay.values()].map(({ promise }) => promise));
  }

  private start(place: string, waiting: Waiting): void {
    this.number += 1;
    this.underWay.set(this.number, { ...waiting, place });
    this.next.set(place, null);
    this.send(this.number, waiting.update);
  }
}

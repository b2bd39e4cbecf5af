/** What is read again and again, up to a total weight: the least used goes first. */

export class WeightedCache<T> {
  private readonly limit: number;
  private readonly known = new Map<string, { readonly value: T; readonly weight: number }>();
  private total = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get(key: string): T | undefined {
    const found = this.known.get(key);
    if (found === undefined) return undefined;
    // A Map keeps insertion order: the least used stands first.
    this.known.delete(key);
    this.known.set(key, found);
    return found.value;
  }

  /** One that is heavier than the limit is not kept. */
  set(key: string, value: T, weight: number): void {
    this.total -= this.known.get(key)?.weight ?? 0;
    this.known.delete(key);
    if (weight > this.limit) return;
    this.known.set(key, { value, weight });
    this.total += weight;
    for (const [oldest, dropped] of this.known) {
      if (this.total <= this.limit) return;
      this.known.delete(oldest);
      this.total -= dropped.weight;
    }
  }
}

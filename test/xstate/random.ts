/** Random numbers that a seed repeats. */

export interface Random {
  /** From 0 up to 1. */
  next(): number;
  below(n: number): number;
  pick<T>(items: readonly T[]): T | undefined;
}

/** xorshift over 32 bits, spread once so that neighbouring seeds have nothing in common. */
export function seeded(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 8; i += 1) next();
  const below = (n: number): number => Math.floor(next() * n);
  return { next, below, pick: (items) => items[below(items.length)] };
}

/** Seeded randomness: the same seed gives the same numbers on every machine. */

export interface Random {
  /** 0 up to, not including, 1. */
  next(): number;
  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number;
  chance(probability: number): boolean;
  /** @throws RangeError for an empty list */
  pick<T>(items: readonly T[]): T;
}

/** sfc32 over four words stirred out of the seed and a name, so that two streams of one seed have nothing in common. */
export function randomOf(seed: number, name: string): Random {
  let stir = 0x9e3779b9;
  const word = (text: string): number => {
    for (let i = 0; i < text.length; i += 1) stir = Math.imul(stir ^ text.charCodeAt(i), 0x85ebca6b) ^ (stir >>> 13);
    return (stir = Math.imul(stir ^ (stir >>> 16), 0xc2b2ae35) ^ (stir >>> 15)) >>> 0;
  };
  let [a, b, c, d] = [word(`${seed}`), word(name), word(`${name}/${seed}`), 1];
  const next = (): number => {
    const sum = (a + b + d) >>> 0;
    d = (d + 1) >>> 0;
    a = (b ^ (b >>> 9)) >>> 0;
    b = (c + (c << 3)) >>> 0;
    c = ((c << 21) | (c >>> 11)) >>> 0;
    c = (c + sum) >>> 0;
    return sum / 0x1_0000_0000;
  };
  for (let i = 0; i < 12; i += 1) next();
  const below = (end: number): number => Math.floor(next() * end);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("nothing to pick from");
      return item;
    },
  };
}

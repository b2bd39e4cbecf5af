/** What the two settings of a wait may be. */

/** Furthest moment that a Date can name, from 1970. */
export const longestMs = 8.64e15;

export const isForMs = (value: unknown): value is number => typeof value === "number" && value > 0 && value <= longestMs;

/** Epoch ms of a moment; null for what is none. */
export function momentOf(value: unknown): number | null {
  const ms = value instanceof Date ? value.getTime() : value;
  return typeof ms === "number" && Math.abs(ms) <= longestMs ? ms : null;
}

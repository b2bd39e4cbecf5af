/** Ids: made at the boundary (`newRunId`, `newEventId`) or derived, never made inside a machine. */
import { randomBytes } from "node:crypto";

/** Crockford's base 32: no I, L, O, U. */
export const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** 26 Crockford characters: 48 bits of `now` (epoch ms), then 80 random bits; sorts by time. */
export function ulid(now: number, random: Uint8Array = randomBytes(10)): string {
  let bits = BigInt(Math.max(0, Math.floor(now))) & 0xffff_ffff_ffffn;
  for (const byte of random.subarray(0, 10)) bits = (bits << 8n) | BigInt(byte);
  let text = "";
  for (let i = 0; i < 26; i += 1) {
    text = crockford.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return text;
}

/** A new run id: `r_` and 26 Crockford characters. */
export const newRunId = (now: number): string => `r_${ulid(now)}`;

/** A new event id for a sender that has no id of its own. */
export const newEventId = (now: number): string => `e_${ulid(now)}`;

export const runIdPattern = /^r_[0-9A-HJKMNP-TV-Z]{26}$/;

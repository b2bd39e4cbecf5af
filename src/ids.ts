/** Ids: made at the boundary (`newRunId`, `newEventId`) or derived, never made inside a machine. */
import { randomFillSync } from "node:crypto";

/** Crockford's base 32: no I, L, O, U. */
export const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Random bytes are asked for for many ids at once: one call to the system for each would cost as much as a whole transition. */
const idBytes = 10;
const pool = new Uint8Array(idBytes * 400);
let used = pool.length;

function randomIdBytes(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += idBytes;
  return pool.subarray(used - idBytes, used);
}

/** 26 Crockford characters: 48 bits of `now` (epoch ms), then 80 random bits; sorts by time. */
export function ulid(now: number, random: Uint8Array = randomIdBytes()): string {
  let time = Math.max(0, Math.floor(now)) % 2 ** 48;
  let head = "";
  for (let i = 0; i < 10; i += 1) {
    head = crockford.charAt(time % 32) + head;
    time = Math.floor(time / 32);
  }
  let tail = "";
  let held = 0;
  let bits = 0;
  for (const byte of random.subarray(0, idBytes)) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) tail += crockford.charAt((held >> (bits - 5)) & 31);
    held &= (1 << bits) - 1;
  }
  return head + tail;
}

/** A new run id: `r_` and 26 Crockford characters. */
export const newRunId = (now: number): string => `r_${ulid(now)}`;

/** A new event id for a sender that has no id of its own. */
export const newEventId = (now: number): string => `e_${ulid(now)}`;

export const runIdPattern = /^r_[0-9A-HJKMNP-TV-Z]{26}$/;

import { expect, test } from "vitest";
import { newRunId, runIdPattern, ulid } from "../src/ids.ts";

test("RUN-3 a run's id is r_ and 26 Crockford characters, sorts by time and keeps every random bit", () => {
  expect(newRunId(Date.now())).toMatch(runIdPattern);
  const zero = new Uint8Array(10);
  expect(ulid(0, zero)).toBe("0".repeat(26));
  expect(ulid(2 ** 48 - 1, new Uint8Array(10).fill(255))).toBe(`7${"Z".repeat(25)}`);
  expect([ulid(1, zero), ulid(32, zero)]).toEqual([`0000000001${"0".repeat(16)}`, `0000000010${"0".repeat(16)}`]);
  const bits = Array.from({ length: 80 }, (_, bit) => ulid(0, zero.with(bit >> 3, 128 >> (bit & 7))));
  expect(new Set(bits).size).toBe(80);
  expect(bits.toSorted().reverse()).toEqual(bits);
});

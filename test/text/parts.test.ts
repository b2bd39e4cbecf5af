import fc from "fast-check";
import { expect, test } from "vitest";
import { partUnits, splitParts } from "../../src/text/parts.ts";

test("TEXT-5 a part ends after an empty line, else a line, else a space, else between graphemes", () => {
  expect(splitParts("short")).toEqual(["short"]);
  expect(splitParts("aaaa\n\nbb\ncc dd", 10)).toEqual(["aaaa\n\n", "bb\ncc dd"]);
  expect(splitParts("aaaa\nbb bb bb", 8)).toEqual(["aaaa\n", "bb bb bb"]);
  expect(splitParts("aaaaa bbbbb", 8)).toEqual(["aaaaa ", "bbbbb"]);
  expect(splitParts("a👨‍👩‍👧bbbbb", 10)).toEqual(["a👨‍👩‍👧b", "bbbb"]);
  expect(splitParts("aaa👨‍👩‍👧b", 8)).toEqual(["aaa", "👨‍👩‍👧", "b"]);
});

test("TEXT-5 a grapheme longer than a part is cut between code points", () => {
  const parts = splitParts("👨‍👩‍👧‍👦".repeat(3), 4);
  expect(parts.every((part) => part.isWellFormed() && part.length <= 4)).toBe(true);
});

test("TEXT-5 parts put together are the text, none is longer than allowed, none cuts a code point", () => {
  const texts = fc
    .array(fc.oneof(fc.string({ unit: "grapheme", maxLength: 30 }), fc.constantFrom(" ", "\n", "\n\n", "😀", "👨‍👩‍👧‍👦")), { maxLength: 60 })
    .map((parts) => parts.join(""))
    .filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 80 }), (text, units) => {
      const parts = splitParts(text, units);
      expect(parts.join("")).toBe(text);
      for (const part of parts) {
        expect(part.length).toBeLessThanOrEqual(units);
        expect(part.isWellFormed()).toBe(true);
      }
      if (text !== "") expect(parts.every((part) => part !== "")).toBe(true);
    }),
    { seed: 51, numRuns: 400 },
  );
});

test("TEXT-5 a long text is cut in a time that grows with its length", () => {
  const started = performance.now();
  expect(splitParts("x".repeat(64_000)).length).toBe(Math.ceil(64_000 / partUnits));
  expect(performance.now() - started).toBeLessThan(2000);
});

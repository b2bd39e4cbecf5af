import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { cellWidth, padCells, truncate, wrap, wrapExact } from "../../src/text/cells.ts";
import { visible } from "../../src/text/visible.ts";

test("TEXT-2 case 160 flags, families, CJK and combining marks take the cells that terminals give them", () => {
  const widths: [string, number][] = [
    ["", 0],
    ["abc", 3],
    ["日本", 4],
    ["한글", 4],
    ["🇩🇪", 2],
    ["👨‍👩‍👧‍👦", 2],
    ["👩🏽‍🚀", 2],
    ["🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", 2],
    ["1️⃣", 2],
    ["é", 1],
    ["e\u0301", 1],
    ["e\u0301\u0323\u0308", 1],
    ["ﾊﾞ", 2],
    ["한", 2],
    ["…", 1],
    ["—", 1],
    ["ไทย", 3],
  ];
  for (const [text, width] of widths) expect(cellWidth(text), text).toBe(width);
  expect(padCells("日", 4)).toBe("日  ");
  expect(padCells("long", 2)).toBe("long");
});

test("TEXT-2 plain characters take the cells that the grapheme rules give them, each and together", () => {
  const ranges = [
    [0x20, 0x7e],
    [0xb7, 0xb7],
    [0x2010, 0x2027],
    [0x25b8, 0x25b8],
    [0x2713, 0x2713],
    [0x2717, 0x2717],
    [0xc0, 0x24f],
    [0x400, 0x482],
    [0x3041, 0x3096],
    [0x30a1, 0x30fa],
    [0x3400, 0x4dbf],
    [0x4e00, 0x9fff],
    [0xac00, 0xd7a3],
  ] as const;
  for (const [from, to] of ranges) {
    const all = Array.from({ length: to - from + 1 }, (_, i) => String.fromCharCode(from + i));
    expect(all.filter((character) => cellWidth(character) !== stringWidth(character))).toEqual([]);
    expect(cellWidth(all.join(""))).toBe(stringWidth(all.join("")));
  }
});

test("TEXT-3 case 162 a character of two cells on a screen of one ends, and is not lost", () => {
  expect(wrap("日", 1)).toEqual([..."\\u{65E5}"]);
  expect(wrapExact("a日", 1)).toEqual(["a", ..."\\u{65E5}"]);
  expect(wrap("👨‍👩‍👧‍👦", 1).every((line) => cellWidth(line) <= 1)).toBe(true);
  expect(wrap("日本語", 3)).toEqual(["日", "本", "語"]);
});

test("TEXT-3 case 165 tabs, CR, long words and emoji at the edge", () => {
  expect(wrap("a\tb\tlonger\tx", 40)).toEqual(["a   b   longer  x"]);
  expect(wrap("日\tx", 40)).toEqual(["日  x"]);
  expect(wrap("one\rtwo\r\nthree", 40)).toEqual(["one", "two", "three"]);
  expect(wrap("a verylongwordthatdoesnotfit b", 8)).toEqual(["a", "verylong", "wordthat", "doesnotf", "it b"]);
  expect(wrap("1234567👨‍👩‍👧x", 8)).toEqual(["1234567", "👨‍👩‍👧x"]);
  expect(wrap("12345 👍 x", 8)).toEqual(["12345 👍", "x"]);
  expect(wrap("e\u0301".repeat(5), 2)).toEqual(["e\u0301e\u0301", "e\u0301e\u0301", "e\u0301"]);
  expect(wrap("  indented text here", 12)).toEqual(["  indented", "text here"]);
  expect(wrap("trailing    ", 8)).toEqual(["trailing"]);
  expect(wrap("a\n\nb", 8)).toEqual(["a", "", "b"]);
  expect(wrap("", 8)).toEqual([""]);
  expect(wrapExact("ab  cd  ef", 4)).toEqual(["ab  ", "cd  ", "ef"]);
});

test("TEXT-6 a label is cut at a grapheme with an ellipsis, on one line", () => {
  expect(truncate("short", 10)).toBe("short");
  expect(truncate("a longer label", 8)).toBe("a longe…");
  expect(truncate("日本語のラベル", 6)).toBe("日本…");
  expect(truncate("two\nlines", 20)).toBe("two lines");
  expect(truncate("\u001b[31mred", 40)).toBe("\\u{1B}[31mred");
  expect(truncate("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3)).toBe("👨‍👩‍👧‍👦…");
  expect(truncate("日本", 1)).toBe("…");
});

const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 10 }),
      fc.string({ unit: "grapheme", maxLength: 10 }),
      fc.constantFrom(
        " ",
        "  ",
        "\n",
        "\t",
        "日本語",
        "👨‍👩‍👧‍👦",
        "🇩🇪",
        "🇩",
        "e\u0301",
        "\u0301",
        "ᄀᄀ",
        "ᄀ",
        "ᅡ",
        "\u200D",
        "\u202E",
        "ி",
        "কি",
        "ﾞ",
        "\ud800",
        "word",
      ),
    ),
    { maxLength: 25 },
  )
  .map((parts) => parts.join(""));
const squeezed = (text: string) => text.replace(/\s+/g, "");

test("TEXT-3 no line is wider than its screen, at any width, and nothing is left out", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 200 }), (text, width) => {
      for (const lines of [wrap(text, width), wrapExact(text, width)]) {
        for (const line of lines) {
          expect(cellWidth(line)).toBeLessThanOrEqual(width);
          expect(line).not.toMatch(/[\n\t]/);
        }
        expect(squeezed(decoded(lines.join("")))).toBe(squeezed(decoded(visible(text))));
      }
    }),
    { seed: 31, numRuns: 600 },
  );
});

test("TEXT-3 exact wrapping keeps every space", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", " ", "日", "\n"), maxLength: 40 }), fc.integer({ min: 2, max: 12 }), (text, width) => {
      expect(text.split("\n").map((line) => wrapExact(line, width).join(""))).toEqual(text.split("\n"));
    }),
    { seed: 32, numRuns: 500 },
  );
});

test("TEXT-6 a label never takes more than its cells", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 60 }), (text, width) => {
      const label = truncate(text, width);
      expect(cellWidth(label)).toBeLessThanOrEqual(width);
      expect(label).not.toContain("\n");
    }),
    { seed: 33, numRuns: 300 },
  );
});

/** Written-out code points read back, so that what a narrow screen takes apart can be compared. */
function decoded(text: string): string {
  return text.replace(/\\u\{([0-9A-F]+)\}/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

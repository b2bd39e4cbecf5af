import fc from "fast-check";
import { expect, test } from "vitest";
import { visible, visibleLine, withoutAnsi } from "../../src/text/visible.ts";

/** What must never reach a terminal: controls but LF and tab, bidi controls, half surrogates, line separators. */
const dangerous = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF\p{Cs}]/u;

test("TEXT-1 case 32 bidi controls, zero-width characters and C1 are shown written out", () => {
  expect(visible("pay \u202E001\u202C \u200Bnow \u2066x\u2069\u009b2J")).toBe("pay \\u{202E}001\\u{202C} \\u{200B}now \\u{2066}x\\u{2069}\\u{9B}2J");
  expect(visible("a\u00ADb\uFEFFc\u2060d\u034Fe\u3164f\u2028g\u{E0041}h\u{E0100}i")).toBe(
    "a\\u{AD}b\\u{FEFF}c\\u{2060}d\\u{34F}e\\u{3164}f\\u{2028}g\\u{E0041}h\\u{E0100}i",
  );
});

test("TEXT-1 case 164 terminal sequences never stay raw", () => {
  const hostile = ["\u001b]8;;http://x\u0007link\u001b]8;;\u0007", "\u001b[2J", "\u009b31m", "\u009d0;title\u009c", "\u001bc", "\b\b\b", "\u0000", "\u007f"];
  for (const text of hostile) {
    expect(visible(text)).not.toMatch(dangerous);
    expect(visibleLine(text)).not.toMatch(dangerous);
  }
  expect(visible("\u001b[2J")).toBe("\\u{1B}[2J");
});

test("TEXT-1 emoji and joined scripts stay whole", () => {
  const kept = [
    "👨‍👩‍👧‍👦",
    "🏳️‍🌈",
    "❤️‍🔥",
    "👩🏽‍🚀",
    "👁️‍🗨️",
    "👁‍🗨",
    "1️⃣",
    "#️⃣",
    "☎︎",
    "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "می\u200Cخواهم",
    "क्\u200Dष",
    "ශ්\u200Dරී",
    "葛\u{E0100}",
    "ᠠ\u180B",
    "é",
    "e\u0301",
    "ﷺ",
    "日本語",
    "עברית",
  ];
  for (const text of kept) expect(visible(text)).toBe(text);
});

test("TEXT-1 joiners, selectors and tags without what they belong to are written out", () => {
  const hidden: [string, string][] = [
    ["a\u200Db", "a\\u{200D}b"],
    ["👩\u200D", "👩\\u{200D}"],
    ["👩\u200Dx", "👩\\u{200D}x"],
    ["\u200D👩", "\\u{200D}👩"],
    ["a\uFE0F", "a\\u{FE0F}"],
    ["1\uFE0F", "1\\u{FE0F}"],
    ["می\u200C", "می\\u{200C}"],
    ["می\u200C\u200Cخ", "می\\u{200C}\\u{200C}خ"],
    ["🏴\u{E0067}\u{E0062}", "🏴\\u{E0067}\\u{E0062}"],
    ["🏴\u{E0061}\u{E0062}\u{E007F}", "🏴\\u{E0061}\\u{E0062}\\u{E007F}"],
    ["x\u{E0062}", "x\\u{E0062}"],
    ["🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}\u{E0062}", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}\\u{E0062}"],
    ["\ud800x", "\\u{D800}x"],
  ];
  for (const [text, shown] of hidden) expect(visible(text)).toBe(shown);
});

test("TEXT-1 line ends become LF; on one line they and tabs become a space", () => {
  expect(visible("a\r\nb\rc\n\td")).toBe("a\nb\nc\n\td");
  expect(visibleLine("a\r\n\tb\n\nc")).toBe("a b c");
});

test("TEXT-1 for any text nothing dangerous is left, all else is, and twice is as once", () => {
  const texts = fc
    .array(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 8 }),
        fc.constantFrom("\u200D", "\u200C", "\uFE0F", "👩", "ش", "\u202E", "\u001b[", "\r", "\ud83d", "\u{E0067}", "🏴"),
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      const shown = visible(text);
      expect(shown).not.toMatch(dangerous);
      expect(visible(shown)).toBe(shown);
      expect(decoded(shown)).toBe(decoded(text.replace(/\r\n?/g, "\n")));
    }),
    { seed: 21, numRuns: 500 },
  );
});

/** The text with what was written out read back. */
function decoded(text: string): string {
  return text.replace(/\\u\{([0-9A-F]+)\}/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

test("TEXT-7 a program's colours, links and titles are taken out of its output, and its text stays", () => {
  expect(withoutAnsi("\u001b[1;32mok\u001b[0m \u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\ \u009b31mred\u001b]0;t\u0007!\u001b(B\u001b7")).toBe(
    "ok link red!",
  );
  expect(visible(withoutAnsi("cut \u001b]0;no end"))).toBe("cut \\u{1B}]0;no end");
});

test("TEXT-7 hostile output is handled in a time that grows with its length", () => {
  for (const piece of ["\u009d", "\u001b]", "\u001b[", "\u009b0", "\u001b[0;", "\u200D", "👩\u200D", "🏴", "\u{E0067}"]) {
    const started = performance.now();
    visible(withoutAnsi(piece.repeat(50_000)));
    expect(performance.now() - started, JSON.stringify(piece)).toBeLessThan(3000);
  }
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { cellWidth } from "../../src/text/cells.ts";
import { renderPresentation, type PresentationText, type PresentationTextBlock } from "../../src/text/presentation.ts";
import { visible } from "../../src/text/visible.ts";

const page: PresentationText = {
  summary: "Release 1.4 of the library, with two fixes.",
  blocks: [
    { kind: "section", title: "Findings" },
    {
      kind: "fields",
      fields: [
        { label: "tests", value: "212 passed, none failed, in 41 s on two cores" },
        { label: "open issues", value: "3" },
        { label: "notes", value: "" },
      ],
    },
    { kind: "paragraph", text: "Nothing else changed since the last tag.\nThe tree is clean." },
    { kind: "bullets", items: ["Fix the clock that went backwards", "日本語のテキストも折り返される"] },
    { kind: "bullets", items: [] },
    { kind: "preformatted", text: "a1b2c3d Fix it\n\n\td4e5f6a Tab" },
  ],
};
const shown = (width: number, presentation = page) => `\n${renderPresentation(presentation, width).join("\n")}\n`;

test("TEXT-4 case 165 a presentation at 60 cells", () => {
  expect(shown(60)).toMatchInlineSnapshot(`
    "
    Release 1.4 of the library, with two fixes.

    Findings
    --------
    tests:       212 passed, none failed, in 41 s on two cores
    open issues: 3
    notes:

    Nothing else changed since the last tag.
    The tree is clean.

    - Fix the clock that went backwards
    - 日本語のテキストも折り返される

    | a1b2c3d Fix it
    |
    |     d4e5f6a Tab
    "
  `);
});

test("TEXT-4 case 165 a presentation at 24 cells", () => {
  expect(shown(24)).toMatchInlineSnapshot(`
    "
    Release 1.4 of the
    library, with two fixes.

    Findings
    --------
    tests:
      212 passed, none
      failed, in 41 s on two
      cores
    open issues: 3
    notes:

    Nothing else changed
    since the last tag.
    The tree is clean.

    - Fix the clock that
      went backwards
    - 日本語のテキストも折り
      返される

    | a1b2c3d Fix it
    |
    |     d4e5f6a Tab
    "
  `);
});

test("TEXT-4 a presentation without a width breaks only where the text does", () => {
  expect(shown(Infinity)).toMatchInlineSnapshot(`
    "
    Release 1.4 of the library, with two fixes.

    Findings
    --------
    tests: 212 passed, none failed, in 41 s on two cores
    open issues: 3
    notes:

    Nothing else changed since the last tag.
    The tree is clean.

    - Fix the clock that went backwards
    - 日本語のテキストも折り返される

    | a1b2c3d Fix it
    |
    |     d4e5f6a Tab
    "
  `);
});

test("TEXT-4 case 32 case 164 hostile text is written out wherever it stands", () => {
  const hostile = "\u001b[2J\u202Eevil\u200B\u009b";
  const lines = renderPresentation(
    {
      summary: hostile,
      blocks: [
        { kind: "section", title: hostile },
        { kind: "fields", fields: [{ label: hostile, value: hostile }] },
        { kind: "bullets", items: [hostile] },
        { kind: "preformatted", text: hostile },
        { kind: "paragraph", text: hostile },
      ],
    },
    200,
  );
  const shownAs = visible(hostile);
  expect(lines.filter((line) => line.includes(shownAs))).toHaveLength(6);
  expect(lines.join("")).not.toMatch(/[\u001b\u009b\u202e\u200b]/);
});

const text = fc.string({ unit: "grapheme", maxLength: 40 }).map((value) => value.replace(/\p{Cc}/gu, ""));
const block: fc.Arbitrary<PresentationTextBlock> = fc.oneof(
  fc.record({ kind: fc.constant("paragraph" as const), text }),
  fc.record({ kind: fc.constant("section" as const), title: text.map((title) => `t${title}`) }),
  fc.record({ kind: fc.constant("bullets" as const), items: fc.array(text, { maxLength: 4 }) }),
  fc.record({ kind: fc.constant("fields" as const), fields: fc.array(fc.record({ label: text.map((label) => `l${label}`), value: text }), { maxLength: 4 }) }),
  fc.record({ kind: fc.constant("preformatted" as const), text }),
);

test("TEXT-4 at any width no line overflows, and every text is there, whole and in order", () => {
  fc.assert(
    fc.property(text, fc.array(block, { maxLength: 6 }), fc.integer({ min: 1, max: 200 }), (summary, blocks, width) => {
      const lines = renderPresentation({ summary, blocks }, width);
      for (const line of lines) expect(cellWidth(line)).toBeLessThanOrEqual(width);
      // Marks, rules and breaks are ours, so they are taken out on both sides; what is left is the text, letter by letter.
      const inOrder = [summary, ...blocks.flatMap(stringsOf)].map((part) => bare(decoded(visible(part))));
      expect(bare(decoded(lines.map((line) => line.replace(/^\| ?/, "")).join("")))).toBe(inOrder.join(""));
    }),
    { seed: 41, numRuns: 500 },
  );
});

function stringsOf(part: PresentationTextBlock): readonly string[] {
  switch (part.kind) {
    case "section":
      return [part.title];
    case "bullets":
      return part.items;
    case "fields":
      return part.fields.flatMap(({ label, value }) => [label, value]);
    default:
      return [part.text];
  }
}

const bare = (value: string) => value.replace(/[\s|:-]/g, "");

function decoded(value: string): string {
  return value.replace(/\\u\{([0-9A-F]+)\}/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
}

import fc from "fast-check";
import { expect, test } from "vitest";
import { DecisionPresentation, normalisePresentation, transportParts, type PresentationInput } from "../../machines/contracts/presentation.ts";
import { digest } from "../../src/digest.ts";
import { refusalOf } from "./decisionFixture.ts";

const paragraph = (text: string) => ({ kind: "paragraph" as const, text });
const refused = (value: unknown) => refusalOf(() => normalisePresentation(value));
const full: PresentationInput = {
  summary: "One of each.",
  blocks: [
    { kind: "paragraph", text: "two\n\tlines" },
    { kind: "section", title: "Findings" },
    { kind: "bullets", items: ["first", ""] },
    { kind: "fields", fields: [{ label: "cost", value: "" }] },
    { kind: "preformatted", text: "\ta\n\tb" },
  ],
};

test("DEC-17 every kind of block is taken as it is, and the schema's name is filled in", () => {
  expect(normalisePresentation(full)).toEqual({ schema: "pawl.decision-presentation.v1", ...full });
});

test("DEC-17 CRLF and CR become LF; a presentation that was normalised stays as it is", () => {
  const once = normalisePresentation({ summary: "s", blocks: [paragraph("a\r\nb\rc\n\r\nd"), { kind: "preformatted", text: "\r\r\n" }] });
  expect(once.blocks).toEqual([paragraph("a\nb\nc\n\nd"), { kind: "preformatted", text: "\n\n" }]);
  expect(normalisePresentation(once)).toEqual(once);
});

test("DEC-17 case 32 format characters stay in the data and count in its digest", () => {
  const raw = "pay \u202E001\u202C \u200Bnow \u2066x\u2069 👨\u200D👩\u200D👧";
  const kept = normalisePresentation({ summary: raw, blocks: [] });
  expect(kept.summary).toBe(raw);
  expect(digest(kept)).not.toBe(digest(normalisePresentation({ summary: raw.replace("\u202E", ""), blocks: [] })));
});

test("DEC-17 control characters are refused, with path and character; LF and tab only where lines may be", () => {
  const cases: [unknown, string, string][] = [
    [{ summary: "a\nb", blocks: [] }, "presentation.summary", "U+000A"],
    [{ summary: "a\tb", blocks: [] }, "presentation.summary", "U+0009"],
    [{ summary: "\u001b[31m", blocks: [] }, "presentation.summary", "U+001B"],
    [{ summary: "\u009b2J", blocks: [] }, "presentation.summary", "U+009B"],
    [{ summary: "s", blocks: [paragraph("ok"), paragraph("a\u0000")] }, "presentation.blocks[1].text", "U+0000"],
    [{ summary: "s", blocks: [paragraph("\u007f")] }, "presentation.blocks[0].text", "U+007F"],
    [{ summary: "s", blocks: [{ kind: "preformatted", text: "a\u0085b" }] }, "presentation.blocks[0].text", "U+0085"],
    [{ summary: "s", blocks: [{ kind: "section", title: "a\nb" }] }, "presentation.blocks[0].title", "U+000A"],
    [{ summary: "s", blocks: [{ kind: "bullets", items: ["a", "b\nc"] }] }, "presentation.blocks[0].items[1]", "U+000A"],
    [{ summary: "s", blocks: [{ kind: "fields", fields: [{ label: "a", value: "b\tc" }] }] }, "presentation.blocks[0].fields[0].value", "U+0009"],
  ];
  for (const [value, path, character] of cases) {
    const refusal = refused(value);
    expect(refusal).toMatchObject({ code: "invalidValue", path });
    expect(refusal?.message).toContain(character);
  }
});

test("DEC-17 every control character is refused in a paragraph but LF and tab; CR is normalised", () => {
  for (let code = 0; code <= 0x9f; code += 1) {
    const isControl = code < 0x20 || code >= 0x7f;
    const mayStand = !isControl || code === 0x09 || code === 0x0a || code === 0x0d;
    expect(refused({ summary: "s", blocks: [paragraph(`x${String.fromCharCode(code)}`)] }) === null, `U+${code.toString(16)}`).toBe(mayStand);
  }
});

test("DEC-16 unknown fields and kinds, and what is no string, are refused with the path", () => {
  const cases: [unknown, string][] = [
    [{ summary: "s", blocks: [], note: "x" }, "presentation"],
    [{ summary: "s", blocks: [{ ...paragraph("x"), bold: true }] }, "presentation.blocks[0]"],
    [{ summary: "s", blocks: [{ kind: "image", url: "x" }] }, "presentation.blocks[0].kind"],
    [{ summary: "s", blocks: [{ kind: "paragraph", text: 5 }] }, "presentation.blocks[0].text"],
    [{ summary: "s", blocks: [{ kind: "bullets", items: ["a", null] }] }, "presentation.blocks[0].items[1]"],
    [{ summary: "s", blocks: [{ kind: "section" }] }, "presentation.blocks[0].title"],
    [{ summary: "s" }, "presentation.blocks"],
    [{ summary: "", blocks: [] }, "presentation.summary"],
    [{ summary: "s", blocks: [], schema: "pawl.decision-presentation.v2" }, "presentation.schema"],
    ["text", "presentation"],
    [null, "presentation"],
    [{ summary: "half \ud800", blocks: [] }, "presentation.summary"],
  ];
  for (const [value, path] of cases) expect(refused(value), path).toMatchObject({ code: "invalidValue", path });
});

test("DEC-16 each limit lets its own value pass, refuses one more, and names limit and value", () => {
  const texts = (n: number, size: number) => Array.from({ length: n }, () => paragraph("x".repeat(size)));
  const limits: [string, (over: number) => unknown, string, string, string][] = [
    ["string", (over) => ({ summary: "s", blocks: [paragraph("x".repeat(16_000 + over))] }), "presentation.blocks[0].text", "16,001", "16,000"],
    ["blocks", (over) => ({ summary: "s", blocks: texts(256 + over, 1) }), "presentation.blocks", "257", "256"],
    ["items", (over) => ({ summary: "s", blocks: [{ kind: "bullets", items: Array(256 + over).fill("x") }] }), "presentation.blocks[0].items", "257", "256"],
    [
      "fields",
      (over) => ({ summary: "s", blocks: [{ kind: "fields", fields: Array(256 + over).fill({ label: "l", value: "v" }) }] }),
      "presentation.blocks[0].fields",
      "257",
      "256",
    ],
    ["units", (over) => ({ summary: "x".repeat(1000 + over), blocks: texts(4, 15_750) }), "presentation", "64,001", "64,000"],
  ];
  for (const [name, make, path, value, limit] of limits) {
    expect(refused(make(0)), name).toBeNull();
    const refusal = refused(make(1));
    expect(refusal, name).toMatchObject({ code: "invalidValue", path });
    expect(refusal?.message).toContain(value);
    expect(refusal?.message).toContain(limit);
  }
});

test("DEC-16 the parts of the strictest channel are counted as it shows the text, escapes included", () => {
  // A bidi control takes one unit in the data and eight when it is shown: 20 parts of 3,500 units hold 8,750 of them.
  const hostile = (n: number) => ({ summary: "s", blocks: [{ kind: "preformatted", text: "\u202e".repeat(n) }] });
  expect(transportParts(normalisePresentation(hostile(8_000)))).toBeLessThanOrEqual(20);
  const refusal = refused(hostile(9_000));
  expect(refusal).toMatchObject({ path: "presentation" });
  expect(refusal?.message).toMatch(/takes 21 parts .* limit is 20/);
});

test("DEC-16 plain text at the limit of units fits the parts", () => {
  const text = "word ".repeat(3_150);
  expect(transportParts(normalisePresentation({ summary: "s", blocks: Array.from({ length: 4 }, () => paragraph(text)) }))).toBeLessThanOrEqual(20);
});

test("DEC-13 any Unicode text is taken and its digest is that of what is stored", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 30 });
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 5 }), (summary, items) => {
      const presentation = normalisePresentation({
        summary: `s${summary}`.replace(/\p{Cc}/gu, ""),
        blocks: [{ kind: "bullets", items: items.map((item) => item.replace(/\p{Cc}/gu, "")) }],
      });
      const stored: unknown = JSON.parse(JSON.stringify(presentation));
      expect(DecisionPresentation.parse(stored)).toEqual(presentation);
      expect(digest(stored)).toBe(digest(presentation));
    }),
    { seed: 5, numRuns: 200 },
  );
});

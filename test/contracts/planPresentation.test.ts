import fc from "fast-check";
import { expect, test } from "vitest";
import { planPresentation } from "../../machines/contracts/planPresentation.ts";
import { normalisePresentation } from "../../machines/contracts/presentation.ts";
import { renderPresentation } from "../../src/text/presentation.ts";

const shown = (plan: unknown, summary?: string) =>
  renderPresentation(normalisePresentation(planPresentation(plan, summary === undefined ? {} : { summary })), 60).join("\n");

test("DEC-22 a plan with steps, facts and nested parts reads like a page", () => {
  const plan = {
    goal: "Release 1.4",
    version: "1.4.0",
    breaking: false,
    steps: ["tag", "publish"],
    risk: { level: "low", why: "docs only\nno code" },
    checks: [
      { name: "tests", ok: true },
      { name: "lint", ok: true },
    ],
    notes: null,
  };
  expect(shown(plan)).toMatchInlineSnapshot(`
    "Release 1.4

    version:  1.4.0
    breaking: false
    notes:    none

    steps
    -----
    - tag
    - publish

    risk
    ----
    level: low

    risk / why
    ----------
    docs only
    no code

    checks / 1
    ----------
    name: tests
    ok:   true

    checks / 2
    ----------
    name: lint
    ok:   true"
  `);
});

test("DEC-22 strings, lists and what is neither", () => {
  expect(shown("First.\n\nSecond\r\nline.", "Why")).toBe("Why\n\nFirst.\n\nSecond\nline.");
  expect(shown(["a", 2, null, true])).toBe("Plan\n\n- a\n- 2\n- none\n- true");
  expect(shown([])).toBe("Plan\n\nnone");
  expect(shown(undefined)).toBe("Plan\n\nnone");
  expect(shown({ when: new Date(0), empty: {} })).toContain("1970-01-01T00:00:00.000Z");
});

test("DEC-22 text that a presentation refuses raw is written out, not lost", () => {
  expect(shown({ a: "x\u001b[31m\ty", b: ["c\u0007"] })).toContain("x\\u{1B}[31m y");
  expect(shown(["half \ud800"])).toContain("\\u{D800}");
});

test("DEC-22 a plan with too many parts for blocks is shown whole as JSON", () => {
  const plan = Array.from({ length: 200 }, (_, i) => ({ step: i, detail: { note: "n" } }));
  const presentation = planPresentation(plan);
  expect(presentation.blocks.every(({ kind }) => kind === "preformatted")).toBe(true);
  expect(JSON.parse(presentation.blocks.flatMap((block) => (block.kind === "preformatted" ? [block.text] : [])).join(""))).toEqual(plan);
});

test("DEC-22 any JSON makes a valid presentation that shows every string of it", () => {
  const text = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 }).map((value) => value.replace(/\s+/g, "_"));
  const plan = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(text, tie("value"), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;
  fc.assert(
    fc.property(plan, (value) => {
      const page = JSON.stringify(normalisePresentation(planPresentation(value)));
      for (const string of stringsIn(JSON.parse(JSON.stringify(value))))
        expect(page.includes(JSON.stringify(string).slice(1, -1)) || page.includes(JSON.stringify(JSON.stringify(string)).slice(3, -3)), string).toBe(true);
    }),
    { seed: 11, numRuns: 300 },
  );
});

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

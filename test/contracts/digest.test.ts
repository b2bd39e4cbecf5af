import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, digest, sha256Hex } from "../../src/digest.ts";
import { isPawlError } from "../../src/errors.ts";

const refusal = (value: unknown) => {
  try {
    canonicalJson(value, "subject");
  } catch (error) {
    if (isPawlError(error)) return { code: error.code, path: error.path, message: error.message };
    throw error;
  }
  return null;
};

test("DEC-14 numbers are written in the one way of RFC 8785", () => {
  const written: [number, string][] = [
    [0, "0"],
    [1, "1"],
    [-1, "-1"],
    [1.0, "1"],
    [0.1, "0.1"],
    [1e21, "1e+21"],
    [1e20, "100000000000000000000"],
    [1e-6, "0.000001"],
    [1e-7, "1e-7"],
    [Number("333333333.33333329"), "333333333.3333333"],
    [2 ** 53, "9007199254740992"],
    [Number.MIN_VALUE, "5e-324"],
    [Number.MAX_VALUE, "1.7976931348623157e+308"],
  ];
  for (const [number, text] of written) expect(canonicalJson(number)).toBe(text);
});

test("DEC-14 keys are sorted by UTF-16 units, not by code points or locale", () => {
  // U+1F600 begins with the unit D83D, which stands before U+FB33, although its code point is higher.
  const keys = ["\u20ac", "\r", "\ufb33", "1", "\u{1F600}", "\u0080", "\u00f6", "a", "A", "10", "2"];
  const sorted = ["\r", "1", "10", "2", "A", "a", "\u0080", "\u00f6", "\u20ac", "\u{1F600}", "\ufb33"];
  expect(canonicalJson(Object.fromEntries(keys.map((key) => [key, 0])))).toBe(`{${sorted.map((key) => `${JSON.stringify(key)}:0`).join(",")}}`);
});

test("DEC-14 strings are escaped only where JSON must, with the short forms", () => {
  expect(canonicalJson('\b\t\n\f\r"\\/\u0001\u001f\u007f\u2028é')).toBe('"\\b\\t\\n\\f\\r\\"\\\\/\\u0001\\u001f\u007f\u2028é"');
});

test("DEC-14 literals and nesting have no white space", () => {
  expect(canonicalJson({ b: [null, true, { d: {}, c: [] }], a: false })).toBe('{"a":false,"b":[null,true,{"c":[],"d":{}}]}');
});

test("DEC-14 a digest is SHA-256 over the canonical text and one line end", () => {
  expect(sha256Hex("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  expect(digest({ b: 1, a: "x" })).toBe(sha256Hex('{"a":"x","b":1}\n'));
});

test("DEC-14 what would not read back the same is refused with its path", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  class Point {
    x = 1;
  }
  const bad: [unknown, string][] = [
    [undefined, "subject"],
    [{ a: undefined }, "subject.a"],
    [{ a: [1, undefined] }, "subject.a[1]"],
    [[{ b: { c: undefined } }], "subject[0].b.c"],
    [{ a: { b: 1n } }, "subject.a.b"],
    [{ a: Number.NaN }, "subject.a"],
    [[Number.POSITIVE_INFINITY], "subject[0]"],
    [{ a: -0 }, "subject.a"],
    [{ when: new Date(0) }, "subject.when"],
    [{ map: new Map() }, "subject.map"],
    [{ list: [new Set()] }, "subject.list[0]"],
    [{ point: new Point() }, "subject.point"],
    [{ f: () => 1 }, "subject.f"],
    [{ s: Symbol("s") }, "subject.s"],
    [cycle, "subject.self"],
    [{ half: "\ud800" }, "subject.half"],
    [{ half: "\udc00x" }, "subject.half"],
    [[[["a\0"]]], "subject[0][0][0]"],
  ];
  for (const [value, path] of bad) {
    const refused = refusal(value);
    expect(refused, path).toMatchObject({ code: "invalidValue", path });
    expect(refused?.message).toMatch(/subject/);
  }
});

test("DEC-14 nesting deeper than the stack is a refusal, not a crash", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 100_000; i += 1) deep = [deep];
  expect(refusal(deep)).toMatchObject({ code: "invalidValue", path: "subject" });
});

const json = fc
  .jsonValue({ maxDepth: 4, stringUnit: "binary" })
  .filter((value) => !JSON.stringify(value).includes("\\u0000") && !/(^|[[:,])-0([\],}]|$)/.test(written(value)) && !hasProto(value));
/** JSON.stringify hides -0: this shows it. */
function written(value: unknown): string {
  if (Object.is(value, -0)) return "-0";
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.values(value)
      .map((item) => `:${written(item)}`)
      .join(",")}}`;
  return "x";
}
function hasProto(value: unknown): boolean {
  return typeof value === "object" && value !== null && (Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProto));
}
const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  );
};

test("DEC-13 a digest does not depend on the order of keys, whatever the text", () => {
  fc.assert(
    fc.property(json, (value) => digest(shuffled(value)) === digest(value)),
    { seed: 7, numRuns: 500 },
  );
});

test("DEC-13 a digest is the same after a trip through JSON, and canonical text reads back equal", () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
    { seed: 8, numRuns: 500 },
  );
});

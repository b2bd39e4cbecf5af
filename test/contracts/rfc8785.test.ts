/** Canonical JSON against the examples of RFC 8785 itself. */
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "../../src/digest.ts";

test("DEC-14 the sample of RFC 8785 3.2.2 is written as 3.2.4 has it, byte for byte", () => {
  const sample = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`);
  const bytes = `
    7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a
    5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31 65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37
    5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30 30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d`;
  expect(Buffer.from(canonicalJson(sample)).toString("hex")).toBe(bytes.replace(/\s+/g, ""));
});

test("DEC-14 the keys of RFC 8785 3.2.3 come in its order", () => {
  const sample = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
  };
  const order = [...canonicalJson(sample).matchAll(/:"([^"]*)"/g)].map(([, name]) => name);
  expect(order).toEqual([
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
  ]);
});

/** Appendix B: the bits of a double, and its text; null where there is none. */
const doubles: readonly (readonly [string, string | null])[] = [
  ["0000000000000000", "0"],
  ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"],
  ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["ffefffffffffffff", "-1.7976931348623157e+308"],
  ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"],
  ["4430000000000000", "295147905179352830000"],
  ["7fffffffffffffff", null],
  ["7ff0000000000000", null],
  ["44b52d02c7e14af5", "9.999999999999997e+22"],
  ["44b52d02c7e14af6", "1e+23"],
  ["44b52d02c7e14af7", "1.0000000000000001e+23"],
  ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["444b1ae4d6e2ef4f", "999999999999999900000"],
  ["444b1ae4d6e2ef50", "1e+21"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
  ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"],
  ["41b3de4355555554", "333333333.33333325"],
  ["41b3de4355555555", "333333333.3333333"],
  ["41b3de4355555556", "333333333.3333334"],
  ["41b3de4355555557", "333333333.33333343"],
  ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
];

test.each(doubles)("DEC-14 RFC 8785 Appendix B: %s is %s", (bits, text) => {
  const value = Buffer.from(bits, "hex").readDoubleBE();
  if (text === null) expect(() => canonicalJson(value)).toThrow(/cannot carry|no JSON|NaN|Infinity/i);
  else expect(canonicalJson(value)).toBe(text);
});

test("DEC-14 minus zero, which would read back as another value, is refused", () => {
  expect(() => canonicalJson(Buffer.from("8000000000000000", "hex").readDoubleBE())).toThrow(/-0/);
});

test("DEC-13 the text depends on no order of keys, however deep", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const shuffled = (one: unknown): unknown => {
        if (Array.isArray(one)) return one.map(shuffled);
        return typeof one === "object" && one !== null
          ? Object.fromEntries(
              Object.entries(one)
                .reverse()
                .map(([key, item]) => [key, shuffled(item)]),
            )
          : one;
      };
      fc.pre(!hasMinusZero(value));
      expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
    }),
  );
});

const hasMinusZero = (value: unknown): boolean =>
  Object.is(value, -0) || (typeof value === "object" && value !== null && Object.values(value).some(hasMinusZero));

test.each(["C", "tr_TR.UTF-8", "de_DE.UTF-8", "ja_JP.UTF-8"])("DEC-13 the text depends on no locale: %s", (locale) => {
  const module = JSON.stringify(new URL("../../src/digest.ts", import.meta.url).href);
  const program = `const { canonicalJson } = await import(${module}); console.log(Buffer.from(canonicalJson({ i: 1, I: 2, "\u0131": 3, "\u0130": 4, "\u00e4": 5, z: 1234567.5, a: "\u00df" })).toString("hex"));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, LC_ALL: locale, LANG: locale, NODE_OPTIONS: "--disable-warning=ExperimentalWarning" },
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(Buffer.from(stdout.trim(), "hex").toString()).toBe('{"I":2,"a":"\u00df","i":1,"z":1234567.5,"\u00e4":5,"\u0130":4,"\u0131":3}');
});

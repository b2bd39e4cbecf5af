import fc from "fast-check";
import { expect, test } from "vitest";
import { decisionCodes, findDecisionCode, freeDecisionCode, parseDecisionCode } from "../../src/decisionCode.ts";
import { sha256Hex } from "../../src/digest.ts";
import { crockford } from "../../src/ids.ts";

/** The code that a request gets while these are open. */
const decisionCode = (digest: string, open: Iterable<string>): string => {
  const taken = new Set(open);
  return [...decisionCodes(digest)].find((code) => !taken.has(code)) ?? "";
};

test("DEC-18 a request takes the first of its codes that no open decision has, and is refused when there is none", async () => {
  const digest = sha256Hex("x");
  const codes = [...decisionCodes(digest)];
  expect(await freeDecisionCode(digest, async (code) => codes.slice(0, 2).includes(code))).toBe(codes[2]);
  await expect(freeDecisionCode(digest, async () => true)).rejects.toMatchObject({ code: "conflict" });
});

const digests = fc.uint8Array({ minLength: 1, maxLength: 16 }).map((bytes) => sha256Hex(bytes));

test("DEC-18 a code is six characters of the request digest and a check character", () => {
  expect(decisionCode("0".repeat(64), [])).toBe("0000000");
  // 11111 00000 11111 00000 11111 00000 ...
  const code = decisionCode(`f83e0f83${"0".repeat(56)}`, []);
  expect(code.slice(0, 6)).toBe("Z0Z0Z0");
  expect(code).toHaveLength(7);
});

test("DEC-18 a code is one character longer for each shorter one that is open", () => {
  const digest = sha256Hex("x");
  const first = decisionCode(digest, []);
  const second = decisionCode(digest, [first]);
  const third = decisionCode(digest, new Set([first, second]));
  expect([first.length, second.length, third.length]).toEqual([7, 8, 9]);
  expect(second.slice(0, 6)).toBe(first.slice(0, 6));
  for (const code of [first, second, third]) expect(parseDecisionCode(code)).toEqual({ ok: true, code });
});

test("DEC-18 a code is read whatever its case, spaces, hyphens and look-alikes", () => {
  fc.assert(
    fc.property(digests, fc.array(fc.nat(), { minLength: 7, maxLength: 7 }), (digest, dice) => {
      const code = decisionCode(digest, []);
      const typed = [...code]
        .map((character, i) => {
          const die = dice[i] ?? 0;
          const alike = character === "1" ? ["I", "l", "1"] : character === "0" ? ["o", "O", "0"] : [character, character.toLowerCase()];
          return (die % 3 === 0 ? " " : die % 3 === 1 ? "-" : "") + alike[die % alike.length];
        })
        .join("");
      return findDecisionCode(typed, [code]).status === "found";
    }),
    { seed: 1, numRuns: 500 },
  );
});

test("DEC-18 every single wrong character is found and every right code suggested, never taken", () => {
  fc.assert(
    fc.property(digests, digests, (digest, other) => {
      const code = decisionCode(digest, []);
      const open = [...new Set([code, decisionCode(other, [])])];
      for (let at = 0; at < code.length; at += 1) {
        for (const character of crockford) {
          if (character === code[at]) continue;
          const typed = code.slice(0, at) + character + code.slice(at + 1);
          const found = findDecisionCode(typed, open);
          expect(found).toMatchObject({ status: "mistyped", fault: "check" });
          expect("near" in found && found.near).toContain(code);
        }
      }
    }),
    { seed: 2, numRuns: 25 },
  );
});

test("DEC-18 every swap of two neighbours is found", () => {
  fc.assert(
    fc.property(digests, fc.nat({ max: 5 }), (digest, at) => {
      const code = decisionCode(digest, []);
      const typed = code.slice(0, at) + code.charAt(at + 1) + code.charAt(at) + code.slice(at + 2);
      if (typed === code) return;
      const found = findDecisionCode(typed, [code]);
      expect(found).toEqual({ status: "mistyped", fault: "check", near: [code] });
    }),
    { seed: 3, numRuns: 500 },
  );
});

test("DEC-18 a character left out or put in is suggested when the code does not stand, and never taken", () => {
  fc.assert(
    fc.property(digests, fc.nat({ max: 6 }), fc.constantFrom(...crockford), (digest, at, extra) => {
      const code = decisionCode(digest, []);
      for (const typed of [code.slice(0, at) + code.slice(at + 1), code.slice(0, at) + extra + code.slice(at)]) {
        const found = findDecisionCode(typed, [code]);
        expect(found.status).not.toBe("found");
        expect("near" in found && found.near).toEqual([code]);
      }
    }),
    { seed: 4, numRuns: 300 },
  );
});

test("DEC-18 a right code of no open decision is unknown, and says so without a guess", () => {
  const code = decisionCode(sha256Hex("a"), []);
  const far = decisionCode(sha256Hex("b"), []);
  expect(findDecisionCode(code, [far])).toEqual({ status: "unknown", code, near: [] });
});

test("DEC-18 what is no code says why", () => {
  const fault = (typed: string) => {
    const parsed = parseDecisionCode(typed);
    return parsed.ok ? null : parsed.fault;
  };
  expect(fault("")).toBe("empty");
  expect(fault(" - ")).toBe("empty");
  expect(fault("ABCDEFU")).toBe("character");
  expect(fault("r_01/graph/x.1/decision")).toBe("character");
  expect(fault("ABCDEFé")).toBe("character");
  expect(fault("ABC")).toBe("length");
});

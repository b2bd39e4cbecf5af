import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedOutput, lineLimit } from "../../src/host/boundedOutput.ts";

function collect(
  chunks: Iterable<Uint8Array>,
  limit?: number,
): { readonly text: string; readonly tail: string; readonly truncated: boolean; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const output = new BoundedOutput((line) => lines.push(line), limit);
  for (const chunk of chunks) output.add(chunk);
  output.end();
  return { text: output.text(), tail: output.tail(), truncated: output.truncated, lines };
}

const byteByByte = (text: string): Uint8Array[] => [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));

test("case 166 text that comes one byte at a time is the same text", () => {
  const text = "grün 👩‍👩‍👧 漢字\r\nعربى é\n";
  expect(collect(byteByByte(text))).toMatchObject({ text, truncated: false, lines: ["grün 👩‍👩‍👧 漢字", "عربى é"] });
});

test("case 166 any text in any chunks is the same text and the same lines", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.array(fc.nat(7), { maxLength: 20 }), (text, cuts) => {
      const bytes = Buffer.from(text);
      const chunks: Uint8Array[] = [];
      let from = 0;
      for (const size of cuts) chunks.push(bytes.subarray(from, (from += size)));
      chunks.push(bytes.subarray(from));
      const whole = collect([bytes]);
      expect(whole.text).toBe(text.replaceAll("\0", "\ufffd"));
      expect(collect(chunks)).toEqual(whole);
    }),
    { seed: 166, numRuns: 300 },
  );
});

test("EFFECT-15 what is kept is never longer than the limit and never ends in half a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.integer({ min: 60, max: 120 }), (text, limit) => {
      const result = collect(byteByByte(text), limit);
      expect(result.truncated).toBe(text.length > limit);
      expect(result.text.length).toBeLessThanOrEqual(limit);
      expect(result.text.isWellFormed()).toBe(true);
      expect(result.tail.isWellFormed()).toBe(true);
      const mark = /\n\[truncated: (\d+) more characters\]$/.exec(result.text);
      const head = result.truncated ? result.text.slice(0, mark?.index) : result.text;
      expect(text.replaceAll("\0", "\ufffd").startsWith(head)).toBe(true);
      expect(head.length + Number(mark?.[1] ?? 0)).toBe(text.length);
    }),
    { seed: 15, numRuns: 300 },
  );
});

test("EFFECT-15 bytes that are no UTF-8, and NUL, are replaced, and a character cut off by the end too", () => {
  expect(collect([Uint8Array.of(0x61, 0, 0x62)])).toMatchObject({ text: "a\ufffdb", tail: "a\ufffdb", lines: ["a\ufffdb"] });
  expect(collect([Uint8Array.of(0x61, 0xff, 0x62), Uint8Array.of(0xf0, 0x9f)]).text).toBe("a\ufffdb\ufffd");
});

test("EFFECT-15 lines told live are bounded, an unfinished last line is told", () => {
  const { lines } = collect([Buffer.from(`${"x".repeat(lineLimit)}\n${"y".repeat(lineLimit + 1)}\n\nlast`)]);
  expect(lines).toEqual(["x".repeat(lineLimit), `${"y".repeat(lineLimit - 1)}…`, "", "last"]);
  expect(collect(Array.from({ length: 50 }, () => Buffer.from("z".repeat(100)))).lines).toEqual([`${"z".repeat(lineLimit - 1)}…`]);
});

const noted = /^\[(\d+) lines? (?:was|were) printed faster than can be shown\]$/;

/** How many lines these stand for. */
const countOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + Number(noted.exec(line)?.[1] ?? 1), 0);

test("EFFECT-19 what a command prints faster than can be shown is counted; its last line is told, and all of it is kept", () => {
  const lines: string[] = [];
  let now = 0;
  const output = new BoundedOutput(
    (line) => lines.push(line),
    undefined,
    () => now,
  );
  for (let chunk = 0; chunk < 40; chunk += 1) {
    output.add(Buffer.from(Array.from({ length: 1_000 }, (_, index) => `${chunk}.${index}\n`).join("")));
    now += 30;
  }
  output.add(Buffer.from("the last\n"));
  output.end();
  expect(countOf(lines)).toBe(40_001);
  expect(lines.length).toBeLessThan(1_300);
  expect(lines.length).toBeGreaterThan(900);
  expect([lines[0], lines.at(-1)]).toEqual(["0.0", "the last"]);
  expect(output.text().split("\n")).toHaveLength(40_002);
});

test("EFFECT-19 in any chunks, at any speed, each line is told or counted, in order", () => {
  const lineOf = fc.string({ unit: fc.constantFrom("a", "é", "👩"), maxLength: 4 });
  fc.assert(
    fc.property(fc.array(lineOf, { maxLength: 600 }), fc.array(fc.tuple(fc.nat(400), fc.nat(60)), { maxLength: 30 }), (all, cuts) => {
      const text = all.map((line) => `${line}\n`).join("");
      const lines: string[] = [];
      let now = 0;
      let from = 0;
      const output = new BoundedOutput(
        (line) => lines.push(line),
        undefined,
        () => now,
      );
      const bytes = Buffer.from(text);
      for (const [size, ms] of cuts) {
        output.add(bytes.subarray(from, (from += size)));
        now += ms;
      }
      output.add(bytes.subarray(from));
      output.end();
      expect(countOf(lines)).toBe(all.length);
      let at = 0;
      for (const line of lines) {
        const count = noted.exec(line);
        if (count === null) expect(line).toBe(all[at]);
        at += Number(count?.[1] ?? 1);
      }
      expect(output.text()).toBe(text);
    }),
    { seed: 19, numRuns: 300 },
  );
});

test("EFFECT-19 a clock that is set back stops nothing", () => {
  const lines: string[] = [];
  let now = 1_000_000;
  const output = new BoundedOutput(
    (line) => lines.push(line),
    undefined,
    () => now,
  );
  const hundred = Buffer.from("x\n".repeat(100));
  output.add(hundred);
  now = 5;
  output.add(hundred);
  output.end();
  expect(lines).toHaveLength(200);
});

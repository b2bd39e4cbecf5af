/** What people type and what is printed for them to type. */
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nonHumanVariable } from "../../src/cli/environment.ts";
import { jsonLine } from "../../src/cli/json.ts";
import { programName } from "../../src/cli/programName.ts";
import { shellWord } from "../../src/text/shellWord.ts";
import { findChoice } from "../../src/cli/prompt/choose.ts";
import { textProblem } from "../../src/cli/prompt/ask.ts";
import { closestNames } from "../../src/text/closest.ts";
import { age, duration } from "../../src/cli/render/time.ts";
import { inputOf } from "../../src/cli/commands/runCommand.ts";
import { hostile } from "./samples.ts";

const choices = [{ id: "go" }, { id: "stop" }, { id: "replan" }];

test.each([
  ["go", "go"],
  [" Go ", "go"],
  ["REPLAN", "replan"],
  ["2", "stop"],
])("CLI-12 %j is the choice %s", (typed, id) => {
  expect(findChoice(typed, choices)).toEqual({ choice: { id } });
});

test.each([
  ["0", "no choice"],
  ["4", "no choice"],
  ["g", "no choice"],
  ["stpo", "Did you mean stop?"],
  ["replann", "Did you mean replan?"],
  ["", "Type one of go, stop, replan."],
])("CLI-12 %j is no choice and is never guessed", (typed, sentence) => {
  expect(findChoice(typed, choices)).toEqual({ problem: expect.stringContaining(sentence) });
});

test("CLI-12 ids that differ in case only must be typed exactly", () => {
  const alike = [{ id: "go" }, { id: "Go" }];
  expect(findChoice("Go", alike)).toEqual({ choice: { id: "Go" } });
  expect(findChoice("GO", alike)).toEqual({ problem: expect.stringContaining("go and Go") });
});

test("CLI-13 a text is measured in UTF-16 units and refused with its length and the limit", () => {
  expect(textProblem("👍", 1, 2)).toBeNull();
  expect(textProblem("👍a", 1, 2)).toContain("3 characters; at most 2");
  expect(textProblem("ab", 3, 9)).toContain("2 characters; at least 3");
});

test("CLI-3 the closest names come nearest first, and nothing when none is near", () => {
  expect(closestNames("comfirm", ["list", "confirm", "retry"])).toEqual(["confirm"]);
  expect(closestNames("wiat", ["wait", "what", "x"])[0]).toBe("wait");
  expect(closestNames("zzzzzz", ["list", "confirm", "retry"])).toEqual([]);
});

test("CLI-6 commands begin with what the person can type", () => {
  const base = { script: "/usr/local/bin/pawl", cwd: "/home/me", env: { PATH: "/nowhere" } };
  expect(programName({ ...base, env: { npm_command: "start" } })).toBe("npx pawl");
  expect(programName({ ...base, env: { npm_lifecycle_event: "npx" } })).toBe("npx pawl");
  expect(programName({ ...base, script: "/home/me/src/cli/bin.js" })).toBe("node src/cli/bin.js");
  expect(programName({ ...base, script: "/opt/a b/bin.js" })).toBe("node '/opt/a b/bin.js'");
  expect(programName({ ...base, script: "/home/me/node_modules/.bin/pawl" })).toBe("node_modules/.bin/pawl");
  expect(programName({ ...base, script: "/home/me/pawl" })).toBe("./pawl");
});

test("CLI-6 a printed word comes back unchanged from a shell", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: "grapheme", maxLength: 12 }).filter((word) => !/[\0\r\n]/.test(word) && word.isWellFormed()),
        { minLength: 1, maxLength: 5 },
      ),
      (words) => {
        const child = spawnSync("/bin/sh", ["-c", `printf '%s\\n' ${words.map(shellWord).join(" ")}`], { encoding: "utf8" });
        expect(child.stdout).toBe(`${words.join("\n")}\n`);
      },
    ),
    { numRuns: 40, seed: 7 },
  );
});

test("CLI-11 JSON parses to the same value and holds no character that steers a terminal", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const line = jsonLine({ value, hostile });
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ value, hostile })));
      expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2066-\u2069]/);
    }),
    { seed: 7 },
  );
});

test.each([
  [0, "0.0s"],
  [9_940, "9.9s"],
  [9_960, "10s"],
  [59_499, "59s"],
  [59_999, "1m 00s"],
  [124_000, "2m 04s"],
  [3_599_999, "1h 00m"],
  [12_000_000, "3h 20m"],
  [86_400_000 * 24.8, "24d 19h"],
  [-5, "0.0s"],
])("CLI-7 %d ms reads %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test("CLI-7 an age is its largest unit, rounded down", () => {
  expect([999, 59_999, 3_599_999, 86_399_999, 86_400_000 * 9.9].map(age)).toEqual(["0s", "59s", "59m", "23h", "9d"]);
});

test("CLI-15 each variable of an agent or of Pawl's own steps says that no person is at work", () => {
  expect(nonHumanVariable({})).toBeNull();
  expect(nonHumanVariable({ PI_SESSION_ID: "" })).toBeNull();
  for (const name of ["PI_CODING_AGENT", "AI_AGENT", "PI_SESSION_ID", "PAWL_WORKER"]) expect(nonHumanVariable({ [name]: "1" })).toBe(name);
});

test("CLI-1 --task T means {task: T}, no input means an empty object, two inputs are refused", async () => {
  expect(await inputOf({ task: "a" }, "/")).toEqual({ task: "a" });
  expect(await inputOf({}, "/")).toEqual({});
  expect(await inputOf({ input: "null" }, "/")).toBeNull();
  await expect(inputOf({ task: "a", input: "{}" }, "/")).rejects.toThrow(/--task/);
  await expect(inputOf({ input: "{}", inputFile: "f" }, "/")).rejects.toThrow(/not both/);
});

test("CLI-5 wrong JSON is refused with its place and without its text, which may be private", async () => {
  const secret = '{"password": "hunter2" oops}';
  await expect(inputOf({ input: secret }, "/")).rejects.toThrow(/--input is no valid JSON: the error is at position 23/);
  await expect(inputOf({ input: secret }, "/")).rejects.not.toThrow(/hunter2/);
});

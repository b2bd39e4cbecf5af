import { expect, test } from "vitest";
import { exitCodeOfRun, failureOf, isFinal, isParked, RefusedError } from "../../src/cli/exitCodes.ts";
import { failureText } from "../../src/cli/main.ts";
import { runLooks } from "../../src/cli/render/words.ts";
import { errorKinds, PawlError, type PawlErrorCode } from "../../src/errors.ts";
import { hostile } from "./samples.ts";

const states = Object.keys(runLooks) as (keyof typeof runLooks)[]; // keys of a literal table

test("CLI-4 every run state has its exit code", () => {
  expect(Object.fromEntries(states.map((state) => [state, exitCodeOfRun(state)]))).toMatchInlineSnapshot(`
    {
      "ambiguous": 3,
      "blocked": 3,
      "cancelled": 1,
      "completed": 0,
      "failed": 1,
      "held": 3,
      "paused": 3,
      "pausing": 130,
      "queued": 130,
      "running": 130,
      "starting": 130,
      "timedOut": 1,
      "waiting": 3,
    }
  `);
  for (const state of states) expect([isFinal(state), isParked(state)]).not.toEqual([true, true]);
});

test("CLI-4 every error code has its exit code", async () => {
  const codes = Object.keys(errorKinds) as PawlErrorCode[]; // keys of a literal table
  const table = codes.map((code) => `${code} ${failureOf(new PawlError(code, "It broke.")).exitCode}`).join("\n");
  await expect(`${table}\n`).toMatchFileSnapshot("screens/errorCodes.txt");
});

test("CLI-5 an error keeps code, message, subject and path", () => {
  const failure = failureOf(new PawlError("invalidInput", "input.task is missing.", { subject: "ship", path: "input.task" }));
  expect(failure).toEqual({ exitCode: 2, code: "invalidInput", message: "input.task is missing.", subject: "ship", path: "input.task" });
});

test("CLI-5 an error of another copy of the package is known by its code", () => {
  const foreign = Object.assign(new Error("full"), { code: "storageFull" });
  expect(failureOf(foreign)).toMatchObject({ exitCode: 4, code: "storageFull" });
});

test("CLI-5 a refusing answer ends with exit code 2 and its own code", () => {
  expect(failureOf(new RefusedError("alreadyDecided", "go won.", "r_x"))).toMatchObject({ exitCode: 2, code: "alreadyDecided", subject: "r_x" });
});

test("CLI-5 what nobody expected says how to report it and shows no stack", () => {
  const failure = failureOf(new TypeError("x is not a function"));
  expect(failure).toMatchObject({ exitCode: 1, code: "internal" });
  expect(failure.message).toContain("x is not a function");
  expect(failure.message).toContain("PAWL_DEBUG=1");
  expect(failure.message).not.toContain("    at ");
});

test("CLI-5 a very long message is cut for a person, and says so", () => {
  const text = failureText(failureOf(new PawlError("loadFailed", "x".repeat(100_000))), "pawl");
  expect(text.length).toBeLessThan(8_400);
  expect(text).toContain("91808 more characters");
});

test("case 164 an error message cannot steer the terminal", () => {
  const text = failureText(failureOf(new PawlError("loadFailed", hostile)), "pawl");
  expect(text).toContain("\\u{1B}");
  expect(text).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B\u202E]/);
});

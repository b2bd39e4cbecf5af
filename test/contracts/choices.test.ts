import { expect, test } from "vitest";
import { choiceContracts, responseFault, textInput } from "../../machines/contracts/choices.ts";
import { facts, refusalOf } from "./decisionFixture.ts";

const go = { label: "Go" };

test("DEC-15 choices keep the order they were written in, and a text's default length is 1 to 4,000 units", () => {
  expect(choiceContracts({ stop: { label: "Stop" }, go: { label: "Go", input: textInput("Why?") } })).toEqual([
    { id: "stop", label: "Stop", input: null },
    { id: "go", label: "Go", input: { kind: "text", label: "Why?", min: 1, max: 4000 } },
  ]);
});

test("DEC-15 case 6 choice ids hold letters, digits, _ and - and nothing else; reserved names are refused by name", () => {
  for (const id of ["a", "_x", "go-now", "go_now", "A9", "x".repeat(64)])
    expect(
      refusalOf(() => choiceContracts({ [id]: go })),
      id,
    ).toBeNull();
  for (const id of ["", "9a", "-a", "a.b", "a b", "é", "x".repeat(65)])
    expect(
      refusalOf(() => choiceContracts({ [id]: go })),
      id,
    ).toMatchObject({ code: "invalidValue", path: "choices[0].id" });
  for (const id of ["failed", "timedOut", "done"]) expect(refusalOf(() => choiceContracts({ [id]: go }))?.message).toContain(`"${id}" is reserved`);
  expect(refusalOf(() => choiceContracts(Object.fromEntries([["__proto__", go]])))?.message).toContain(`"__proto__" is reserved`);
});

test("DEC-15 the limits of choices, labels and texts", () => {
  const many = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`c${i}`, go]));
  expect(refusalOf(() => choiceContracts(many(20)))).toBeNull();
  expect(refusalOf(() => choiceContracts(many(21)))?.message).toMatch(/21 choices, the limit is 20/);
  expect(refusalOf(() => choiceContracts({}))?.message).toMatch(/at least one choice/);
  expect(refusalOf(() => choiceContracts({ a: { label: "x".repeat(64) } }))).toBeNull();
  expect(refusalOf(() => choiceContracts({ a: { label: "x".repeat(65) } }))).toMatchObject({ path: "choices[0].label" });
  expect(refusalOf(() => choiceContracts({ a: { label: "a\u0007" } }))).toMatchObject({ path: "choices[0].label" });
  for (const limits of [{ min: 0 }, { min: 5, max: 4 }, { max: 16_001 }, { min: 1.5 }, { max: Number.NaN }])
    expect(
      refusalOf(() => textInput("t", limits)),
      JSON.stringify(limits),
    ).toMatchObject({ code: "invalidValue" });
  expect(textInput("t", { min: 5000 })).toMatchObject({ min: 5000, max: 5000 });
});

test("DEC-9 a wrong answer is told the wrong field and what is allowed", () => {
  const fault = (choice: string, input?: string) => responseFault(facts.choices, input === undefined ? { choice } : { choice, input });
  expect(fault("go")).toBeNull();
  expect(fault("replan", "x")).toBeNull();
  expect(fault("replan", "x".repeat(40))).toBeNull();
  expect(fault("no")).toMatchObject({ path: "choice", message: expect.stringContaining("go, stop, replan") });
  expect(fault("go", "text")).toMatchObject({ path: "input" });
  expect(fault("replan")).toMatchObject({ path: "input", message: expect.stringMatching(/1 to 40 UTF-16 units.*What should change\?/) });
  expect(fault("replan", "")).toMatchObject({ path: "input" });
  expect(fault("replan", "x".repeat(41))).toMatchObject({ path: "input", message: expect.stringContaining("41") });
  expect(fault("replan", "😀".repeat(20))).toBeNull();
  expect(fault("replan", "😀".repeat(21))).toMatchObject({ path: "input", message: expect.stringContaining("42") });
  expect(fault("replan", "\ud83d")).toMatchObject({ path: "input" });
});

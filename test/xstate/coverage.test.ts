import { expect, test } from "vitest";
import { features, featuresOf } from "./features.ts";
import { subjects } from "./machines/index.ts";

const users = new Map(
  Object.keys(features).map((name) => [name, subjects.filter((subject) => featuresOf(subject).includes(name)).map(({ machine }) => machine.id)]),
);

test("XS-2 every feature is used by two test machines at least, of thirty at least", () => {
  expect(subjects.length).toBeGreaterThanOrEqual(30);
  expect(new Set(subjects.map(({ machine }) => machine.id)).size).toBe(subjects.length);
  expect([...users].filter(([, ids]) => ids.length < 2)).toEqual([]);
});

test("XS-2 the page of features and test machines shows them as they are", async () => {
  const page = [
    "# Features and test machines",
    "",
    `What [xstate.md](xstate.md) calls supported, and which of the ${subjects.length} test machines (test/xstate/machines) use it. Random walks compare each of them with`,
    "XState's own live actors. Generated from the machines; `npm test -- -u` writes it again.",
    "",
    "| feature | machines | which |",
    "| --- | --- | --- |",
    ...[...users].map(([name, ids]) => `| ${name} | ${ids.length} | ${ids.join(", ")} |`),
    "",
  ].join("\n");
  await expect(page).toMatchFileSnapshot("../../docs/xstate-coverage.md");
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkMarks } from "./check.ts";

test("MACH-26 a machine types its node: each mistake is an error at its own line, and what is right needs no cast", { timeout: 120_000 }, async () => {
  const source = readFileSync(join(import.meta.dirname, "machineNodes.ts"), "utf8").replaceAll("../../src/", "../../../src/");
  const { found, others } = await checkMarks(source, "MACH-26");
  expect(found.length).toBeGreaterThan(9);
  expect(found.filter(([, text]) => text === "no error")).toEqual([]);
  expect(others).toEqual([]);
});

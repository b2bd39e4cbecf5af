import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idsOf, namesIn, statedRules } from "../house/rules.ts";
import { filesUnder, root } from "../house/source.ts";

const stated = statedRules(readFileSync(join(root, "docs/spec.md"), "utf8"));
const known = new Set(stated.map((rule) => rule.id));
const named = filesUnder("test", /\.ts$/)
  .filter((path) => !path.includes("/fixtures/"))
  .map((path) => ({ path, ...namesIn(path, readFileSync(join(root, path), "utf8")) }));

test("HOUSE-9 every rule has a test", () => {
  const tested = new Set(named.flatMap((file) => [...file.tests, ...file.strings]).flatMap(idsOf));
  expect([...known].filter((id) => !tested.has(id))).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

test("HOUSE-9 every rule that a test names is stated", () => {
  const unknown = named.flatMap((file) =>
    file.tests
      .flatMap(idsOf)
      .filter((id) => !known.has(id))
      .map((id) => `${id} in ${file.path}`),
  );
  expect([...new Set(unknown)]).toEqual([]);
});

test("HOUSE-9 an id is given once, to one sentence", () => {
  expect(stated.map((rule) => rule.id).filter((id, index, all) => all.indexOf(id) !== index)).toEqual([]);
  expect(stated.filter((rule) => !rule.text.endsWith(".")).map((rule) => rule.id)).toEqual([]);
});

test("HOUSE-9 ids are read off names, several and none", () => {
  expect(idsOf("STORE-1 a row")).toEqual(["STORE-1"]);
  expect(idsOf("STORE-1, RUN-22: a row")).toEqual(["STORE-1", "RUN-22"]);
  expect(idsOf("case 12 and STORE-1")).toEqual([]);
  expect(idsOf("SHA-256x is no rule")).toEqual([]);
});

test("HOUSE-9 names are found in plain, tabled, conditional and template form", () => {
  const text = 'test("A", f); test.each([1])("B %s", f); test.skipIf(x)("C", f); it(`D ${x}`, f); describe("E", () => {}); call("F");';
  expect(namesIn("a.test.ts", text).tests).toEqual(["A", "B %s", "C", "D ", "E"]);
});

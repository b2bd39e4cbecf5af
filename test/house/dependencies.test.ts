import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { root } from "./source.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const Names = z.record(z.string(), z.string());
const manifest = z
  .looseObject({ dependencies: Names, devDependencies: Names, peerDependencies: Names.default({}), allowScripts: z.record(z.string(), z.boolean()) })
  .parse(JSON.parse(read("package.json")));
const LockedPackage = z.looseObject({
  hasInstallScript: z.boolean().optional(),
  resolved: z.string().optional(),
  optional: z.boolean().optional(),
  integrity: z.string().optional(),
});
const locked = z.looseObject({ packages: z.record(z.string(), LockedPackage) }).parse(JSON.parse(read("package-lock.json"))).packages;

test("HOUSE-13 every dependency earns its line, and no line is left of one that went", () => {
  const rows = [...read("docs/decisions/0001-libraries.md").matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = ""]) => name);
  const wanted = [manifest.dependencies, manifest.devDependencies, manifest.peerDependencies].flatMap((names) => Object.keys(names));
  expect(rows.sort()).toEqual(wanted.sort());
});

test("HOUSE-13 only node runs an install script, and npm is told so", () => {
  const withScript = Object.entries(locked).filter(([, one]) => one.hasInstallScript === true && one.optional !== true);
  expect(withScript.map(([path]) => path)).toEqual(["node_modules/node"]);
  // Its package has no script either, but a binding.gyp, which npm would compile although the binaries are in the package.
  expect(manifest.allowScripts).toEqual({ node: true, "better-sqlite3": false });
});

test("HOUSE-13 the lock file names no download host and pins every package by its digest", () => {
  const packages = Object.entries(locked).filter(([path]) => path !== "");
  expect(packages.filter(([, one]) => one.resolved !== undefined).map(([path]) => path)).toEqual([]);
  expect(packages.filter(([, one]) => one.integrity === undefined).map(([path]) => path)).toEqual([]);
  expect(packages.length).toBeGreaterThan(50);
});

test("HOUSE-13 XState and what the test runner stands on are pinned exactly", () => {
  const pins = { ...manifest.dependencies, ...manifest.devDependencies };
  expect([pins["xstate"], pins["vite"], pins["vitest"]].filter((version) => !/^\d+\.\d+\.\d+$/.test(version ?? ""))).toEqual([]);
});

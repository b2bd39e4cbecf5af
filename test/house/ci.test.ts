/** The count on CI's last line, over reports that the real test runner wrote. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "./source.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-ci-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const suites = {
  good: { "a.test.ts": 'import { test } from "vitest"; test("one", () => {}); test("two", () => {});' },
  bad: {
    "a.test.ts": 'import { expect, test } from "vitest"; test("one", () => {}); test("two", () => expect(1).toBe(2)); test.skip("three", () => {});',
    "broken.test.ts": 'import "./missing.ts";',
  },
};

beforeAll(() => {
  for (const [name, files] of Object.entries(suites)) {
    const place = join(folder, name);
    mkdirSync(place);
    symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text);
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    spawnSync(process.execPath, [vitest, "run", "--root", place, "--reporter=json", `--outputFile=${join(folder, `${name}.json`)}`]);
  }
}, 60_000);

interface Step {
  readonly exit?: number;
  readonly report?: keyof typeof suites | "cut" | "none";
}

/** Writes what `.ci/run` leaves behind for these steps and counts it. */
function summary(steps: { readonly [name: string]: Step }) {
  const place = mkdtempSync(join(folder, "run-"));
  for (const [name, step] of Object.entries(steps)) {
    writeFileSync(join(place, `${name}.start`), "");
    if (step.exit !== undefined) writeFileSync(join(place, `${name}.exit`), `${step.exit}\n`);
    if (step.report === undefined) continue;
    writeFileSync(join(place, `${name}.suite`), "");
    if (step.report === "cut") writeFileSync(join(place, `${name}.json`), '{"numPassed');
    else if (step.report !== "none") writeFileSync(join(place, `${name}.json`), readFileSync(join(folder, `${step.report}.json`)));
  }
  const child = spawnSync(process.execPath, [join(root, ".ci/summary.js"), place], { encoding: "utf8" });
  return { last: child.stdout.trimEnd().split("\n").at(-1), status: child.status };
}

test("HOUSE-14 tests and checks that passed are added up", () => {
  expect(summary({ types: { exit: 0 }, test: { exit: 0, report: "good" } })).toEqual({ last: "3 passed, 0 failed", status: 0 });
});

test("HOUSE-14 failed tests and files that could not be loaded are failures", () => {
  expect(summary({ test: { exit: 1, report: "bad" }, crash: { exit: 0, report: "good" } })).toEqual({ last: "3 passed, 2 failed", status: 1 });
});

test.each<[string, Step]>([
  ["has no report", { exit: 0, report: "none" }],
  ["was cut off in its report", { exit: 143, report: "cut" }],
])("HOUSE-14 a suite that %s is a failure", (_, step) => {
  expect(summary({ types: { exit: 0 }, test: step })).toEqual({ last: "1 passed, 1 failed", status: 1 });
});

test("HOUSE-14 a suite whose tests passed but which ended badly is a failure", () => {
  expect(summary({ test: { exit: 1, report: "good" } })).toEqual({ last: "2 passed, 1 failed", status: 1 });
});

test("HOUSE-14 a step that never ended is a failure, and nothing at all is no success", () => {
  expect(summary({ install: {} })).toEqual({ last: "0 passed, 1 failed", status: 1 });
  expect(summary({})).toEqual({ last: "0 passed, 0 failed", status: 1 });
});
